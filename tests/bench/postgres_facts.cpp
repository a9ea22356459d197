#include "apps/postgres/trio.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>

/// What takes many tries to be seen of PostgreSQL, or is a time: each case prints its line.
///
///     ./dev bench postgres_facts [--run_test=seal*]        TRIES=200 by default

namespace muster::postgres::tests {
namespace {

using Clock = std::chrono::steady_clock;

unsigned tries() {
  const char* const text = std::getenv("TRIES");
  return text == nullptr ? 200 : static_cast<unsigned>(std::atoi(text));
}

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

void say(const std::string& what, std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const auto at = [&](double part) {
    return times[static_cast<std::size_t>(part * static_cast<double>(times.size() - 1))];
  };
  std::cout << what << ": " << times.size() << " times, median " << at(0.5) << " ms, p95 "
            << at(0.95) << ", most " << at(1) << "\n";
}

constexpr const char* walsenders =
    "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'walsender'";

/// Reload, terminate, wait: without looking whether the reload has come about.
void seal_naively(Trio& trio, Client& client) {
  trio.expect<Configured>(n1, Configure{});
  const auto pids = client.ask(
      "SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity"
      " WHERE backend_type = 'walsender'");
  std::string list = "0";
  for (const Row& row : pids->rows) list += "," + text_in(row, 0);
  const std::string left = "SELECT count(*) FROM pg_stat_activity WHERE pid IN (" + list + ")";
  trio.run_until([&] { return client.value(left) == "0"; });
}

void seal(Trio& trio) {
  trio.expect<Configured>(n1, Configure{});
  trio.expect<NamesShown>(n1, ShowNames{Names::sealed});
  trio.expect<WalsendersGone>(n1, EndWalsenders{});
}

/// In how many of the tries something was acknowledged after the walsenders were gone.
unsigned count_leaks(bool naive) {
  Trio trio;
  trio.begin_group(n1, {1, n3});
  trio.make_table(n1);
  const Writers writers(trio, n1);
  Client client = trio.client(n1);
  std::vector<double> times;
  unsigned leaks = 0;
  for (unsigned i = 0; i < tries(); ++i) {
    const std::size_t before = writers.acknowledged();
    trio.run_until([&] { return writers.acknowledged() > before + 20 + i % 7; });
    const auto begin = Clock::now();
    if (naive)
      seal_naively(trio, client);
    else
      seal(trio);
    times.push_back(ms_since(begin));
    const std::size_t sealed = writers.acknowledged();
    trio.run_until([&] { return client.value(walsenders) == "2"; });
    trio.expect<Kicked>(n1, Kick{});
    trio.let_catch_up(n1);
    leaks += writers.acknowledged() != sealed ? 1 : 0;
    trio.expect<NamesShown>(n1, ShowNames{Names::sealed});
    trio.unseal(n1);
  }
  say(naive ? "naive seal" : "seal", times);
  return leaks;
}

BOOST_AUTO_TEST_CASE(seal_in_order) {
  const unsigned leaks = count_leaks(false);
  std::cout << "seal: acknowledged afterwards in " << leaks << " of " << tries() << "\n";
  BOOST_TEST(leaks == 0U);
}

BOOST_AUTO_TEST_CASE(seal_naive) {
  const unsigned leaks = count_leaks(true);
  std::cout << "naive seal: acknowledged afterwards in " << leaks << " of " << tries() << "\n";
}

BOOST_AUTO_TEST_CASE(promotion) {
  for (const unsigned megabytes : {1U, 4U, 16U}) {
    std::vector<double> times;
    Trio trio(3, {}, megabytes);
    trio.expect<Began>(n1, Begin{});
    for (unsigned i = 0; i < 10; ++i) {
      const auto begin = Clock::now();
      trio.expect<Promoted>(n1, Promote{});
      times.push_back(ms_since(begin));
      trio.expect<TermWritten>(n1, WriteTerm{{i + 1, n3}});
      trio.expect<Ended>(n1, End{Shutdown::fast});
      trio.expect<Began>(n1, Begin{});
    }
    say("promotion, segments of " + std::to_string(megabytes) + " MB", times);
  }
}

BOOST_AUTO_TEST_CASE(release) {
  for (const bool kick : {true, false}) {
    Trio trio;
    trio.begin_group(n1, {1, n3});
    trio.make_table(n1);
    std::vector<double> times;
    for (unsigned i = 0; i < 10; ++i) {
      trio.expect<Configured>(n1, Configure{});
      trio.expect<NamesShown>(n1, ShowNames{Names::sealed});
      Client waiting = trio.client(n1);
      BOOST_REQUIRE(waiting.ask("SET default_transaction_read_only = off"));
      waiting.put("INSERT INTO written VALUES (1)");
      Client other = trio.client(n1);
      trio.run_until([&] {
        return other.value("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") ==
               "1";
      });
      trio.expect<Configured>(n1, Configure{{Names::open, {}, false, {}}});
      trio.expect<NamesShown>(n1, ShowNames{Names::open});
      const auto begin = Clock::now();
      if (kick) trio.expect<Kicked>(n1, Kick{});
      trio.run_until([&] { return waiting.outcome.has_value(); });
      times.push_back(ms_since(begin));
    }
    say(kick ? "released by a kick" : "released without one", times);
  }
}

/// A primary under writers is shut down: whether what it has is what the freshest other has, and
/// nothing is lost at that one.
BOOST_AUTO_TEST_CASE(shutdown) {
  const unsigned times = std::max(1U, tries() / 10);
  for (const auto how : {Shutdown::fast, Shutdown::immediate}) {
    unsigned same = 0;
    unsigned lost = 0;
    for (unsigned i = 0; i < times; ++i) {
      Trio trio;
      trio.begin_group(n1, {1, n3});
      trio.make_table(n1);
      const Writers writers(trio, n1);
      trio.run_until([&] { return writers.acknowledged() > 100; });
      trio.expect<Ended>(n1, End{how});
      const Holding second = trio.stop(n2, false);
      const Holding third = trio.stop(n3, false);
      trio.expect<Began>(n1, Begin{});
      const Holding first = trio.expect<Seen>(n1, Look{}).holding;
      same += first.lsn <= std::max(second.lsn, third.lsn) ? 1 : 0;
      const auto there = written_at(trio, third.lsn > second.lsn ? n3 : n2);
      for (const std::uint64_t number : writers.numbers()) lost += there.count(number) == 0 ? 1 : 0;
    }
    std::cout << (how == Shutdown::fast ? "fast" : "immediate")
              << " shutdown of a primary that is written to: its log is a beginning of the "
                 "freshest other's in "
              << same << " of " << times << ", acknowledged commits lost " << lost << "\n";
    BOOST_TEST(lost == 0U);
  }
}

}  // namespace
}  // namespace muster::postgres::tests
