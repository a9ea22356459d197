#include "apps/postgres/server/conf.hpp"
#include "apps/postgres/server/control_file.hpp"
#include "apps/postgres/server/data_on_disk.hpp"
#include "apps/postgres/server/marker.hpp"
#include "apps/postgres/server/wal.hpp"
#include "apps/postgres/trio.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <random>

/// Properties of PostgreSQL that only many tries can show, and durations. Each case prints one
/// line.
///
///     ./dev bench postgres_facts [--run_test=seal*]        TRIES=200 by default

namespace muster::postgres::tests {
namespace {

using Clock = std::chrono::steady_clock;

// The environment is root's until the tests become the user postgres.
const unsigned tries = [] {
  const char* const text = std::getenv("TRIES");
  return text == nullptr ? 200 : static_cast<unsigned>(std::atoi(text));
}();

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

constexpr const char* waiting =
    "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";

/// Seals a primary under four writers while its standbys try to come back. Counts the tries in
/// which a commit was acknowledged afterwards.
BOOST_AUTO_TEST_CASE(seal_in_order) {
  Trio trio;
  trio.begin_group(n1, {1, n3});
  trio.make_table(n1);
  const Writers writers(trio, n1);
  std::vector<double> times;
  unsigned leaks = 0;
  for (unsigned i = 0; i < tries; ++i) {
    const std::size_t before = writers.acknowledged();
    trio.run_until([&] { return writers.acknowledged() > before + 20 + i % 7; });
    const auto begin = Clock::now();
    trio.expect<GateClosed>(n1, CloseGate{});
    times.push_back(ms_since(begin));
    // A session that was released before can answer later. Its writer then sends the next commit.
    Client client = trio.client(n1);
    trio.run_until([&] { return client.value(waiting) == "4"; });
    const std::size_t sealed = writers.acknowledged();
    for (int kicks = 0; kicks < 20; ++kicks) trio.expect<Kicked>(n1, Kick{});
    leaks += writers.acknowledged() != sealed ? 1 : 0;
    trio.expect<MarkerWritten>(n1, WriteMarker{{1, n3}});
  }
  say("seal", times);
  std::cout << "seal: acknowledged afterwards in " << leaks << " of " << tries << "\n";
  BOOST_TEST(leaks == 0U);
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
      trio.expect<MarkerWritten>(n1, WriteMarker{{i + 1, n3}});
      trio.expect<Ended>(n1, End{Shutdown::fast});
      trio.expect<Began>(n1, Begin{});
    }
    say("promotion, segments of " + std::to_string(megabytes) + " MB", times);
  }
}

/// Reads a full file of the log to the end of its good log, as each start does with the file in
/// which a timeline begins.
BOOST_AUTO_TEST_CASE(good_log_of_a_file) {
  Trio trio(3, {}, 16);
  trio.begin_group(n1, {1, n3});
  trio.make_table(n1);
  Client client = trio.client(n1);
  const std::string file = client.value("SELECT pg_walfile_name(pg_current_wal_lsn())");
  while (client.value("SELECT pg_walfile_name(pg_current_wal_lsn())") == file)
    BOOST_REQUIRE(client.ask("INSERT INTO written SELECT generate_series(1, 20000)"));
  const std::string bytes = read_text(trio.options(n1).data / "pg_wal" / file).value().value();
  const Lsn begin{std::stoull(file.substr(16), nullptr, 16) * bytes.size()};
  std::vector<double> times;
  for (unsigned i = 0; i < 20; ++i) {
    const auto began = Clock::now();
    BOOST_REQUIRE(good_log(bytes, begin).end.value == begin.value + bytes.size());
    times.push_back(ms_since(began));
  }
  say("good log of a file of 16 MB", times);
}

/// Finds the marker of a primary, first directly before the end of its log, and then with a file of
/// other records behind it. Tells how much log a marker takes.
BOOST_AUTO_TEST_CASE(marker_of_a_log) {
  for (const unsigned megabytes : {1U, 16U}) {
    Trio trio(3, {}, megabytes);
    trio.begin_group(n1, {1, n3});
    trio.make_table(n1);
    const InstanceOptions options = trio.options(n1);
    const MarkedDatabase database{options.cluster, *system_identifier_in(options.data)};
    Client client = trio.client(n1);
    const auto size = std::to_string(megabytes) + " MB";
    const Lsn begin = *parse_lsn(client.value("SELECT pg_current_wal_flush_lsn()"));
    const Lsn end = trio.expect<MarkerWritten>(n1, WriteMarker{{1, n3}}).end;
    std::cout << "a marker takes " << end.value - begin.value << " bytes of log\n";
    for (const bool is_far : {false, true}) {
      const std::string file = client.value("SELECT pg_walfile_name(pg_current_wal_lsn())");
      while (is_far && client.value("SELECT pg_walfile_name(pg_current_wal_lsn())") == file)
        BOOST_REQUIRE(client.ask("INSERT INTO written SELECT generate_series(1, 2000)"));
      const Lsn until = *parse_lsn(client.value("SELECT pg_current_wal_flush_lsn()"));
      std::vector<double> times;
      for (unsigned i = 0; i < 20; ++i) {
        const auto began = Clock::now();
        const auto found =
            greatest_marker(options.data / "pg_wal", options.marker_keys, database, 2, until);
        BOOST_REQUIRE(found.value().value().term.group == (GroupNumber{1, n3}));
        times.push_back(ms_since(began));
      }
      say("marker in files of " + size + (is_far ? ", in the file before the last" : ""), times);
    }
  }
}

