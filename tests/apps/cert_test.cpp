#include "command.hpp"

#include <sys/stat.h>

// Tests `muster cert`. An independent program, the command `openssl`, checks the files that it
// makes.

namespace muster::apps {
namespace {

namespace fs = std::filesystem;

struct Certificates : TestDirectory {
  [[nodiscard]] std::string at(const std::string& name) const { return path / name; }

  [[nodiscard]] Ran cert(const std::string& words, const std::string& authority = "ca") const {
    return muster("cert " + words + " --ca " + at(authority));
  }
  [[nodiscard]] Ran openssl(const std::vector<std::string>& arguments) const {
    ProcessOptions options;
    options.program = "/usr/bin/openssl";
    options.arguments = arguments;
    return run_program(*this, options);
  }
  [[nodiscard]] std::string text_of(const std::string& file) const {
    return openssl({"x509", "-in", at(file), "-noout", "-text"}).output;
  }
  [[nodiscard]] bool is_believed(const std::string& file, const std::string& purpose,
                                 std::vector<std::string> more = {}) const {
    more.insert(more.begin(),
                {"verify", "-x509_strict", "-CAfile", at("ca/ca.crt"), "-purpose", purpose});
    more.push_back(at(file));
    return openssl(more).code == 0;
  }
  [[nodiscard]] mode_t mode(const std::string& file) const {
    struct stat about {};
    BOOST_REQUIRE_EQUAL(::stat(at(file).c_str(), &about), 0);
    return about.st_mode & 0777U;
  }
};

struct Begun : Certificates {
  Begun() {
    BOOST_REQUIRE_EQUAL(cert("init --cluster demo").code, 0);
    BOOST_REQUIRE_EQUAL(cert("issue --node 3 --out " + at("n3")).code, 0);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(cert, Begun)

BOOST_AUTO_TEST_CASE(a_node_s_is_believed_as_client_and_as_server_and_says_who_it_is) {
  for (const char* purpose : {"sslclient", "sslserver"})
    BOOST_TEST(is_believed("n3/tls.crt", purpose));
  const std::string text = text_of("n3/tls.crt");
  for (const char* said : {"URI:muster://demo/node/3", "ASN1 OID: prime256v1", "CA:FALSE"})
    BOOST_TEST(text.find(said) != std::string::npos, said << " is not in " << text);
  BOOST_TEST(holds(at("n3/ca.crt"), read_all(at("ca/ca.crt"))));
  BOOST_REQUIRE_EQUAL(cert("issue --observer --out " + at("me")).code, 0);
  BOOST_TEST(text_of("me/tls.crt").find("URI:muster://demo/observer") != std::string::npos);
  BOOST_REQUIRE_EQUAL(cert("issue --name spiffe://a/3 --out " + at("other")).code, 0);
  BOOST_TEST(text_of("other/tls.crt").find("URI:spiffe://a/3") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_node_s_is_no_authority) {
  BOOST_TEST(!is_believed("n3/tls.crt", "any", {"-partial_chain", "-trusted", at("n3/tls.key")}));
  BOOST_TEST(text_of("ca/ca.crt").find("CA:TRUE, pathlen:0") != std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(it_holds_from_an_hour_ago_and_not_beyond_its_authority, Certificates) {
  BOOST_REQUIRE_EQUAL(cert("init --cluster demo --days 10").code, 0);
  BOOST_REQUIRE_EQUAL(cert("issue --node 1 --out " + at("n1")).code, 0);
  BOOST_TEST(is_believed("n1/tls.crt", "sslclient",
                         {"-attime", std::to_string(std::time(nullptr) - 3500)}));
  const auto days = [&](const char* count) {
    return openssl({"x509", "-in", at("n1/tls.crt"), "-noout", "-checkend", count}).code;
  };
  BOOST_TEST(days("863000") == 0);
  BOOST_TEST(days("865000") == 1);
}

BOOST_AUTO_TEST_CASE(keys_are_for_their_owner_alone) {
  BOOST_TEST(mode("ca/ca.key") == 0600u);
  BOOST_TEST(mode("n3/tls.key") == 0600u);
  BOOST_TEST(mode("ca") == 0700u);
}

BOOST_AUTO_TEST_CASE(one_is_renewed_by_another_key_for_the_same_name) {
  const std::string key = read_all(at("n3/tls.key"));
  std::ofstream(at("n3/ca.crt"), std::ios::app) << "and another authority";
  BOOST_TEST(says(cert("issue --node 3 --out " + at("n3")), "muster cert renew"));
  BOOST_TEST(read_all(at("n3/tls.key")) == key);
  const Ran renewed = cert("renew " + at("n3"));
  BOOST_TEST(renewed.code == 0, renewed.output);
  BOOST_TEST(says(renewed, "muster://demo/node/3 is in"));
  BOOST_TEST(read_all(at("n3/tls.key")) != key);
  BOOST_TEST(is_believed("n3/tls.crt", "sslclient"));
  BOOST_TEST(mode("n3/tls.key") == 0600u);
  BOOST_TEST(holds(at("n3/ca.crt"), "and another authority"));
  BOOST_TEST(!fs::exists(at("n3/tls.key.new")));
}

BOOST_AUTO_TEST_CASE(one_is_renewed_by_an_authority_that_is_believed_beside_it) {
  const std::string before = read_all(at("n3/tls.crt"));
  const auto renewed = [&] { return cert("renew " + at("n3"), "ca2"); };
  BOOST_REQUIRE_EQUAL(cert("init --cluster demo", "ca2").code, 0);
  const Ran refused = renewed();
  BOOST_TEST(refused.code == 64, refused.output);
  BOOST_TEST(says(refused, "no node would accept a certificate from it"));
  BOOST_TEST(read_all(at("n3/tls.crt")) == before);
  std::ofstream(at("n3/ca.crt"), std::ios::app) << read_all(at("ca2/ca.crt"));
  BOOST_TEST(renewed().code == 0);
}

BOOST_AUTO_TEST_CASE(what_is_revoked_stays_so) {
  BOOST_REQUIRE_EQUAL(cert("issue --node 1 --out " + at("n1")).code, 0);
  const std::vector<std::string> with_list = {"-crl_check", "-CRLfile", at("ca/crl.pem")};
  BOOST_TEST(is_believed("n3/tls.crt", "sslclient", with_list));
  for (const char* node : {"n3/tls.crt", "n1/tls.crt", "n3/tls.crt"})
    ends_well(cert("revoke " + at(node)));
  BOOST_REQUIRE_EQUAL(cert("crl").code, 0);
  for (const char* node : {"n3/tls.crt", "n1/tls.crt"})
    BOOST_TEST(!is_believed(node, "sslclient", with_list));
  const Ran listed = cert("list --json");
  BOOST_TEST(says(listed, "\"name\":\"muster://demo/node/1\""));
  BOOST_TEST(!says(listed, "\"revoked\":false"));
}

BOOST_AUTO_TEST_CASE(nothing_is_written_over) {
  const std::string key = read_all(at("ca/ca.key"));
  const Ran again = cert("init --cluster demo");
  BOOST_TEST(again.code == 64);
  BOOST_TEST(says(again, "already exists and is not empty"));
  BOOST_TEST(read_all(at("ca/ca.key")) == key);
}

BOOST_AUTO_TEST_CASE(what_is_wrong_is_told) {
  BOOST_TEST(says(cert("issue --node 1 --out " + at("n1"), "nowhere"), "cannot read "));
  BOOST_TEST(cert("issue --out " + at("n1")).code == 2);
  BOOST_TEST(cert("issue --node 0 --out " + at("n1")).code == 2);
  BOOST_TEST(says(cert("revoke 00ff"), "has issued no certificate 00ff"));
  std::ofstream(at("ca/ca.key")) << read_all(at("n3/tls.key"));
  BOOST_TEST(says(cert("list"), "is not the key of the certificate beside it"));
  std::ofstream(at("ca/ca.key")) << "nonsense";
  BOOST_TEST(says(cert("list"), "is not a private key"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::apps
