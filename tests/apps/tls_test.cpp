#include "apps/certificates/authority.hpp"
#include "real_nodes.hpp"

// Nodes that prove their identity by certificates of `muster cert`, as their owners renew and
// revoke them.

namespace muster::apps {
namespace {

using namespace std::chrono_literals;

struct Proven : RealNodes {
  Proven() : RealNodes(3) {
    cluster.timings.T = 1s;
    cluster.timings.coordinator_timeout = cluster.timings.check_every + 1s;
    cert("init --cluster programs");
    for (std::uint32_t id : {1U, 2U, 3U}) {
      cert("issue --node " + std::to_string(id) + " --out " + directory_of(id));
      tls[id] = {directory_of(id) + "/ca.crt", directory_of(id) + "/tls.crt",
                 directory_of(id) + "/tls.key", "", "programs"};
    }
  }
  [[nodiscard]] std::string directory_of(std::uint32_t id) const {
    return file("tls" + std::to_string(id)).string();
  }
  void cert(const std::string& words, const std::string& authority = "ca") const {
    const Ran ran = muster("cert " + words + " --ca " + file(authority).string());
    BOOST_TEST_REQUIRE(ran.code == 0, ran.output);
  }
  /// Gives the node a new certificate, which is valid from now on for this lifetime.
  void shorten(std::uint32_t id, std::chrono::seconds lifetime) const {
    const auto authority = certificates::Authority::open(file("ca"));
    const auto made = authority->issue({"muster://programs/node/" + std::to_string(id)}, lifetime);
    write_file(directory_of(id) + "/tls.crt", made->certificate);
    write_file(directory_of(id) + "/tls.key", made->key);
  }
  /// Restarts the node with a certificate of another authority. From then on the nodes `known_to`
  /// accept that authority in addition to their own.
  void renew_by_another_authority(std::uint32_t id, std::initializer_list<std::uint32_t> known_to) {
    cert("init --cluster programs", "ca2");
    for (const std::uint32_t each : known_to) {
      std::ofstream(directory_of(each) + "/ca.crt", std::ios::app) << read_all(file("ca2/ca.crt"));
      if (processes.contains(each)) ends_well(ask(each, "reload"));
    }
    cert("renew " + directory_of(id), "ca2");
    restart(id);
  }
  /// Starts all three nodes with the settings in `tls`.
  void begin() { begin_together({1, 2, 3}); }
  [[nodiscard]] std::string group(std::uint32_t id) const {
    const std::string status = ask(id, "status --json").output;
    const std::size_t at = status.find("\"group\":");
    return status.substr(at, status.find(']', at) - at);
  }
  void await_word(std::uint32_t id, const std::string& text) const {
    wait_until([&] { return holds(log(id), text); });
  }
};

struct Begun : Proven {
  Begun() { begin(); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(nodes_with_certificates, Begun)

BOOST_AUTO_TEST_CASE(elect_and_are_seen_by_who_has_one) {
  ends_well(muster("members --config " + configure(1)));
  tls.clear();
  const Ran outsider = muster("members --config " + configure(1));
  BOOST_TEST(outsider.code == 64, outsider.output);
  BOOST_TEST(says(outsider, "it speaks TLS alone"), outsider.output);
  judge();
}

BOOST_AUTO_TEST_CASE(take_over_when_the_coordinator_is_killed) {
  processes.erase(3);
  await_coordinator(2, {1, 2});
  restart(3);
  await_coordinator(3, {1, 2, 3});
  judge();
}

BOOST_AUTO_TEST_CASE(one_without_hears_that_the_others_speak_tls_and_they_that_it_does_not) {
  tls.erase(1);
  restart(1);
  await_word(1, "node 2 refuses this node: it speaks TLS alone");
  await_word(2, "it does not use TLS");
  await_coordinator(3, {2, 3});
  judge();
}

BOOST_AUTO_TEST_CASE(take_new_ones_without_an_election) {
  const std::string before = group(2);
  for (std::uint32_t id : {1U, 2U, 3U}) cert("renew " + directory_of(id));
  for (std::uint32_t id : {1U, 2U, 3U})
    await_word(id, "has reloaded its certificate and the authorities that it trusts");
  ends_well(ask(1, "reload"));
  await_coordinator(3, {1, 2, 3});
  BOOST_TEST(group(2) == before);
  // The new key has been written, but not its certificate. The node does not load a key and a
  // certificate that do not fit together.
  std::filesystem::copy_file(directory_of(1) + "/tls.key", directory_of(2) + "/tls.key",
                             std::filesystem::copy_options::overwrite_existing);
  await_word(2, "key values mismatch; the certificates read before stay in use");
  const Ran refused = ask(2, "reload");
  BOOST_TEST(refused.code != 0);
  BOOST_TEST(says(refused, "key values mismatch"), refused.output);
  await_coordinator(3, {1, 2, 3});
  BOOST_TEST(group(2) == before);
  judge();
}

BOOST_AUTO_TEST_CASE(change_their_authority_by_a_bundle_without_an_election) {
  const std::string before = group(2);
  const std::filesystem::path second = file("ca2");
  const auto authority = [&](std::uint32_t id) { return directory_of(id) + "/ca.crt"; };
  const auto with_all = [&](const auto& change) {
    for (std::uint32_t id : {1U, 2U, 3U}) {
      change(id);
      const Ran taken = ask(id, "reload");
      BOOST_TEST_REQUIRE(taken.code == 0, taken.output);
    }
    await_coordinator(3, {1, 2, 3});
    BOOST_TEST(group(2) == before);
  };
  cert("init --cluster programs", "ca2");
  with_all([&](std::uint32_t id) {
    std::ofstream(authority(id), std::ios::app) << read_all(second / "ca.crt");
  });
  with_all([&](std::uint32_t id) { cert("renew " + directory_of(id), "ca2"); });
  with_all([&](std::uint32_t id) { write_file(authority(id), read_all(second / "ca.crt")); });
  // Certificates of the first authority are not accepted any more.
  cert("issue --node 1 --out " + file("old").string());
  tls[1] = {file("ca/ca.crt"), file("old/tls.crt"), file("old/tls.key"), "", "programs"};
  restart(1);
  await_word(1, "its certificate is not trusted");
  judge();
}

// One node did not get the new authority, so it refuses a node that the others accept.
BOOST_AUTO_TEST_CASE(of_an_authority_that_a_member_does_not_know_stop_that_member) {
  processes.erase(3);
  await_coordinator(2, {1, 2});
  renew_by_another_authority(3, {2, 3});
  await_coordinator(3, {2, 3});
  wait_until([&] { return ask(1, "status").code == 3; });
  BOOST_TEST(says(ask(1, "why"), "coordinator 2"), ask(1, "why").output);
}

// Nodes 2 and 3 refuse each other, and node 1 accepts both.
BOOST_AUTO_TEST_CASE(of_two_authorities_leave_a_node_between_that_says_so) {
  processes.erase(3);
  await_coordinator(2, {1, 2});
  renew_by_another_authority(3, {1, 3});
  Ran status;
  wait_until([&] { return (status = ask(1, "status")).code == 8; });
  BOOST_TEST(says(status, "nodes 2 and 3 halt node 1 in turn"), status.output);
}

BOOST_AUTO_TEST_CASE(leave_before_their_certificate_ends_and_come_back_with_another) {
  BOOST_TEST(says(ask(1, "status"), "its certificate is valid for 36"));
  BOOST_TEST(!holds(log(1), "chmod 600"));
  std::filesystem::permissions(directory_of(1) + "/tls.key", std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add);
  shorten(1, 5s);
  const Ran taken = ask(1, "reload");
  BOOST_TEST_REQUIRE(taken.code == 0, taken.output);
  BOOST_TEST(says(ask(1, "status"), "less than a day: renew it"));
  await_word(1, "chmod 600");
  await_word(1, "the certificate of node 1 expires on ");
  await_word(1, "the certificate of node 1 expired on ");
  BOOST_TEST(says(ask(1, "status"), "unproven"));
  BOOST_TEST(!holds(log(2), "certificate has expired"));
  await_coordinator(3, {2, 3});
  cert("renew " + directory_of(1));
  await_coordinator(3, {1, 2, 3});
  judge();
}

// Here only the coordinator, node 3, has read the new revocation list. So it refuses a node that
// the other member still accepts.
BOOST_FIXTURE_TEST_CASE(go_on_without_one_whose_was_revoked_which_leaves, Proven) {
  const auto list_of = [&](std::uint32_t id) { return directory_of(id) + "/crl.pem"; };
  for (auto& [id, options] : tls) options.crl = list_of(id);
  begin();
  for (std::uint32_t out : {1U, 2U}) {
    cert("revoke " + directory_of(out) + "/tls.crt");
    write_file(list_of(3), read_all(file("ca/crl.pem")));
    await_word(out, "leaves because its certificate was revoked");
    wait_until([&] { return says(ask(out, "status"), "unproven"); });
    await_coordinator(3, {3 - out, 3});
    cert("renew " + directory_of(out));
    await_coordinator(3, {1, 2, 3});
  }
  judge();
}

BOOST_AUTO_TEST_CASE(with_that_of_another_are_not_admitted) {
  BOOST_TEST(leave(1).code == 0);
  tls[1] = tls[2];
  const std::string config = configure(1);
  for (const std::string words : {"node --config ", "config check "})
    says_why(muster(words + config), 64,
             "is not for this node: expected the certificate of muster://programs/");
  const Ran members = muster("members --config " + configure(2));
  says_why(members, 5, "node 1 does not answer");
  judge();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::apps
