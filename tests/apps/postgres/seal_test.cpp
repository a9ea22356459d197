#include "apps/postgres/server/processes.hpp"
#include "apps/postgres/trio.hpp"

#include <boost/test/unit_test.hpp>

#include <signal.h>

/// What it takes to be sure that a primary acknowledges nothing any more, and that a standby has
/// replayed all that it holds.

namespace muster::postgres::tests {
namespace {

constexpr const char* standbys_that_stream =
    "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'";

// Thirty times a primary is sealed under four writers, while its standbys come back at once and
// flush whatever they are sent: nothing is acknowledged until it is open again, and then all is.
BOOST_FIXTURE_TEST_CASE(nothing_is_acknowledged_once_the_walsenders_of_before_are_gone, WithTable,
                        *on_postgres) {
  const Writers writers(trio, n1);
  Client observer = trio.client(n1);
  std::size_t before = 0;
  for (int time = 0; time < 30; ++time) {
    trio.run_until([&] { return writers.acknowledged() > before + 20; });
    trio.expect<Configured>(n1, Configure{});
    trio.expect<NamesShown>(n1, ShowNames{Names::sealed});
    trio.expect<WalsendersGone>(n1, EndWalsenders{});
    const auto sealed = writers.numbers();
    // The standbys follow on: they flush, and say so, and none is the one that is waited for.
    trio.run_until([&] { return observer.value(standbys_that_stream) == "2"; });
    trio.expect<Kicked>(n1, Kick{});
    trio.let_catch_up(n1);
    BOOST_REQUIRE(writers.numbers() == sealed);
    before = sealed.size();
    trio.unseal(n1);
  }
  trio.run_until([&] { return writers.acknowledged() > before + 20; });
  BOOST_TEST(!writers.any_over());
}

// Without a new record nobody looks at the standbys again: the kick is one.
BOOST_FIXTURE_TEST_CASE(sessions_that_wait_are_released_by_the_kick, WithTable, *on_postgres) {
  trio.expect<Configured>(n1, Configure{});
  trio.expect<NamesShown>(n1, ShowNames{Names::sealed});
  Client waiting = trio.client(n1);
  BOOST_REQUIRE(waiting.ask("SET default_transaction_read_only = off"));
  waiting.put("INSERT INTO written VALUES (1)");
  Client observer = trio.client(n1);
  trio.run_until([&] {
    return observer.value("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") ==
           "1";
  });
  trio.unseal(n1);
  trio.run_until([&] { return waiting.outcome.has_value(); });
  BOOST_TEST(waiting.outcome->has_value());
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
  // It would have come in that time, and ends this one.
  BOOST_REQUIRE(other.ask("SET statement_timeout = '300ms'"));
  BOOST_TEST(other.ask("SELECT pg_sleep(60)").error().state == "57014");
  BOOST_TEST(!waiting.outcome);
  trio.open(n1, {});
  trio.run_until([&] { return waiting.outcome.has_value(); });
  BOOST_REQUIRE(waiting.outcome->has_value());
  BOOST_TEST(waiting.outcome->value().notices.empty());
}

pid_t startup_of(Trio& trio, NodeId node) {
  const std::string pid =
      trio.client(node).value("SELECT pid FROM pg_stat_activity WHERE backend_type = 'startup'");
  return static_cast<pid_t>(std::stoi(pid));
}

// What a standby has flushed, and so let be acknowledged, it may not have replayed yet.
BOOST_FIXTURE_TEST_CASE(the_end_of_replay_is_waited_for_however_slow_it_is, WithTable,
                        *on_postgres) {
  const pid_t startup = startup_of(trio, n2);
  BOOST_REQUIRE_EQUAL(::kill(startup, SIGSTOP), 0);
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
  trio.expect<NamesShown>(n2, ShowNames{Names::sealed});
  bool replayed = false;
  trio[n2].perform({{1'000'000}, FinishReplay{}}, [&](const Happening& happening) {
    replayed = std::holds_alternative<Replayed>(happening.what);
  });
  for (int turns = 0; turns < 500; ++turns) BOOST_REQUIRE(reader.ask("SELECT 1"));
  BOOST_TEST(!replayed);
  ::kill(startup, SIGCONT);
  trio.run_until([&] { return replayed; });
  BOOST_TEST(trio.expect<Seen>(n2, Look{}).holding.lsn >= *flushed);
}

// Where it is stopped with a spinlock in its hands, or while it writes what it says of itself,
// nobody is answered before it goes on.
bool answers_while_stopped(Trio& trio, pid_t process, Client& client, const std::string& question) {
  BOOST_REQUIRE_EQUAL(::kill(process, SIGSTOP), 0);
  client.put(question);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (!client.outcome && std::chrono::steady_clock::now() < end) {
    if (trio.io.stopped()) trio.io.restart();
    trio.io.run_one_for(std::chrono::milliseconds(10));
  }
  const bool in_time = client.outcome.has_value();
  ::kill(process, SIGCONT);
  trio.run_until([&] { return client.outcome.has_value(); });
  return in_time;
}

// A standby that begins takes connections while it replays, and has received nothing in this life:
// to compare what is replayed with what is received says at once that it is at the end.
BOOST_FIXTURE_TEST_CASE(what_is_replayed_and_what_is_received_do_not_tell_the_end_of_replay,
                        WithTable, *on_postgres) {
  Client client = trio.client(n1);
  BOOST_REQUIRE(client.ask("INSERT INTO written SELECT generate_series(1, 300000)"));
  const auto flushed = parse_lsn(client.value("SELECT pg_current_wal_flush_lsn()"));
  trio.expect<CopiesHold>(n1, AwaitCopies{*flushed});
  const std::string its_flush = "SELECT flush_lsn >= '" + to_text(*flushed) +
                                "' FROM pg_stat_replication WHERE application_name = 'n2'";
  trio.run_until([&] { return client.value(its_flush) == "t"; });

  // While it replays, if it is met then.
  const auto is_said_to_be_at_the_end = [&] {
    trio.expect<Ended>(n2, End{Shutdown::immediate});
    trio.expect<Configured>(n2, Configure{});
    bool began = false;
    trio[n2].perform({{1'000'000}, Begin{}}, [&](const Happening& happening) {
      if (const auto* failed = std::get_if<Failed>(&happening.what)) BOOST_ERROR(failed->why);
      began = true;
    });
    trio.run_until([&] {
      return trio[n2].pid() && takes_connections(trio.options(n2).data, *trio[n2].pid());
    });
    Client early = trio.client(n2);
    const bool in_time =
        answers_while_stopped(trio, startup_of(trio, n2), early,
                              "SELECT pg_last_wal_replay_lsn(), pg_last_wal_replay_lsn() >= "
                              "coalesce(pg_last_wal_receive_lsn(), '0/0')");
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

BOOST_FIXTURE_TEST_CASE(names_by_alter_system_are_found_and_said, Led, *on_postgres) {
  BOOST_REQUIRE(trio.client(n1).ask("ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (n2)'"));
  trio.expect<Configured>(n1, Configure{});
  const std::string why = trio.expect_failure(n1, ShowNames{Names::sealed});
  BOOST_TEST(why.find("postgresql.auto.conf, not from muster.conf: ALTER SYSTEM RESET") !=
             std::string::npos);
}

}  // namespace
}  // namespace muster::postgres::tests
