#include "accepted.hpp"

/// Names in a configuration: host names, the addresses that nodes dial and listen at (`[node]
/// listen`), the names in certificates, and the paths of a program and of its socket.

namespace muster::apps {

BOOST_AUTO_TEST_SUITE(config_names)

static Expected<NodeConfig> read(const std::string& node, const std::string& cluster,
                                 const std::string& address) {
  return parse_config("[node]\nid = 1\ndata = \"n1\"\n" + node + "\n[cluster]\nname = \"demo\"\n" +
                          cluster + "\n[cluster.nodes]\n1 = \"127.0.0.1:7101\"\n2 = \"" + address +
                          "\"\n",
                      "/c/n.toml");
}

BOOST_AUTO_TEST_CASE(localhost_is_of_this_machine_and_other_names_are_not) {
  const NodeConfig local = accepted(read("", "", "localhost:7102"));
  BOOST_TEST(local.cluster.nodes.at(NodeId{2}).text() == "localhost:7102");
  refused(read("", "", "db1.example:7102"), "insecure = true");
  refused(read("", "", "localhost.example:7102"), "insecure = true");
}

BOOST_AUTO_TEST_CASE(proofs_stand_in_what_nodes_compare_where_they_are_off) {
  const auto with = [](const std::string& key) { return read("", key, "127.0.0.1:7102").value(); };
  BOOST_TEST(with("proofs = true").cluster.canonical() == with("").cluster.canonical());
  const NodeConfig without = with("proofs = false");
  BOOST_TEST(without.cluster.canonical().find("\nproofs=false\n") != std::string::npos);
  BOOST_TEST(!parse_config(write_config(without), "/c/n.toml")->cluster.proofs);
}

// Nodes compare the text of their cluster, so two spellings of one name must give the same text.
BOOST_AUTO_TEST_CASE(large_letters_are_small_ones) {
  const NodeConfig config = accepted(read("", "insecure = true", "DB1.Example:7102"));
  BOOST_TEST(config.cluster.canonical().find("nodes.2=db1.example:7102\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_is_no_name_is_refused) {
  const std::string label(64, 'a');
  for (const std::string& wrong :
       {std::string("db 1:7102"), std::string(".example:7102"), std::string("a..b:7102"),
        std::string("example.:7102"), std::string("1.2.3:7102"), std::string("127.0.0.1.1:7102"),
        std::string("256.0.0.1:7102"), label + ":7102", std::string("[localhost]:7102")})
    refused(read("", "insecure = true", wrong), "an IP address or a host's name");
}

BOOST_AUTO_TEST_CASE(a_node_may_listen_elsewhere_than_it_is_dialled) {
  const NodeConfig config =
      accepted(read("listen = \"0.0.0.0:7101\"", "insecure = true", "db2.example:7102"));
  BOOST_TEST(config.listen->text() == "0.0.0.0:7101");
  BOOST_TEST(config.cluster.canonical().find("0.0.0.0") == std::string::npos);
  const NodeConfig again = written_and_read(config, "/c/n.toml");
  BOOST_TEST(again.listen->text() == "0.0.0.0:7101");
  BOOST_TEST(!read("", "", "127.0.0.1:7102")->listen.has_value());
}

BOOST_AUTO_TEST_CASE(to_listen_beyond_loopback_is_to_be_insecure_too) {
  refused(read("listen = \"0.0.0.0:7101\"", "", "127.0.0.1:7102"),
          "/c/n.toml:4: listen = \"0.0.0.0:7101\": expected a loopback address, or [tls], or "
          "insecure = true");
  refused(read("listen = \"everywhere\"", "", "127.0.0.1:7102"), "listen = \"everywhere\"");
  refused(read("listen = 7101", "", "127.0.0.1:7102"), "listen = 7101");
  BOOST_TEST(read("listen = \"localhost:7101\"", "", "127.0.0.1:7102").has_value());
}

static Expected<NodeConfig> proven(const std::string& more) {
  return parse_config("[node]\nid = 1\ndata = \"n1\"\n[tls]\n" + more +
                          "[cluster]\nname = \"demo\"\n[cluster.nodes]\n1 = \"10.0.0.1:7101\"\n",
                      "/c/n.toml");
}

BOOST_AUTO_TEST_CASE(with_certificates_addresses_may_be_any) {
  const std::string files = "ca = \"ca.crt\"\ncert = \"tls.crt\"\nkey = \"/k/tls.key\"\n";
  const NodeConfig config =
      accepted(proven(files + "crl = \"crl.pem\"\nname = \"spiffe://CLUSTER/ID\"\n"
                              "observer = \"spiffe://CLUSTER/me\"\n"));
  BOOST_TEST(config.tls->ca == "/c/ca.crt");
  BOOST_TEST(config.tls->key == "/k/tls.key");
  BOOST_TEST(config.tls->cluster == "demo");
  const NodeConfig again = written_and_read(config);
  BOOST_TEST(again.tls == config.tls);
  refused(proven("ca = \"ca.crt\"\ncert = \"tls.crt\"\n"), "/c/n.toml:4: [tls] has no key");
  refused(proven(files + "name = \"muster://CLUSTER\"\n"), "a URI that contains ID exactly once");
  refused(proven(files + "observer = \"muster://CLUSTER/CLUSTER\"\n"), "CLUSTER exactly once");
  refused(proven(files + "capath = \"/etc/ssl\"\n"), "ca, cert, key, crl, name, observer");
}

BOOST_AUTO_TEST_CASE(watchers_are_answered_at_loopback_unless_told_otherwise) {
  const auto http = [](const std::string& lines) {
    return read("[http]\n" + lines, "", "127.0.0.1:7102");
  };
  BOOST_TEST(http("listen = \"127.0.0.1:9100\"")->http->listen.text() == "127.0.0.1:9100");
  const NodeConfig insecure = accepted(http("listen = \"0.0.0.0:9100\"\ninsecure = true"));
  const NodeConfig again = written_and_read(insecure, "/c/n.toml");
  BOOST_TEST(again.http->insecure);
  BOOST_TEST(again.http->listen.text() == "0.0.0.0:9100");
  refused(http("listen = \"0.0.0.0:9100\""),
          "/c/n.toml:5: listen = \"0.0.0.0:9100\": expected a loopback address, or [tls], or "
          "insecure = true in [http]");
  refused(http("listen = \"9100\""), "listen = \"9100\": expected an address of this machine");
  refused(http("insecure = true"), "/c/n.toml:4: [http] has no listen");
  refused(http("port = 9100"), "[http]: expected one of listen, insecure");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(config_socket)

static Expected<NodeConfig> with_data(const std::string& data) {
  return parse_config(
      "[node]\nid = 1\ndata = \"" + data +
          "\"\n[cluster]\nname = \"c\"\n[cluster.nodes]\n1 = \"127.0.0.1:7101\"\n"
          "[application]\nkind = \"socket\"\nprogram = [\"./lamp.py\", \"./a b\"]\n",
      "/c/n.toml");
}

BOOST_AUTO_TEST_CASE(is_relative_to_the_file_and_written_back) {
  const NodeConfig config = with_data("n1").value();
  BOOST_TEST(config.application.program == (std::vector<std::string>{"/c/lamp.py", "./a b"}));
  BOOST_TEST(config.application.directory.string() == "/c/");
  BOOST_TEST(config.application_socket().string() == "/c/n1/application.sock");
  const NodeConfig again = written_and_read(config);
  BOOST_TEST(again.application.program == config.application.program);
  BOOST_TEST(write_config(again) == write_config(config));
}

BOOST_AUTO_TEST_CASE(has_a_path_that_the_system_can_have) {
  BOOST_TEST(with_data(std::string(87, 'd')).has_value());
  const auto refused = with_data(std::string(88, 'd'));
  BOOST_REQUIRE(!refused.has_value());
  BOOST_TEST(refused.error().what.starts_with(
      "/c/n.toml:9: kind = \"socket\": the path of the socket /c/d"));
  BOOST_TEST(refused.error().what.find("application.sock has 108 bytes: expected at most 107") !=
             std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::apps
