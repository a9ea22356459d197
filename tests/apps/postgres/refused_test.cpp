#include "apps/postgres/server/data_on_disk.hpp"
#include "apps/postgres/trio.hpp"

#include <boost/test/unit_test.hpp>

#include <fstream>

/// Standbys that are whole and admit no session of their own node.

namespace muster::postgres::tests {
namespace {

constexpr const char* says_so = "PostgreSQL admits no session of its own node: ";

bool was_told(Trio& trio, NodeId node, const std::string& what) {
  return trio.told[node].find(what) != std::string::npos;
}

/// A transaction of the primary is open that has more subtransactions than a standby can keep. The
/// second node was started again meanwhile.
struct ManySubtransactions : WithTable {
  ManySubtransactions() {
    BOOST_REQUIRE(client.ask("INSERT INTO written SELECT generate_series(1, 500)"));
    BOOST_REQUIRE(client.ask("BEGIN"));
    for (unsigned i = 0; i < 70; ++i) {
      BOOST_REQUIRE(client.ask("SAVEPOINT s" + std::to_string(i)));
      BOOST_REQUIRE(client.ask("INSERT INTO written VALUES (" + std::to_string(1000 + i) + ")"));
    }
    checkpoint(n1);
    BOOST_REQUIRE(other.ask("INSERT INTO written VALUES (501)"));
    trio.let_catch_up(n1);
    checkpoint(n2);
    trio.expect<Ended>(n2, End{Shutdown::immediate});
    trio.expect<Began>(n2, Begin{});
    BOOST_REQUIRE(was_told(trio, n2, says_so));
    BOOST_REQUIRE(!trio.client(n2).ask("SELECT"));
  }
  void checkpoint(NodeId node) { BOOST_REQUIRE(trio.client(node).ask("CHECKPOINT")); }

  Client client = trio.client(n1), other = trio.client(n1);
};

BOOST_FIXTURE_TEST_CASE(many_subtransactions_do_not_keep_a_standby_from_its_promotion,
                        ManySubtransactions, *on_postgres) {
  const Holding holding = trio.expect<Seen>(n2, Look{}).holding;
  BOOST_TEST((holding.term.group == GroupNumber{1, n3}));
  trio.expect<Ended>(n1, End{Shutdown::immediate});
  trio.expect<Promoted>(n2, Promote{});
  BOOST_TEST(trio.client(n2).value("SELECT count(*) FROM written") == "501");
  BOOST_TEST(was_told(trio, n2, "PostgreSQL admits sessions of its node again"));
  trio.expect<MarkerWritten>(n2, WriteMarker{{2, n3}});
}

BOOST_FIXTURE_TEST_CASE(many_subtransactions_do_not_keep_a_standby_from_counting,
                        ManySubtransactions, *on_postgres) {
  const GroupNumber next{2, n3};
  trio.stop(n1, true);
  trio.expect<MarkerWritten>(n1, WriteMarker{next});
  trio.unseal(n1);
  trio.expect<Configured>(n2, Configure{{false, n1, false, next}});
  trio.expect<MarkerHeld>(n2, AwaitMarker{next, n1});
  trio.follow(n2, n1, next);
  trio.expect<Ended>(n3, End{Shutdown::immediate});
  BOOST_REQUIRE(other.ask("SET default_transaction_read_only = off"));
  BOOST_REQUIRE(other.ask("INSERT INTO written VALUES (502)"));
  BOOST_REQUIRE(!trio.client(n2).ask("SELECT"));

  // It is sealed while it streams.
  trio.expect<Configured>(n2, Configure{});
  trio.expect<Replayed>(n2, FinishReplay{});
  const Holding holding = trio.expect<Seen>(n2, Look{}).holding;
  BOOST_TEST((holding.term.group == next));
  other.put("INSERT INTO written VALUES (503)");
  trio.expect<Ended>(n1, End{Shutdown::immediate});
  trio.expect<Promoted>(n2, Promote{});
  BOOST_TEST(trio.client(n2).value("SELECT count(*) FROM written WHERE number <= 502") == "502");
}

BOOST_FIXTURE_TEST_CASE(a_standby_that_admits_sessions_again_is_asked_again, ManySubtransactions,
                        *on_postgres) {
  trio.follow(n2, n1, {1, n3});
  BOOST_REQUIRE(client.ask("COMMIT"));
  trio.run_until([&] { return bool(trio.client(n2).ask("SELECT")); });
  trio[n2].perform({Round{1}, AwaitLogGone{n1}}, [](const KeeperEvent&) {});
  trio.run_until(
      [&] { return was_told(trio, n2, "PostgreSQL admits sessions of its node again"); });
}

BOOST_FIXTURE_TEST_CASE(a_standby_that_refuses_the_role_of_its_node_counts, Led, *on_postgres) {
  trio.let_catch_up(n1);
  const Lsn before = trio.stop(n2, false).lsn;
  trio.expect<Ended>(n2, End{Shutdown::fast});
  std::ofstream(trio.options(n2).data / "pg_hba.conf") << "local all all reject\n";
  trio.expect<Began>(n2, Begin{});
  BOOST_TEST(was_told(trio, n2, "pg_hba.conf rejects connection"), trio.told[n2]);
  BOOST_TEST(trio.expect<Seen>(n2, Look{}).holding.lsn == before);
}

/// A lock of the primary's that the standby replays keeps all new sessions away.
BOOST_FIXTURE_TEST_CASE(a_lock_on_a_catalog_does_not_keep_a_standby_from_its_promotion, WithTable,
                        *on_postgres) {
  Client client = trio.client(n1), other = trio.client(n1);
  BOOST_REQUIRE(other.ask("SELECT"));
  BOOST_REQUIRE(client.ask("BEGIN"));
  BOOST_REQUIRE(client.ask("LOCK TABLE pg_catalog.pg_database IN ACCESS EXCLUSIVE MODE"));
  BOOST_REQUIRE(other.ask("INSERT INTO written VALUES (1)"));
  const std::string end = other.value("SELECT pg_current_wal_flush_lsn()");
  const std::string those = "SELECT count(*) FROM pg_stat_replication WHERE flush_lsn >= ";
  trio.run_until([&] { return other.value(those + "'" + end + "'") == "2"; });
  trio.expect<Ended>(n2, End{Shutdown::immediate});
  trio.expect<Began>(n2, Begin{});
  BOOST_TEST(was_told(trio, n2, says_so));
  trio.expect<Seen>(n2, Look{});
  trio.expect<Ended>(n1, End{Shutdown::immediate});
  trio.expect<Promoted>(n2, Promote{});
  BOOST_TEST(trio.client(n2).value("SELECT count(*) FROM written") == "1");
}

}  // namespace
}  // namespace muster::postgres::tests
