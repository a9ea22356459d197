#include "apps/postgres/server/processes.hpp"
#include "apps/postgres/trio.hpp"

#include <boost/test/unit_test.hpp>

#include <signal.h>

#include <fstream>

/// The conditions under which a primary acknowledges nothing any more, and under which a standby
/// has replayed all that it holds.

namespace muster::postgres::tests {
namespace {

constexpr const char* receivers = "SELECT count(*) FROM pg_stat_wal_receiver";

/// Waits until all four writers wait for a copy. A session that was released before can answer
/// later, and its writer sends the next commit only after that answer.
void await_waiting(Trio& trio) {
  Client client = trio.client(n1);
  const std::string waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
  trio.run_until([&] { return client.value(waiting) == "4"; });
}

/// Lets the primary write some records.
void kick(Trio& trio) {
  for (int kicks = 0; kicks < 20; ++kicks) trio.expect<Kicked>(n1, Kick{});
}

// A primary is sealed thirty times while four clients write and both standbys try to come back. No
// commit is acknowledged until the standbys have slots again. Then all commits are.
BOOST_FIXTURE_TEST_CASE(nothing_is_acknowledged_once_the_slots_are_dropped, WithTable,
                        *on_postgres) {
  const Writers writers(trio, n1);
  std::size_t before = 0;
  for (int time = 0; time < 30; ++time) {
    trio.run_until([&] { return writers.acknowledged() > before + 20; });
    trio.expect<GateClosed>(n1, CloseGate{});
    await_waiting(trio);
    const auto sealed = writers.numbers();
    trio.run_until([&] { return trio.client(n2).value(receivers) == "0"; });
    kick(trio);
    BOOST_REQUIRE(writers.numbers() == sealed);
    before = sealed.size();
    trio.expect<MarkerWritten>(n1, WriteMarker{{1, n3}});
  }
  trio.run_until([&] { return writers.acknowledged() > before + 20; });
  BOOST_TEST(!writers.any_over());
}

// A client that bears the name of a node has no slot. So the seal ends it by its name. Other
// clients that read the log, such as backups, go on.
BOOST_FIXTURE_TEST_CASE(a_seal_ends_a_client_that_bears_the_name_of_a_node, Led, *on_postgres) {
  for (const std::string name : {"n2", "backup"}) {
    Session::Parameters parameters = trio.of_client(n1);
    parameters.emplace_back("replication", "true");
    parameters.emplace_back("application_name", name);
    Session client(trio.io.get_executor(), parameters);
    std::optional<bool> connected, lives;
    client.connect(10s, [&](const auto& outcome) { connected = outcome.has_value(); });
    trio.run_until([&] { return connected.has_value(); });
    BOOST_REQUIRE(*connected);
    trio.expect<GateClosed>(n1, CloseGate{});
    client.ask("IDENTIFY_SYSTEM", {}, 10s, [&](const auto& answer) { lives = answer.has_value(); });
    trio.run_until([&] { return lives.has_value(); });
    BOOST_TEST(*lives == (name == "backup"));
  }
}

// With a witness, a primary that is alone acknowledges by itself, and stops at once.
BOOST_AUTO_TEST_CASE(an_acknowledger_releases_commits_while_it_runs, *on_postgres) {
  Trio trio(2, {}, 1, {n3});
  trio.begin_group(n1, {1, n3});
  trio.make_table(n1);
  trio.expect<GateClosed>(n1, CloseGate{});
  const Writers writers(trio, n1);
  std::size_t before = 0;
  for (int time = 0; time < 10; ++time) {
    trio.expect<Acknowledges>(n1, Acknowledge{});
    trio.run_until([&] { return writers.acknowledged() > before + 20; });
    trio.expect<AcknowledgerGone>(n1, EndAcknowledger{});
    await_waiting(trio);
    const auto alone = writers.numbers();
    kick(trio);
    BOOST_REQUIRE(writers.numbers() == alone);
    before = alone.size();
  }
  trio.expect<Acknowledges>(n1, Acknowledge{});
  trio.run_until([&] { return writers.acknowledged() > before + 20; });
  // A session that is ended from outside comes back by itself.
  trio.client(n1).value(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_replication WHERE"
      " application_name = 'muster_alone'");
  before = writers.acknowledged();
  trio.run_until([&] { return writers.acknowledged() > before + 20; });
  trio.expect<GateClosed>(n1, CloseGate{});
  await_waiting(trio);
  const auto sealed = writers.numbers();
  kick(trio);
  BOOST_TEST(writers.numbers() == sealed);
}

BOOST_FIXTURE_TEST_CASE(a_wait_that_is_cancelled_is_a_success_with_a_warning, WithTable,
                        *on_postgres) {
  trio.stop(n1, true);
  Client waiting = trio.client(n1);
  const std::string pid = waiting.value("SELECT pg_backend_pid()");
  BOOST_REQUIRE(waiting.ask("SET default_transaction_read_only = off"));
  waiting.put("INSERT INTO written VALUES (1)");
  Client other = trio.client(n1);
  const std::string its_wait = "SELECT wait_event FROM pg_stat_activity WHERE pid = " + pid;
  trio.run_until([&] { return other.value(its_wait) == "SyncRep"; });
  BOOST_TEST(other.value("SELECT pg_cancel_backend(" + pid + ")") == "t");
  trio.run_until([&] { return waiting.outcome.has_value(); });
  BOOST_REQUIRE(waiting.outcome->has_value());
  BOOST_REQUIRE_EQUAL(waiting.outcome->value().notices.size(), 1U);
  BOOST_TEST(waiting.outcome->value().notices[0].state == "01000");
  BOOST_TEST(waiting.outcome->value().notices[0].what.find("canceling wait") == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_timeout_of_the_statement_does_not_cancel_the_wait, WithTable,
                        *on_postgres) {
  trio.stop(n1, true);
  Client waiting = trio.client(n1);
  BOOST_REQUIRE(waiting.ask("SET default_transaction_read_only = off"));
  BOOST_REQUIRE(waiting.ask("SET statement_timeout = '20ms'"));
  waiting.put("INSERT INTO written VALUES (1)");
  Client other = trio.client(n1);
  // If the session were released wrongly, it would happen within this time.
  BOOST_REQUIRE(other.ask("SET statement_timeout = '300ms'"));
  BOOST_TEST(other.ask("SELECT pg_sleep(60)").error().state == "57014");
  BOOST_TEST(!waiting.outcome);
  trio.expect<MarkerWritten>(n1, WriteMarker{{1, n3}});
  trio.run_until([&] { return waiting.outcome.has_value(); });
  BOOST_REQUIRE(waiting.outcome->has_value());
  BOOST_TEST(waiting.outcome->value().notices.empty());
}

pid_t startup_of(Trio& trio, NodeId node) {
  const std::string pid =
      trio.client(node).value("SELECT pid FROM pg_stat_activity WHERE backend_type = 'startup'");
  return static_cast<pid_t>(std::stoi(pid));
}

// Returns true if the server answers within a second.
bool answers(Trio& trio, Client& client, const std::string& question) {
  client.put(question);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (!client.outcome && std::chrono::steady_clock::now() < end) {
    if (trio.io.stopped()) trio.io.restart();
    trio.io.run_one_for(std::chrono::milliseconds(10));
  }
  return client.outcome.has_value();
}

// Stops the process, and returns true if PostgreSQL still answers. If the stopped process holds a
// lock of the server, or is writing its status, no question is answered until the process goes on.
bool answers_while_stopped(Trio& trio, pid_t process, Client& client, const std::string& question) {
  BOOST_REQUIRE_EQUAL(::kill(process, SIGSTOP), 0);
  return answers(trio, client, question);
}

void go_on(Trio& trio, pid_t process, Client& client) {
  ::kill(process, SIGCONT);
  trio.run_until([&] { return client.outcome.has_value(); });
}

// Stops the replay of node 2 where all other processes of the server go on.
void stop_replay(Trio& trio, pid_t startup) {
  while (true) {
    Client client = trio.client(n2);
    if (answers_while_stopped(trio, startup, client,
                              "SELECT pg_last_wal_replay_lsn() FROM pg_stat_wal_receiver"))
      return;
    go_on(trio, startup, client);
  }
}

// A standby may have flushed commits that it has not replayed yet. Such commits may have been
// acknowledged.
BOOST_FIXTURE_TEST_CASE(the_end_of_replay_is_waited_for_however_slow_it_is, WithTable,
                        *on_postgres) {
  const pid_t startup = startup_of(trio, n2);
  stop_replay(trio, startup);
  Client client = trio.client(n1);
  BOOST_REQUIRE(client.ask("INSERT INTO written SELECT generate_series(1, 1000)"));
  const auto flushed = parse_lsn(client.value("SELECT pg_current_wal_flush_lsn()"));
  BOOST_REQUIRE(flushed);
  const std::string its_flush = "SELECT flush_lsn >= '" + to_text(*flushed) +
                                "' FROM pg_stat_replication WHERE application_name = 'n2'";
  trio.run_until([&] { return client.value(its_flush) == "t"; });
  trio.expect<Ended>(n1, End{Shutdown::immediate});
  Client reader = trio.client(n2);
  trio.run_until([&] { return reader.value("SELECT count(*) FROM pg_stat_wal_receiver") == "0"; });
  BOOST_TEST(*parse_lsn(reader.value("SELECT pg_last_wal_replay_lsn()")) < *flushed);

  trio.expect<Configured>(n2, Configure{});
  bool replayed = false;
  trio[n2].perform({{1'000'000}, FinishReplay{}}, [&](const KeeperEvent& event) {
    replayed = std::holds_alternative<Replayed>(event.what);
  });
  for (int turns = 0; turns < 500; ++turns) BOOST_REQUIRE(reader.ask("SELECT 1"));
  BOOST_TEST(!replayed);
  ::kill(startup, SIGCONT);
  trio.run_until([&] { return replayed; });
  BOOST_TEST(trio.expect<Seen>(n2, Look{}).holding.lsn >= *flushed);
}

// A starting standby admits connections while it replays, and has received nothing in this life. So
// a comparison of the replayed and the received position would show at once that replay is
// complete, although it is not.
BOOST_FIXTURE_TEST_CASE(what_is_replayed_and_what_is_received_do_not_tell_the_end_of_replay,
                        WithTable, *on_postgres) {
  Client client = trio.client(n1);
  BOOST_REQUIRE(client.ask("INSERT INTO written SELECT generate_series(1, 300000)"));
  const auto flushed = parse_lsn(client.value("SELECT pg_current_wal_flush_lsn()"));
  trio.expect<CopiesHold>(n1, AwaitCopies{*flushed});
  const std::string its_flush = "SELECT flush_lsn >= '" + to_text(*flushed) +
                                "' FROM pg_stat_replication WHERE application_name = 'n2'";
  trio.run_until([&] { return client.value(its_flush) == "t"; });

  // True if a comparison of both positions shows the end of replay while the standby still replays.
  const auto is_said_to_be_at_the_end = [&] {
    trio.expect<Ended>(n2, End{Shutdown::immediate});
    trio.expect<Configured>(n2, Configure{});
    bool began = false;
    trio[n2].perform({{1'000'000}, Begin{}}, [&](const KeeperEvent& event) {
      if (const auto* failed = std::get_if<Failed>(&event.what)) BOOST_ERROR(failed->why);
      began = true;
    });
    trio.run_until([&] {
      return trio[n2].pid() && takes_connections(trio.options(n2).data, *trio[n2].pid());
    });
    Client early = trio.client(n2);
    const pid_t startup = startup_of(trio, n2);
    const bool in_time =
        answers_while_stopped(trio, startup, early,
                              "SELECT pg_last_wal_replay_lsn(), pg_last_wal_replay_lsn() >= "
                              "coalesce(pg_last_wal_receive_lsn(), '0/0')");
    go_on(trio, startup, early);
    const bool before_it_began = !began;
    trio.run_until([&] { return began; });
    const Row& said = (*early.outcome)->rows.at(0);
    return in_time && before_it_began && is_true(said, 1) &&
           *parse_lsn(text_in(said, 0)) < *flushed;
  };
  bool seen = false;
  for (unsigned tries = 0; !seen && tries < 10; ++tries) seen = is_said_to_be_at_the_end();
  BOOST_TEST(seen);
  BOOST_TEST(trio.expect<Seen>(n2, Look{}).holding.lsn >= *flushed);
}

BOOST_AUTO_TEST_CASE(a_reader_of_a_standby_does_not_hold_its_seal_back, *on_postgres) {
  Trio trio(3, {{"max_standby_streaming_delay", "-1"}});
  trio.begin_group(n1, {1, n3});
  trio.make_table(n1);
  Client client = trio.client(n1);
  BOOST_REQUIRE(client.ask("INSERT INTO written VALUES (1)"));
  const auto inserted = client.value("SELECT pg_current_wal_flush_lsn()");
  Client reader = trio.client(n2);
  trio.run_until(
      [&] { return reader.value("SELECT pg_last_wal_replay_lsn() >= '" + inserted + "'") == "t"; });
  BOOST_REQUIRE(reader.ask("BEGIN"));
  BOOST_REQUIRE(reader.ask("SELECT * FROM written"));
  BOOST_REQUIRE(client.ask("DROP TABLE written"));
  const auto dropped = parse_lsn(client.value("SELECT pg_current_wal_flush_lsn()"));
  trio.run_until([&] {
    return client.value("SELECT min(flush_lsn) >= '" + to_text(*dropped) +
                        "' FROM pg_stat_replication") == "t";
  });
  const Holding held = trio.stop(n2, false);
  BOOST_TEST(held.lsn >= *dropped);
  BOOST_TEST(!reader.ask("SELECT 1"));
}

BOOST_AUTO_TEST_CASE(who_may_not_stream_its_own_log_says_so, *on_postgres) {
  Trio trio(2, {}, 1, {n3});
  std::ofstream(trio.options(n1).data / "pg_hba.conf") << "local postgres all trust\n";
  trio.expect<Began>(n1, Begin{});
  trio.lead(n1, {1, n3});
  const std::string why = trio.expect_failure(n1, Acknowledge{});
  BOOST_TEST(why.find("PostgreSQL does not let its own node stream its log") == 0U, why);
  BOOST_TEST(why.find("pg_hba.conf") != std::string::npos, why);
  trio.expect<AcknowledgerGone>(n1, EndAcknowledger{});
}

// A standby that does not count and gets no further is no reason to wait for ever.
BOOST_FIXTURE_TEST_CASE(a_primary_gives_up_on_a_standby_that_never_counts, Down, *on_postgres) {
  for (const NodeId node : {n1, n2}) trio.expect<Began>(node, Begin{});
  trio.expect<Configured>(n2, Configure{{false, n1, false, {1, n3}}});
  const Lsn row = trio.lead(n1, {1, n3});
  trio.expect<FollowerGone>(n1, AwaitCopies{row, true});
  BOOST_TEST(trio.client(n1).value("SELECT application_name FROM pg_stat_replication") ==
             "mend_n2");
}

BOOST_FIXTURE_TEST_CASE(names_by_alter_system_change_nothing, Led, *on_postgres) {
  BOOST_REQUIRE(trio.client(n1).ask("ALTER SYSTEM SET synchronous_standby_names = ''"));
  trio.expect<Configured>(n1, Configure{});
  trio.expect<ConfShown>(n1, ShowConf{});
  BOOST_TEST(trio.client(n1).value("SHOW synchronous_standby_names") == "ANY 1 (n1, n2, n3)");
}

BOOST_FIXTURE_TEST_CASE(a_file_with_an_error_is_named, Led, *on_postgres) {
  std::ofstream(trio.options(n1).data / "postgresql.auto.conf", std::ios::app)
      << "no_setting = 1\n";
  trio.expect<Configured>(n1, Configure{});
  const std::string why = trio.expect_failure(n1, ShowConf{});
  BOOST_TEST(why == trio.expect_failure(n1, AwaitMarker{{7, n3}, n2}));
  BOOST_TEST(why.find("PostgreSQL reads no new settings because of ") == 0U, why);
  BOOST_TEST(why.find("postgresql.auto.conf line ") != std::string::npos, why);
}

// A seal needs no setting.
BOOST_FIXTURE_TEST_CASE(a_file_that_cannot_be_read_prevents_no_seal, Led, *on_postgres) {
  std::filesystem::permissions(trio.options(n1).data / "postgresql.conf",
                               std::filesystem::perms::none);
  BOOST_TEST(trio.stop(n1, true).primary);
}

BOOST_FIXTURE_TEST_CASE(a_file_that_has_lost_the_include_line_gets_it_again, Led, *on_postgres) {
  const auto file = trio.options(n1).data / "postgresql.conf";
  std::ofstream(file) << "max_connections = 90\n\n# " << include_line;
  trio.expect<Configured>(n1, Configure{{true, {}, false, {}}});
  trio.expect<ConfShown>(n1, ShowConf{});
  BOOST_TEST(trio.client(n1).value("SHOW default_transaction_read_only") == "off");
  BOOST_TEST(read_text(file).value().value() ==
             std::string("max_connections = 90\n\n# ") + include_line + "\n" + include_line + "\n");
}

}  // namespace
}  // namespace muster::postgres::tests
