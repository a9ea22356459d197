#include "accepted.hpp"

/// The sections [cluster.postgres] and [application] with kind = "postgres".

namespace muster::apps {

BOOST_AUTO_TEST_SUITE(config_postgres)

static const std::string three =
    "1 = \"10.0.0.1:7201\"\n2 = \"10.0.0.2:7202\"\n3 = \"10.0.0.3:7203\"\n";

static Expected<NodeConfig> read(const std::string& databases, const std::string& cluster,
                                 const std::string& application) {
  return parse_config("[node]\nid = 1\ndata = \"n1\"\n[cluster]\nname = \"pg\"\n" + cluster +
                          "\n[cluster.nodes]\n1 = \"127.0.0.1:7101\"\n2 = \"127.0.0.1:7102\"\n"
                          "3 = \"127.0.0.1:7103\"\n[cluster.postgres]\n" +
                          databases + "[application]\n" + application,
                      "/c/n.toml");
}

static const std::string of_majority = "quorum = \"majority\"";
static const std::string kind = "kind = \"postgres\"\n";

static const std::string without_first = "2 = \"10.0.0.2:7202\"\n3 = \"10.0.0.3:7203\"\n";
static const std::string witness = "role = \"witness\"\n";

BOOST_AUTO_TEST_CASE(is_read_and_written_back) {
  const NodeConfig config = accepted(read(three, of_majority, kind + "database = \"/db\"\n"));
  BOOST_TEST(config.cluster.postgres->copies == 2u);
  BOOST_TEST(config.cluster.postgres->nodes.at(NodeId{3}).text() == "10.0.0.3:7203");
  BOOST_TEST(config.application.database.string() == "/db");
  BOOST_TEST(config.application.programs.string() == "/usr/lib/postgresql/15/bin");
  const NodeConfig again = written_and_read(config);
  BOOST_TEST(write_config(again) == write_config(config));
}

static const std::string proofs =
    "hba = \"pg_hba.conf\"\nlisten = \"0.0.0.0\"\n[application.tls]\nca = \"s/ca.crt\"\n"
    "cert = \"s/tls.crt\"\nkey = \"/keys/s.key\"\nclient_cert = \"c/tls.crt\"\n";

BOOST_AUTO_TEST_CASE(what_it_proves_is_read_and_written_back) {
  const NodeConfig config = accepted(
      read(three, of_majority, kind + proofs + "client_key = \"c/tls.key\"\ncrl = \"l.pem\"\n"));
  const ApplicationConfig& its = config.application;
  BOOST_TEST(its.hba.string() == "/c/pg_hba.conf");
  BOOST_TEST(its.listen == "0.0.0.0");
  BOOST_TEST(its.tls->certificate.string() == "/c/s/tls.crt");
  BOOST_TEST(its.tls->key.string() == "/keys/s.key");
  BOOST_TEST(its.tls->client_key.string() == "/c/c/tls.key");
  BOOST_TEST(its.tls->crl.string() == "/c/l.pem");
  const NodeConfig again = written_and_read(config);
  BOOST_TEST(write_config(again) == write_config(config));
}

// If nodes disagreed on the number of copies, acknowledged commits could be lost. So nodes compare
// this setting and the others of [cluster.postgres].
BOOST_AUTO_TEST_CASE(stands_in_what_nodes_compare) {
  const auto text = read(three + "copies = 2\n", of_majority, kind)->cluster.canonical();
  BOOST_TEST(text.find("\npostgres.1=10.0.0.1:7201\n") != std::string::npos, text);
  BOOST_TEST(text.find("\npostgres.copies=2\n") != std::string::npos, text);
  // The first list has no `generation` in this text, so that programs which do not know generations
  // accept it.
  BOOST_TEST(text.find("generation") == std::string::npos, text);
  const NodeConfig next = accepted(read(three + "generation = 2\n", of_majority, kind));
  BOOST_TEST(next.cluster.postgres->generation == 2u);
  BOOST_TEST(next.cluster.canonical().find("\npostgres.generation=2\n") != std::string::npos);
}

// Each machine has its own disk, so nodes may differ in this key.
BOOST_AUTO_TEST_CASE(how_much_log_is_kept_is_told_to_each_node) {
  const NodeConfig usual = accepted(read(three, of_majority, kind));
  BOOST_TEST(usual.application.wal_keep == 512u);
  const NodeConfig config = accepted(read(three, of_majority, kind + "wal_keep = 4096\n"));
  BOOST_TEST(config.application.wal_keep == 4096u);
  BOOST_TEST(written_and_read(config).application.wal_keep == 4096u);
  BOOST_TEST(config.cluster.canonical() == usual.cluster.canonical());
  refused(read(three, of_majority, kind + "wal_keep = 8\n"), "wal_keep = 8");
}

BOOST_AUTO_TEST_CASE(a_witness_has_no_database_beside_two) {
  const NodeConfig config = accepted(read(without_first, of_majority, kind + witness));
  BOOST_TEST(config.application.witness);
  BOOST_TEST(config.cluster.postgres->copies == 2u);
  const NodeConfig again = written_and_read(config);
  BOOST_TEST(write_config(again) == write_config(config));
  const NodeConfig other =
      accepted(read("1 = \"10.0.0.1:7201\"\n2 = \"10.0.0.2:7202\"\n", of_majority, kind));
  BOOST_TEST(!other.application.witness);
}

BOOST_AUTO_TEST_CASE(who_is_a_witness_is_said_where_it_runs) {
  refused(read(without_first, of_majority, kind),
          "[cluster.postgres] does not have 1: expected the address of its PostgreSQL, or role");
  refused(read(three, of_majority, kind + witness), "expected no 1 in [cluster.postgres]");
  refused(read(three, of_majority, kind + "role = \"arbiter\"\n"), "\"data\" or \"witness\"");
  refused(read(without_first, of_majority, kind + witness + "database = \"pg\"\n"),
          "no such key, because a witness has no PostgreSQL");
  refused(read(without_first, of_majority, "kind = \"none\"\n" + witness),
          "this key only with kind = \"postgres\"");
}

BOOST_AUTO_TEST_CASE(is_refused_with_what_is_expected) {
  refused(read("1 = \"10.0.0.1:7201\"\n", of_majority, kind),
          "[cluster.postgres] has 1 nodes: expected all nodes of [cluster.nodes], at least three");
  refused(read(three + "4 = \"10.0.0.4:7204\"\n", of_majority, kind),
          "4 in [cluster.postgres]: expected a node of [cluster.nodes]");
  refused(read(three + "5x = \"10.0.0.4:7204\"\n", of_majority, kind),
          "in [cluster.postgres]: expected a node's id from 1 on");
  refused(read(three + "copies = 1\n", of_majority, kind), "copies = 1");
  refused(read(three + "copies = 3\n", of_majority, kind), "copies = 3");
  refused(read(three + "generation = 0\n", of_majority, kind), "generation = 0");
  refused(read(without_first + "generation = 2\n", of_majority, kind + witness), "generation = 2");
  refused(read(three, "", kind), "expected quorum = \"majority\" in [cluster]");
  refused(read(three, of_majority, "kind = \"none\"\ndatabase = \"pg\"\n"),
          "this key only with kind = \"postgres\"");
  refused(read(three, of_majority, kind + proofs),
          "[application.tls] has no client_key: expected client_key = a PEM file");
  refused(read(three, of_majority, kind + proofs + "client_key = \"x.so:key\"\n"),
          "expected a path without ':' (it is /c/x.so:key)");
  refused(read(three, of_majority, kind + proofs + "client_kye = \"k\"\n"), "client_kye");
  refused(read(three, of_majority, "kind = \"none\"\nhba = \"h\"\n"),
          "this key only with kind = \"postgres\"");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::apps
