#include "apps/certificates/authority.hpp"
#include "real_nodes.hpp"

// Nodes that prove who they are by certificates of `muster cert`, as their owners keep them.

namespace muster::apps {
namespace {

using namespace std::chrono_literals;

struct Proven : RealNodes {
  explicit Proven(std::uint32_t count) : RealNodes(count) {
    cluster.timings.T = 1s;
    cluster.timings.coordinator_timeout = cluster.timings.check_every + 1s;
    cert({"init", "--cluster", "programs"});
    for (std::uint32_t id = 1; id <= count; ++id) {
      cert({"issue", "--node", std::to_string(id), "--out", directory_of(id)});
      tls[id] = {directory_of(id) + "/ca.crt", directory_of(id) + "/tls.crt",
                 directory_of(id) + "/tls.key", "", "programs"};
    }
  }
  [[nodiscard]] std::string directory_of(std::uint32_t id) const {
    return file("tls" + std::to_string(id)).string();
  }
  void cert(std::vector<std::string> words) const { cert(std::move(words), file("ca")); }
  void cert(std::vector<std::string> words, const std::filesystem::path& authority) const {
    words.insert(words.begin(), "cert");
    words.insert(words.end(), {"--ca", authority.string()});
    const Ran ran = run_muster(directory, words);
    BOOST_TEST_REQUIRE(ran.code == 0, ran.output);
  }
  /// It has a certificate for so long from now on.
  void shorten(std::uint32_t id, std::chrono::seconds lifetime) const {
    const auto authority = certificates::Authority::open(file("ca"));
    const auto made = authority->issue({"muster://programs/node/" + std::to_string(id)}, lifetime);
    write_file(directory_of(id) + "/tls.crt", made->certificate);
    write_file(directory_of(id) + "/tls.key", made->key);
  }
  /// All three, with what stands in `tls`.
  void begin() {
    for (std::uint32_t id : {1U, 2U, 3U}) begin_anew(id);
    await_coordinator(3, {1, 2, 3});
  }
  [[nodiscard]] std::string group(std::uint32_t id) const {
    const std::string status = ask(id, {"status", "--json"}).output;
    const std::size_t at = status.find("\"group\":");
    return status.substr(at, status.find(']', at) - at);
  }
  void await_word(std::uint32_t id, const std::string& text) const {
    wait_until([&] { return holds(log(id), text); });
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(nodes_with_certificates)

BOOST_AUTO_TEST_CASE(elect_and_are_seen_by_who_has_one) {
  Proven nodes(3);
  nodes.begin();
  const Ran members = run_muster(nodes.directory, {"members", "--config", nodes.configure(1)});
  BOOST_TEST(members.code == 0, members.output);
  nodes.tls.clear();
  const Ran stranger = run_muster(nodes.directory, {"members", "--config", nodes.configure(1)});
  BOOST_TEST(stranger.code == 64, stranger.output);
  BOOST_TEST(says(stranger, "it speaks TLS alone"), stranger.output);
  nodes.judge();
}

BOOST_AUTO_TEST_CASE(take_over_when_the_coordinator_is_killed) {
  Proven nodes(3);
  nodes.begin();
  nodes.processes.erase(3);
  nodes.await_coordinator(2, {1, 2});
  nodes.begin_anew(3);
  nodes.await_coordinator(3, {1, 2, 3});
  nodes.judge();
}

BOOST_AUTO_TEST_CASE(one_without_hears_that_the_others_speak_tls_and_they_that_it_does_not) {
  Proven nodes(3);
  nodes.begin();
  nodes.tls.erase(1);
  nodes.begin_anew(1);
  nodes.await_word(1, "node 2 refuses this node: it speaks TLS alone");
  nodes.await_word(2, "it speaks without TLS");
  nodes.await_coordinator(3, {2, 3});
  nodes.judge();
}

BOOST_AUTO_TEST_CASE(take_new_ones_without_an_election) {
  Proven nodes(3);
  nodes.begin();
  const std::string before = nodes.group(2);
  for (std::uint32_t id : {1U, 2U, 3U}) nodes.cert({"renew", nodes.directory_of(id)});
  for (std::uint32_t id : {1U, 2U, 3U})
    nodes.await_word(id, "has taken its certificate and those that it believes anew");
  const Ran reloaded = nodes.ask(1, {"reload"});
  BOOST_TEST(reloaded.code == 0, reloaded.output);
  nodes.await_coordinator(3, {1, 2, 3});
  BOOST_TEST(nodes.group(2) == before);
  // One that is half put into place is not taken.
  std::filesystem::copy_file(nodes.directory_of(1) + "/tls.key", nodes.directory_of(2) + "/tls.key",
                             std::filesystem::copy_options::overwrite_existing);
  nodes.await_word(2, "key values mismatch; what was read before stays");
  const Ran refused = nodes.ask(2, {"reload"});
  BOOST_TEST(refused.code != 0);
  BOOST_TEST(says(refused, "key values mismatch"), refused.output);
  nodes.await_coordinator(3, {1, 2, 3});
  BOOST_TEST(nodes.group(2) == before);
  nodes.judge();
}

BOOST_AUTO_TEST_CASE(change_their_authority_by_a_bundle_without_an_election) {
  Proven nodes(3);
  nodes.begin();
  const std::string before = nodes.group(2);
  const std::filesystem::path second = nodes.file("ca2");
  const auto authority = [&](std::uint32_t id) { return nodes.directory_of(id) + "/ca.crt"; };
  const auto with_all = [&](const auto& change) {
    for (std::uint32_t id : {1U, 2U, 3U}) {
      change(id);
      const Ran taken = nodes.ask(id, {"reload"});
      BOOST_TEST_REQUIRE(taken.code == 0, taken.output);
    }
    nodes.await_coordinator(3, {1, 2, 3});
    BOOST_TEST(nodes.group(2) == before);
  };
  nodes.cert({"init", "--cluster", "programs"}, second);
  with_all([&](std::uint32_t id) {
    std::ofstream(authority(id), std::ios::app) << read_all(second / "ca.crt");
  });
  with_all([&](std::uint32_t id) { nodes.cert({"renew", nodes.directory_of(id)}, second); });
  with_all([&](std::uint32_t id) { write_file(authority(id), read_all(second / "ca.crt")); });
  // The first one's are worth nothing any more.
  nodes.cert({"issue", "--node", "1", "--out", nodes.file("old").string()});
  nodes.tls[1] = {nodes.file("ca/ca.crt"), nodes.file("old/tls.crt"), nodes.file("old/tls.key"), "",
                  "programs"};
  nodes.begin_anew(1);
  nodes.await_word(1, "its certificate is not believed");
  nodes.judge();
}

BOOST_AUTO_TEST_CASE(leave_before_their_certificate_ends_and_come_back_with_another) {
  Proven nodes(3);
  nodes.begin();
  BOOST_TEST(says(nodes.ask(1, {"status"}), "its certificate holds for 36"));
  BOOST_TEST(!holds(nodes.log(1), "chmod 600"));
  std::filesystem::permissions(nodes.directory_of(1) + "/tls.key",
                               std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add);
  nodes.shorten(1, 5s);
  const Ran taken = nodes.ask(1, {"reload"});
  BOOST_TEST_REQUIRE(taken.code == 0, taken.output);
  BOOST_TEST(says(nodes.ask(1, {"status"}), "less than a day: renew it"));
  nodes.await_word(1, "chmod 600");
  nodes.await_word(1, "the certificate of node 1 ends on ");
  nodes.await_word(1, "the certificate of node 1 has ended on ");
  BOOST_TEST(says(nodes.ask(1, {"status"}), "unproven"));
  BOOST_TEST(!holds(nodes.log(2), "certificate has expired"));
  nodes.await_coordinator(3, {2, 3});
  nodes.cert({"renew", nodes.directory_of(1)});
  nodes.await_coordinator(3, {1, 2, 3});
  nodes.judge();
}

// Whoever hears of it first: the coordinator alone would refuse whom the others still believe.
BOOST_AUTO_TEST_CASE(go_on_without_one_whose_was_taken_back_which_leaves) {
  Proven nodes(3);
  const auto list_of = [&](std::uint32_t id) { return nodes.directory_of(id) + "/crl.pem"; };
  for (auto& [id, options] : nodes.tls) options.crl = list_of(id);
  nodes.begin();
  for (std::uint32_t out : {1U, 2U}) {
    nodes.cert({"revoke", nodes.directory_of(out) + "/tls.crt"});
    write_file(list_of(3), read_all(nodes.file("ca/crl.pem")));
    nodes.await_word(out, "leaves, as its certificate was taken back");
    wait_until([&] { return says(nodes.ask(out, {"status"}), "unproven"); });
    nodes.await_coordinator(3, {3 - out, 3});
    nodes.cert({"renew", nodes.directory_of(out)});
    nodes.await_coordinator(3, {1, 2, 3});
  }
  nodes.judge();
}

BOOST_AUTO_TEST_CASE(with_that_of_another_are_not_let_in) {
  Proven nodes(3);
  nodes.begin();
  BOOST_TEST(nodes.leave(1).code == 0);
  nodes.tls[1] = nodes.tls[2];
  const std::string config = nodes.configure(1);
  for (const auto& words : {std::vector<std::string>{"node", "--config"}, {"config", "check"}}) {
    std::vector<std::string> command = words;
    command.push_back(config);
    says_why(run_muster(nodes.directory, command), 64, "is not this node's, muster://programs/");
  }
  const Ran members = run_muster(nodes.directory, {"members", "--config", nodes.configure(2)});
  says_why(members, 5, "node 1 does not answer");
  nodes.judge();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::apps
