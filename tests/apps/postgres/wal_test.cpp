#include "apps/postgres/server/wal.hpp"
#include "apps/postgres/server/data_on_disk.hpp"
#include "apps/postgres/trio.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <fstream>

/// The files of a log as the reader and as PostgreSQL see them.

namespace muster::postgres::tests {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t size_of_file = 1U << 20;

std::string bytes_of(const fs::path& file) {
  return read_text(file).value().value();
}

/// The files of one timeline, in their order.
std::vector<fs::path> files_of(const fs::path& data, const std::string& timeline) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(data / "pg_wal"))
    if (const std::string name = entry.path().filename();
        name.size() == 24 && name.starts_with(timeline))
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

Lsn begin_of(const fs::path& file) {
  return {std::stoull(file.filename().string().substr(16), nullptr, 16) * size_of_file};
}

/// The end of the log in these files, and the file in which it ends.
std::pair<Lsn, fs::path> end_of(const std::vector<fs::path>& files) {
  std::pair<Lsn, fs::path> found;
  for (const fs::path& file : files) {
    const Lsn begin = begin_of(file), end = good_log(bytes_of(file), begin).end;
    if (end > begin) found = {end, file};
    if (end.value < begin.value + size_of_file) break;
  }
  return found;
}

void overwrite(const fs::path& file, std::uint64_t at, const std::string& bytes) {
  std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
  out.seekp(static_cast<std::streamoff>(at));
  out << bytes;
}

// A primary is killed at any time, and then started as a standby of nobody, which replays to the
// end of its log. In every second round some bytes of the last records are lost.
BOOST_FIXTURE_TEST_CASE(a_log_ends_where_postgresql_finds_its_end, WithTable, *on_postgres) {
  const fs::path data = trio.options(n1).data;
  const std::string row = std::string(200, 'x');
  BOOST_REQUIRE(trio.client(n1).ask("CREATE TABLE rows (row text)"));
  for (unsigned round = 0; round < 12; ++round) {
    Client client = trio.client(n1);
    BOOST_REQUIRE(client.ask("SET default_transaction_read_only = off"));
    BOOST_REQUIRE(client.ask("SET synchronous_commit = local"));
    BOOST_REQUIRE(client.ask("INSERT INTO rows SELECT '" + row + "' FROM generate_series(1, " +
                             std::to_string(100 + 777 * round) + ")"));
    const std::string timeline =
        client.value("SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8)");
    trio.expect<Ended>(n1, End{Shutdown::immediate});
    auto [end, file] = end_of(files_of(data, timeline));
    if (round % 2 != 0) {
      const std::uint64_t last = end.value - begin_of(file).value,
                          lost = std::min(last, 37UL * round);
      overwrite(file, last - lost, std::string(lost, '\0'));
      end = end_of(files_of(data, timeline)).first;
    }
    const DataOnDisk disk = read_data_on_disk(data).value();
    trio.expect<Began>(n1, Begin{});
    const Holding holding = trio.expect<Seen>(n1, Look{}).holding;
    BOOST_TEST(to_text(end) == to_text(holding.lsn));
    BOOST_TEST(to_text(disk.end) == to_text(holding.lsn));
    BOOST_TEST(disk.timeline == holding.timeline);
    BOOST_TEST(disk.system == holding.system);
    BOOST_TEST(disk.lacks == "");
    trio.lead(n1, {round + 2, n3});
  }
}

// A file that cannot be read is no end of the log.
BOOST_FIXTURE_TEST_CASE(a_file_of_the_log_that_cannot_be_read_is_told, WithTable, *on_postgres) {
  using std::filesystem::perms;
  const fs::path data = trio.options(n1).data;
  BOOST_REQUIRE(trio.client(n1).ask("SELECT pg_switch_wal()"));
  BOOST_REQUIRE(trio.client(n1).ask("INSERT INTO written VALUES (1)"));
  trio.expect<Ended>(n1, End{Shutdown::immediate});
  const DataOnDisk disk = read_data_on_disk(data).value();
  const std::string name = name_of_file(disk.timeline, disk.end.value / size_of_file, size_of_file);
  fs::permissions(data / "pg_wal" / name, perms::none);
  const auto unreadable = read_data_on_disk(data);
  BOOST_REQUIRE(!unreadable);
  BOOST_TEST(unreadable.error().what ==
             "cannot read " + (data / "pg_wal" / name).string() + ": Permission denied");
  BOOST_TEST(!read_messages(data / "pg_wal", disk.timeline, disk.end,
                            [](const LogPart&) { return true; }));
  fs::permissions(data / "pg_wal" / name, perms::owner_read | perms::owner_write);
  BOOST_TEST(read_data_on_disk(data).value().end == disk.end);
}

/// A standby that has all commits of its primary in the file in which the next timeline begins.
struct BeforeNextTimeline : WithTable {
  BeforeNextTimeline() {
    BOOST_REQUIRE(trio.client(n1).ask("SELECT pg_switch_wal()"));
    BOOST_REQUIRE(trio.client(n1).ask("INSERT INTO written SELECT generate_series(1, 3000)"));
    trio.let_catch_up(n1);
    trio.expect<Ended>(n1, End{Shutdown::immediate});
    trio.stop(n2, false);
    held = trio.stop(n3, false).lsn;
    trio.expect<Ended>(n3, End{Shutdown::immediate});
    trio.lead(n2, {2, n3});
  }

  /// Gives node 3 the first bytes of the file in which the timeline of node 2 begins, as if it had
  /// been killed while it fetched that file.
  fs::path fetch(std::size_t size) {
    const fs::path from = trio.options(n2).data / "pg_wal", to = trio.options(n3).data / "pg_wal";
    const std::string timeline = "00000003";  // node 1 has begun the second one
    fs::copy_file(from / (timeline + ".history"), to / (timeline + ".history"),
                  fs::copy_options::overwrite_existing);
    const fs::path file = files_of(trio.options(n2).data, timeline).front();
    std::string bytes = bytes_of(file).substr(0, size);
    bytes.resize(size_of_file);
    BOOST_REQUIRE(write_durably(to / file.filename(), bytes));
    return to / file.filename();
  }

  Lsn held;
};

BOOST_FIXTURE_TEST_CASE(a_file_of_the_next_timeline_that_came_in_part_loses_nothing,
                        BeforeNextTimeline, *on_postgres) {
  for (const std::size_t size : {8192U, 40'000U, 100'003U}) {
    const fs::path file = fetch(size);
    trio.expect<Began>(n3, Begin{});
    BOOST_TEST(!fs::exists(file));
    BOOST_TEST(fs::exists(file.string() + ".short"));
    BOOST_TEST(trio.expect<Seen>(n3, Look{}).holding.lsn == held);
    BOOST_TEST(trio.client(n3).value("SELECT count(*) FROM written") == "3000");
    trio.expect<Ended>(n3, End{Shutdown::immediate});
  }
}

BOOST_FIXTURE_TEST_CASE(a_file_of_the_next_timeline_that_came_whole_stays, BeforeNextTimeline,
                        *on_postgres) {
  const fs::path file = fetch(size_of_file);
  trio.expect<Began>(n3, Begin{});
  BOOST_TEST(fs::exists(file));
  BOOST_TEST(trio.expect<Seen>(n3, Look{}).holding.lsn > held);
}

}  // namespace
}  // namespace muster::postgres::tests