/// Shuts down a primary while clients write. Prints whether the log of the primary equals the log
/// of the freshest standby, and whether that standby lost nothing.
BOOST_AUTO_TEST_CASE(shutdown) {
  const unsigned times = std::max(1U, tries / 10);
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

/// Kills nodes at random times, and compares their files with the findings of their servers.
class Directories {
 public:
  explicit Directories(unsigned megabytes)
      : trio_(3,
              {{"max_wal_size", std::to_string(3 * megabytes) + "MB"},
               {"min_wal_size", std::to_string(2 * megabytes) + "MB"}},
              megabytes) {
    trio_.begin_group(n1, group_);
    trio_.make_table(n1);
  }

  void kill_one() {
    write();
    const NodeId node{1 + number_below(3)};
    if (number_below(3) == 0) BOOST_REQUIRE(trio_.client(node).ask("CHECKPOINT"));
    trio_.expect<Ended>(node, End{Shutdown::immediate});
    if (node == primary_) return number_below(2) == 0 ? lead_again() : lead_another();
    const unsigned way = number_below(4);
    if (way == 0) trio_.expect<Resynced>(node, Clone{primary_, group_});
    if (way == 1) tear(node);
    compare(node);
    trio_.follow(node, primary_, group_);
  }

  std::vector<double> times;
  unsigned compared = 0, same = 0, whole = 0, seem_not_whole = 0;

 private:
  unsigned number_below(unsigned end) { return static_cast<unsigned>(random_()) % end; }

  void write() {
    Writers writers(trio_, primary_);
    const std::size_t wanted = number_below(200);
    trio_.run_until([&] { return writers.acknowledged() >= wanted; });
    if (number_below(4) == 0)
      BOOST_REQUIRE(trio_.client(primary_).ask("INSERT INTO written SELECT generate_series(1, " +
                                               std::to_string(number_below(100'000)) + ")"));
  }

  /// The end of a sealed standby's log. Its holding leaves out log without a marker, and here no
  /// marker is repeated.
  Lsn end_of(NodeId node) {
    return parse_lsn(trio_.client(node).value("SELECT pg_last_wal_replay_lsn()")).value();
  }

  // In the order of a start: the server sees the files only after this repair.
  void compare(NodeId node) {
    const InstanceOptions options = trio_.options(node);
    BOOST_REQUIRE(move_short_files_aside(options.data / "pg_wal"));
    const auto began = Clock::now();
    const auto disk = read_data_on_disk(options.data);
    times.push_back(ms_since(began));
    BOOST_REQUIRE_MESSAGE(disk, disk.error().what);
    trio_.expect<Configured>(node, Configure{});
    trio_.expect<Began>(node, Begin{});
    const Holding holding = trio_.expect<Seen>(node, Look{}).holding;
    const Lsn end = end_of(node);
    BOOST_TEST(disk->timeline == holding.timeline);
    BOOST_TEST(to_text(disk->end) == to_text(end));
    ++compared;
    same += disk->end == end && disk->timeline == holding.timeline ? 1 : 0;
    ++(disk->lacks.empty() ? whole : seem_not_whole);
  }

  /// Loses the last bytes of the log, as a power failure does.
  void tear(NodeId node) {
    const auto data = trio_.options(node).data;
    BOOST_REQUIRE(move_short_files_aside(data / "pg_wal"));
    const auto disk = read_data_on_disk(data).value();
    const ControlFile control = read_control_file(data).value();
    const std::uint64_t size = control.size_of_log_file, last = (disk.end.value - 1) / size;
    // A standby that lacks log up to here is not consistent.
    const Lsn least = std::max({Lsn{last * size}, control.consistent_at, control.checkpoint});
    if (disk.end.value < least.value + 300) return;
    const std::uint64_t lost = number_below(200);
    std::fstream file(data / "pg_wal" / name_of_file(disk.timeline, last, size),
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(disk.end.value - last * size - lost));
    file << std::string(lost, '\0');
  }

  void lead_again() {
    const NodeId node = primary_;
    compare(node);
    lead(node);
  }

  void lead_another() {
    const NodeId former = primary_;
    NodeId node = former;
    while (node == former) node = NodeId{1 + number_below(3)};
    NodeId other{6 - former.value - node.value};
    trio_.stop(node, false);
    trio_.stop(other, false);
    if (end_of(node) < end_of(other)) std::swap(node, other);
    ++group_.counter;
    const Lsn marker = trio_.lead(node, group_);
    primary_ = node;
    trio_.follow(other, node, group_);
    trio_.open(node, marker);
    trio_.expect<Resynced>(former, Rewind{node});
    compare(former);
    trio_.follow(former, node, group_);
  }

  void lead(NodeId node) {
    for (const NodeId other : {n1, n2, n3})
      if (other != node) trio_.stop(other, false);
    ++group_.counter;
    const Lsn marker = trio_.lead(node, group_);
    for (const NodeId other : {n1, n2, n3})
      if (other != node) trio_.follow(other, node, group_);
    trio_.open(node, marker);
  }

  Trio trio_;
  std::mt19937 random_{1};
  NodeId primary_ = n1;
  GroupNumber group_{1, n3};
};

BOOST_AUTO_TEST_CASE(data_on_disk) {
  for (const unsigned megabytes : {1U, 16U, 64U}) {
    Directories directories(megabytes);
    while (directories.compared < tries / 3 + 1) directories.kill_one();
    const std::string files = "files of the log of " + std::to_string(megabytes) + " MB";
    say("data on disk, " + files, directories.times);
    std::cout << "data on disk, " << files << ": as the server finds it in " << directories.same
              << " of " << directories.compared << "; whole: " << directories.whole
              << ", copies that seem not whole: " << directories.seem_not_whole << "\n";
  }
}

}  // namespace
}  // namespace muster::postgres::tests
