#include "apps/postgres/decide/choose.hpp"
#include "apps/postgres/perform/clone.hpp"
#include "apps/postgres/server/conf.hpp"
#include "apps/postgres/server/processes.hpp"
#include "apps/postgres/server/tools.hpp"
#include "apps/postgres/trio.hpp"
#include "storage/temporary_directory.hpp"

#include <boost/test/unit_test.hpp>

#include <fstream>

/// How logs diverge, and how a node is brought back.

namespace muster::postgres::tests {
namespace {

/// True if the log of `left` has records that the log of `right` lacks. Both nodes are sealed.
bool is_ahead(const Holding& left, const Holding& right) {
  return std::tie(left.term, left.lsn) > std::tie(right.term, right.lsn);
}

BOOST_FIXTURE_TEST_CASE(a_fast_shutdown_of_a_primary_in_peace_leaves_nothing_that_others_lack,
                        WithTable, *on_postgres) {
  const Writer writer(trio, n1, 1);
  trio.run_until([&] { return writer.acknowledged().size() > 100; });
  trio.expect<Ended>(n1, End{Shutdown::fast});
  trio.run_until([&] { return writer.over(); });
  const Holding second = trio.stop(n2, false);
  const Holding third = trio.stop(n3, false);
  trio.expect<Began>(n1, Begin{});
  const Holding first = trio.expect<Seen>(n1, Look{}).holding;
  BOOST_TEST(first.lsn == second.lsn);
  BOOST_TEST(first.lsn == third.lsn);
  BOOST_TEST(first.term == second.term);
  BOOST_TEST(first.timeline == second.timeline);
  // So the node follows at once, and nothing is lost.
  trio.follow(n1, n2, {2, n3});
  trio.follow(n3, n2, {2, n3});
  trio.open(n2, trio.lead(n2, {2, n3}));
  trio.expect<Streams>(n1, AwaitStreaming{});
  const auto kept = written_at(trio, n2);
  for (const std::uint64_t number : writer.acknowledged()) BOOST_REQUIRE(kept.count(number) == 1);
}

// A fast shutdown writes a checkpoint record. After the seal, no standby receives that record.
BOOST_AUTO_TEST_CASE(a_fast_shutdown_of_a_sealed_primary_puts_it_ahead_and_an_immediate_one_not,
                     *on_postgres) {
  for (const auto how : {Shutdown::fast, Shutdown::immediate}) {
    Trio trio;
    trio.begin_group(n1, {1, n3});
    trio.make_table(n1);
    trio.let_catch_up(n1);
    const Holding second = trio.stop(n2, false);
    const Holding third = trio.stop(n3, false);
    trio.stop(n1, true);
    trio.expect<Ended>(n1, End{how});
    trio.expect<Began>(n1, Begin{});
    const Holding first = trio.expect<Seen>(n1, Look{}).holding;
    BOOST_TEST(second.lsn == third.lsn);
    BOOST_TEST(is_ahead(first, second) == (how == Shutdown::fast));
  }
}

BOOST_AUTO_TEST_CASE(a_clone_that_comes_too_late_fails_and_keeps_the_former_data, *on_postgres) {
  Trio trio(3, {{"wal_keep_size", "0"},
                {"max_slot_wal_keep_size", "1MB"},
                {"max_wal_size", "2MB"},
                {"min_wal_size", "2MB"}});
  const GroupNumber group{1, n3};
  trio.begin_group(n1, group);
  trio.make_table(n1);
  trio.expect<Ended>(n3, End{Shutdown::fast});
  trio.expect<Resynced>(n3, Clone{n1, group});
  Client client = trio.client(n1);
  BOOST_REQUIRE(client.ask("SET synchronous_commit = local"));  // the other standby lacks log, too
  for (int i = 0; i < 3; ++i) {
    BOOST_REQUIRE(client.ask("INSERT INTO written SELECT generate_series(1, 50000)"));
    BOOST_REQUIRE(client.ask("CHECKPOINT"));
  }
  trio.expect<Configured>(n3, Configure{{false, n1, false, group}});
  trio.expect<Began>(n3, Begin{});
  BOOST_TEST(trio.expect_failure(n3, AwaitStreaming{})
                 .find("node 1 has removed WAL that this node needs next") == 0U);
  BOOST_TEST(std::filesystem::exists(old_path(trio.options(n3))));
}

/// The first node has a commit that no other node has. The second node is now the primary, and the
/// third follows it.
struct Diverged : WithTable {
  Diverged() {
    trio.expect<Checkpointed>(n1, Checkpoint{});
    trio.let_catch_up(n1);
    trio.stop(n2, false);
    trio.expect<Checkpointed>(n2, Checkpoint{});
    trio.follow(n2, n1, {1, n3});
    // This is enough data to make the checkpoint after a promotion take a while.
    BOOST_REQUIRE(trio.client(n1).ask("INSERT INTO written SELECT generate_series(1, 20000)"));
    trio.let_catch_up(n1);
    trio.stop(n2, false);
    trio.stop(n3, false);
    Client client = trio.client(n1);
    BOOST_REQUIRE(client.ask("SET synchronous_commit = local"));
    BOOST_REQUIRE(client.ask("INSERT INTO written VALUES (1000000)"));
    trio.stop(n1, true);
    trio.follow(n3, n2, {2, n3});
    trio.open(n2, trio.lead(n2, {2, n3}));
    BOOST_REQUIRE(trio.client(n2).ask("INSERT INTO written VALUES (20001)"));
  }
};

/// Performs the steps of a node after a rewind or clone, until the node is an ordinary standby.
void rejoin(Trio& trio, NodeId node, NodeId primary) {
  trio.expect<Configured>(node, Configure{{false, primary, false, {2, n3}}});
  trio.expect<Began>(node, Begin{});
  trio.expect<Streams>(node, AwaitStreaming{});
  Client client = trio.client(primary);
  const std::string its_name = "SELECT count(*) FROM pg_stat_replication WHERE application_name = ";
  BOOST_TEST(client.value(its_name + "'" + name_of(node, false) + "'") == "1");
  trio.follow(node, primary, {2, n3});
  trio.run_until([&] { return client.value(its_name + "'" + name_of(node) + "'") == "1"; });
  trio.expect<MarkerWritten>(primary, WriteMarker{{2, n3}});  // as a primary repeats its marker
  trio.expect<MarkerHeld>(node, AwaitMarker{{2, n3}, primary});
  trio.let_catch_up(primary);
  const Holding held = trio.stop(node, false);
  BOOST_TEST(held.term.group == (GroupNumber{2, n3}));
  const auto there = written_at(trio, node);
  BOOST_TEST(there.count(20001) == 1U);
  BOOST_TEST(there.count(1000000) == 0U);
  BOOST_TEST(there == written_at(trio, primary));
}

BOOST_FIXTURE_TEST_CASE(who_has_diverged_is_rewound_and_acknowledges_nothing_until_it_streams,
                        Diverged, *on_postgres) {
  const Lineage lineage = trio.expect<LineageRead>(n1, ReadLineage{n2, GroupNumber{2, n3}}).lineage;
  BOOST_TEST(lineage.timeline == 3U);
  BOOST_REQUIRE_EQUAL(lineage.terms.size(), 3U);
  BOOST_TEST(lineage.terms[0].group == (GroupNumber{0, n1}));
  BOOST_TEST(lineage.terms[1].group == (GroupNumber{1, n3}));
  BOOST_TEST(lineage.terms[2].group == (GroupNumber{2, n3}));
  BOOST_REQUIRE_EQUAL(lineage.ends_of_timelines.size(), 2U);
  const Holding held = trio.expect<Seen>(n1, Look{}).holding;
  BOOST_TEST(lineage.ends_of_timelines.at(2) < held.lsn);

  trio.expect<Noted>(n1, WriteNote{Note{as_held(held)}});
  BOOST_TEST(trio.expect_failure(n1, Rewind{n2}) ==
             "PostgreSQL still runs, so its database cannot be rewound");
  trio.expect<Ended>(n1, End{Shutdown::immediate});
  BOOST_TEST(trio.expect_failure(n1, Rewind{n3}) ==
             "node 3 is not a primary, so no database can be rewound to it");
  trio.expect<Resynced>(n1, Rewind{n2});
  BOOST_TEST(trio[n1].load()->note == Note{as_held(held)});
  rejoin(trio, n1, n2);
  trio.expect<Noted>(n1, WriteNote{});
  BOOST_TEST(!trio[n1].load()->note);
}

// A rewound database is complete only with more of its source's log. If the source's group ends,
// that log never comes, and recovery would wait for ever.
struct Rewound : Diverged {
  Rewound() {
    trio.expect<Ended>(n1, End{Shutdown::immediate});
    {
      // The source's log grows while pg_rewind copies it.
      const Writer writer(trio, n2, 2000000);
      trio.run_until([&] { return writer.acknowledged().size() > 10; });
      trio.expect<Resynced>(n1, Rewind{n2});
    }
    trio.expect<Configured>(n1, Configure{{false, n2, false, {9, n3}}});
  }
  void expect_to_give_up() {
    BOOST_TEST(
        trio.expect_failure(n1, Begin{}) ==
        "recovery waits in vain for WAL of node 2, without which the database is not consistent");
    trio.expect<Ended>(n1, End{Shutdown::immediate});
  }
};

BOOST_FIXTURE_TEST_CASE(who_was_rewound_and_is_not_served_gives_up, Rewound, *on_postgres) {
  expect_to_give_up();
}

// The node can be told the next group at any moment of its recovery. At first the postmaster has no
// signal handlers yet, and a signal would kill it.
BOOST_FIXTURE_TEST_CASE(who_was_rewound_and_is_told_of_the_next_group_goes_on, Rewound,
                        *on_postgres) {
  const std::function<bool()> is_launched = [&] { return trio[n1].pid().has_value(); };
  const std::function<bool()> recovers = [&] {
    return !progress_of_recovery(trio.options(n1).data).empty();
  };
  for (const auto& moment : {is_launched, recovers}) {
    trio[n1].perform({{}, Begin{}}, [](const KeeperEvent&) {});
    trio.run_until(moment);
    trio[n1].perform({{}, Abandon{}}, {});
    trio.expect<Configured>(n1, Configure{{false, n2, false, {10, n3}}});
  }
  rejoin(trio, n1, n2);
  BOOST_TEST(trio.deaths[n1].empty());
}

/// Removes all log files after the file in which the recovery of this data begins.
void remove_later_files(const std::filesystem::path& data) {
  const std::string label = read_text(data / "backup_label")->value_or("");
  const auto of_file = [](const std::string& name) { return name.substr(8); };  // on any timeline
  const std::string first = label.substr(label.find("(file ") + 6, 24);
  for (const auto& entry : std::filesystem::directory_iterator(data / "pg_wal")) {
    const std::string name = entry.path().filename().string();
    if (name.size() == 24 && of_file(name) > of_file(first)) std::filesystem::remove(entry.path());
  }
}

// The rewound node's log ends at the end of a file, so recovery waits for a file that does not
// exist.
BOOST_FIXTURE_TEST_CASE(who_was_rewound_and_lacks_a_file_of_the_log_gives_up, Rewound,
                        *on_postgres) {
  remove_later_files(trio.options(n1).data);
  expect_to_give_up();
}

/// The output of pg_rewind when it rewinds the first node to the second, without a checkpoint
/// before.
std::string said_by_rewind(Trio& trio) {
  const InstanceOptions options = trio.options(n1);
  auto process = program_of(options, "pg_rewind",
                            {"--target-pgdata", options.data.string(), "--source-server",
                             connection_text(options, n2, "test") + " dbname=postgres"});
  process.output = options.data.parent_path() / "said";
  auto rewind = apps::Process::launch(process);
  BOOST_REQUIRE(rewind);
  const std::string end = apps::describe_end(rewind->wait());
  return end + ": " + read_text(process.output)->value_or("");
}

// pg_rewind compares the timelines in two control files. Until the next checkpoint after its
// promotion, the source's control file contains the earlier timeline.
BOOST_FIXTURE_TEST_CASE(without_a_checkpoint_at_its_source_a_rewind_finds_nothing_to_do, Diverged,
                        *on_postgres) {
  // An orderly shutdown, so that pg_rewind has nothing to recover first.
  trio.expect<Ended>(n1, End{Shutdown::fast});
  const std::string its_timeline = "SELECT timeline_id FROM pg_control_checkpoint()";
  BOOST_TEST(trio.client(n2).value(its_timeline) == "2");
  const std::string said = said_by_rewind(trio);
  BOOST_TEST(said.find("ended with exit code 0: ") == 0U, said);
  BOOST_TEST(said.find("pg_rewind: no rewind required") != std::string::npos, said);
  // A node begins as a standby before it is rewound.
  trio.expect<Began>(n1, Begin{});
  trio.expect<Ended>(n1, End{Shutdown::fast});
  trio.expect<Resynced>(n1, Rewind{n2});
  BOOST_TEST(trio.client(n2).value(its_timeline) == "3");
  rejoin(trio, n1, n2);
}

BOOST_FIXTURE_TEST_CASE(with_standby_signal_a_rewind_after_a_crash_is_refused, Diverged,
                        *on_postgres) {
  trio.expect<Ended>(n1, End{Shutdown::immediate});
  trio.expect<Checkpointed>(n2, Checkpoint{});
  const auto signal = trio.options(n1).data / "standby.signal";
  BOOST_REQUIRE(write_durably(signal, ""));
  const std::string said = said_by_rewind(trio);
  BOOST_TEST(said.find("ended with exit code 1") == 0U);
  BOOST_TEST(said.find("standby mode is not supported by single-user servers") != std::string::npos,
             said);
  trio.expect<Resynced>(n1, Rewind{n2});
  rejoin(trio, n1, n2);
}

// Its new timeline could have the number of its source's timeline, and pg_rewind would do nothing.
BOOST_FIXTURE_TEST_CASE(who_was_promoted_by_somebody_else_is_not_rewound, Led, *on_postgres) {
  BOOST_TEST(trio.client(n3).value("SELECT pg_promote()") == "t");
  trio.expect<Ended>(n3, End{Shutdown::fast});
  BOOST_TEST(trio.expect_failure(n3, Rewind{n1}) ==
             "somebody else has promoted the database, so it cannot be rewound");
}

BOOST_FIXTURE_TEST_CASE(a_clone_takes_the_place_of_what_was_there_which_is_kept_until_it_streams,
                        Diverged, *on_postgres) {
  BOOST_TEST(trio.expect_failure(n1, Clone{n2}) ==
             "PostgreSQL still runs, so a clone cannot replace its database");
  trio.expect<Ended>(n1, End{Shutdown::immediate});
  trio.expect<Resynced>(n1, Clone{n2});
  BOOST_TEST(std::filesystem::exists(old_path(trio.options(n1)) / "PG_VERSION"));
  // A clone that never streamed is removed, and the old data stays.
  trio.expect<Resynced>(n1, Clone{n2});
  BOOST_TEST(std::filesystem::exists(old_path(trio.options(n1)) / "PG_VERSION"));
  rejoin(trio, n1, n2);
  BOOST_TEST(!std::filesystem::exists(old_path(trio.options(n1))));
  BOOST_TEST(!std::filesystem::exists(rubbish_path(trio.options(n1))));
}

// A plain directory stands for a database here.
BOOST_AUTO_TEST_CASE(wherever_a_clone_is_interrupted_one_whole_database_is_there) {
  const muster::test::TemporaryDirectory root;
  InstanceOptions options;
  options.data = root.path() / "data";
  const auto make = [](const std::filesystem::path& directory) {
    std::filesystem::create_directories(directory);
    std::ofstream(directory / directory.filename()) << "x";
  };
  const auto now = [&](const char* name) { return std::filesystem::exists(options.data / name); };
  make(options.data);
  make(part_path(options));
  BOOST_REQUIRE(finish_clone(options));
  BOOST_TEST(now("data"));
  BOOST_REQUIRE(complete_clone(options));
  BOOST_REQUIRE(!std::filesystem::exists(part_path(options)));
  // After an interruption, the old data may still be in the data directory, or have moved already.
  std::filesystem::rename(options.data, old_path(options));
  BOOST_REQUIRE(finish_clone(options));
  BOOST_TEST(now("data.part"));
  BOOST_TEST(std::filesystem::exists(old_path(options) / "data"));
  BOOST_REQUIRE(finish_clone(options));
  BOOST_TEST(now("data.part"));
}

// The waits grow because each clone copies a whole database.
BOOST_FIXTURE_TEST_CASE(a_clone_after_one_that_was_in_vain_waits_longer_each_time, Down,
                        *on_postgres) {
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < 3; ++i) trio.expect_failure(n1, Clone{n2});  // node 2 does not run
  BOOST_TEST((std::chrono::steady_clock::now() - began >= 1s + 2s));
}

}  // namespace
}  // namespace muster::postgres::tests
