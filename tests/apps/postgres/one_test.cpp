#include "apps/postgres/perform/database.hpp"
#include "apps/postgres/trio.hpp"

#include <boost/test/unit_test.hpp>

/// Tests the effects of the orders on one instance.

namespace muster::postgres::tests {
namespace {

BOOST_FIXTURE_TEST_CASE(a_database_begins_as_a_sealed_standby_and_becomes_primary, Down,
                        *on_postgres) {
  trio.expect<Began>(n1, Begin{});
  Holding held = trio.expect<Seen>(n1, Look{}).holding;
  BOOST_TEST(!held.primary);
  BOOST_TEST(held.system != 0U);
  BOOST_TEST(held.timeline == 1U);
  // The first row was written when the database was created.
  BOOST_TEST(held.term.group == (GroupNumber{0, n1}));
  BOOST_TEST(held.term.node == n1);
  BOOST_TEST(held.term.timeline == 1U);
  Client client = trio.client(n1);
  BOOST_TEST(client.value("SHOW synchronous_standby_names") == "ANY 1 (n1, n2, n3)");
  BOOST_TEST(client.value("SHOW default_transaction_read_only") == "on");
  BOOST_TEST(client.value("SHOW data_checksums") == "on");
  BOOST_TEST(client.value("SHOW wal_segment_size") == "1MB");
  BOOST_TEST(client.value("SHOW max_wal_size") == "1GB");
  // A standby logs each attempt that finds no more log, so the interval is long.
  BOOST_TEST(client.value("SHOW wal_retrieve_retry_interval") == "1s");

  trio.expect<Promoted>(n1, Promote{});
  trio.expect<Promoted>(n1, Promote{});
  const GroupNumber group{7, n3};
  const MarkerWritten written = trio.expect<MarkerWritten>(n1, WriteMarker{group});
  BOOST_TEST(written.term.group == group);
  BOOST_TEST(written.term.node == n1);
  BOOST_TEST(written.term.timeline == 2U);
  BOOST_TEST(written.term.lsn < written.end);
  // When the order is repeated, it writes nothing.
  BOOST_TEST(trio.expect<MarkerWritten>(n1, WriteMarker{group}).term == written.term);

  held = trio.expect<Seen>(n1, Look{}).holding;
  BOOST_TEST(held.primary);
  BOOST_TEST(held.timeline == 2U);
  BOOST_TEST(held.term == written.term);
  BOOST_TEST(held.lsn >= written.end);

  trio.expect<Configured>(n1, Configure{{true, {}, false, {}}});
  trio.expect<ConfShown>(n1, ShowConf{});
  BOOST_TEST(trio.client(n1).value("SHOW default_transaction_read_only") == "off");
  trio.expect<Kicked>(n1, Kick{});
  trio.expect<Checkpointed>(n1, Checkpoint{});

  // A former primary also begins as a sealed standby.
  trio.expect<Ended>(n1, End{Shutdown::immediate});
  BOOST_TEST(!trio[n1].pid());
  trio.expect<Began>(n1, Begin{});
  const Holding again = trio.expect<Seen>(n1, Look{}).holding;
  BOOST_TEST(!again.primary);
  BOOST_TEST(again.term == written.term);
  BOOST_TEST(again.lsn >= held.lsn);
  BOOST_TEST(trio.client(n1).value("SHOW default_transaction_read_only") == "on");
  BOOST_TEST(trio.client(n1).value("SELECT count(*) FROM pg_replication_slots") == "0");
  BOOST_TEST(trio.deaths.empty());
}

// So the node waits before it joins a group: a node that is stopped during recovery would keep its
// group waiting.
BOOST_FIXTURE_TEST_CASE(a_node_may_wait_until_its_database_has_recovered, Down, *on_postgres) {
  Database database(trio.options(n1), [](const std::string&) {});
  BOOST_REQUIRE(database.begin());
  database.await_beginning(60s);
  BOOST_TEST(trio.client(n1).value("SHOW default_transaction_read_only") == "on");
}

// A primary has separate slots for each group, and serves no standby that follows the primary in
// another group.
BOOST_FIXTURE_TEST_CASE(who_follows_in_another_group_is_not_served, Led, *on_postgres) {
  Client client = trio.client(n1);
  const std::string users =
      "SELECT string_agg(slot_name || ' ' || active, ' ' ORDER BY slot_name)"
      " FROM pg_replication_slots";
  trio.run_until([&] { return client.value(users) == "muster_1_3_n2 true muster_1_3_n3 true"; });
  // The slots of the group before are dropped, although they are in use.
  trio.expect<GateClosed>(n1, CloseGate{});
  BOOST_TEST(client.value(users).empty());
  trio.expect<MarkerWritten>(n1, WriteMarker{{2, n3}});
  BOOST_TEST(client.value(users) == "muster_2_3_n2 false muster_2_3_n3 false");
  trio.follow(n3, n1, {2, n3});
  trio.run_until([&] { return client.value(users) == "muster_2_3_n2 false muster_2_3_n3 true"; });
  // The other standby connects, and is refused.
  const std::string served =
      "SELECT string_agg(application_name, ' ') FROM pg_stat_replication WHERE state = 'streaming'";
  trio.run_until([&] { return client.value(served) == "n3"; });
  BOOST_TEST(trio.client(n3).value("SHOW wal_retrieve_retry_interval") == "20ms");
}

}  // namespace
}  // namespace muster::postgres::tests
