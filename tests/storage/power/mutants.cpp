#include "storage/power_trial.hpp"

#include <sqlite3.h>

#include <boost/test/unit_test.hpp>

#include <memory>

// Tests of the harness itself. The harness must detect settings of SQLite that are known to lose
// acknowledged data, and stores that forget a step.

namespace muster::test {
namespace {

/// A counter in a SQLite file: the smallest possible store, with any settings.
class Counter {
 public:
  Counter(SimulatedDisk& disk, const PowerCutVfs& vfs, std::vector<const char*> setting)
      : disk_(disk), vfs_(vfs), setting_(std::move(setting)) {}

  /// Makes the empty file durably.
  static void make(SimulatedDisk& disk) {
    SimulatedDisk::FilePtr file;
    disk.create("/disk/counter", false, file);
    disk.settle();
    disk.restart_process();
  }

  /// Adds one to the counter that many times, or until the first failure. Returns false if an
  /// acknowledged addition is missing.
  bool live(int times) {
    const Connection connection = open(vfs_);
    for (const char* pragma : setting_)
      if (!run(connection, pragma)) return disk_.off() || disk_.failed();
    if (!run(connection,
             "CREATE TABLE IF NOT EXISTS counter(n INTEGER);"
             "INSERT INTO counter SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM counter)"))
      return disk_.off() || disk_.failed();
    const std::int64_t found = read(connection);
    if (disk_.off()) return true;
    if (found < acknowledged_) return false;
    acknowledged_ = found;
    for (int i = 0; i < times && !disk_.off(); ++i) {
      const std::string sql = "UPDATE counter SET n = " + std::to_string(acknowledged_ + 1);
      if (!run(connection, sql.c_str())) return true;
      ++acknowledged_;
    }
    return true;
  }

  [[nodiscard]] std::int64_t acknowledged() const { return acknowledged_; }

 private:
  struct Close {
    void operator()(sqlite3* connection) const { sqlite3_close(connection); }
  };
  using Connection = std::unique_ptr<sqlite3, Close>;

  static Connection open(const PowerCutVfs& vfs) {
    sqlite3* connection = nullptr;
    sqlite3_open_v2("/disk/counter", &connection, SQLITE_OPEN_READWRITE, vfs.name().c_str());
    return Connection(connection);
  }
  static bool run(const Connection& connection, const char* sql) {
    return sqlite3_exec(connection.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK;
  }
  static std::int64_t read(const Connection& connection) {
    std::int64_t number = -1;
    sqlite3_exec(
        connection.get(), "SELECT n FROM counter",
        [](void* to, int, char** texts, char**) {
          *static_cast<std::int64_t*>(to) = std::strtoll(texts[0], nullptr, 10);
          return 0;
        },
        &number, nullptr);
    return number;
  }

  SimulatedDisk& disk_;
  const PowerCutVfs& vfs_;
  std::vector<const char*> setting_;
  std::int64_t acknowledged_ = 0;
};

struct Outcome {
  int cuts = 0;
  int lost = 0;
};

// Cuts the power in every I/O of two lives, with every fate.
Outcome cut_everywhere(const std::vector<const char*>& setting) {
  Outcome outcome;
  for (std::uint64_t number = 1; number <= 60; ++number) {
    for (std::size_t i = 0; i < std::size(cuts); ++i) {
      SimulatedDisk disk(number * 100 + i);
      disk.syncs_only_own_name = true;
      const PowerCutVfs vfs(disk);
      Counter::make(disk);
      Counter counter(disk, vfs, setting);
      disk.cut_power_in(number);
      bool holds = counter.live(8);
      for (int life = 0; life < 3 && holds; ++life) {
        disk.power_on(cuts[i].content, cuts[i].names);
        ++outcome.cuts;
        disk.cut_power_in(life == 2 ? 0 : number % 17 + 1);
        holds = counter.live(4);
      }
      outcome.lost += holds ? 0 : 1;
    }
  }
  BOOST_TEST_MESSAGE(outcome.lost << " of " << outcome.cuts << " lost");
  return outcome;
}

BOOST_AUTO_TEST_SUITE(settings)

BOOST_AUTO_TEST_CASE(the_setting_of_the_store_loses_nothing) {
  BOOST_TEST(cut_everywhere({"PRAGMA locking_mode = EXCLUSIVE", "PRAGMA synchronous = EXTRA",
                             "PRAGMA journal_mode = WAL", "PRAGMA synchronous = EXTRA"})
                 .lost == 0);
}

BOOST_AUTO_TEST_CASE(a_journal_deleted_without_syncing_its_directory_loses) {
  BOOST_TEST(cut_everywhere({"PRAGMA journal_mode = DELETE", "PRAGMA synchronous = FULL"}).lost >
             0);
}

BOOST_AUTO_TEST_CASE(a_log_switched_on_under_the_default_setting_loses) {
  BOOST_TEST(cut_everywhere({"PRAGMA journal_mode = WAL"}).lost > 0);
}

BOOST_AUTO_TEST_CASE(a_log_that_is_not_synced_loses) {
  BOOST_TEST(cut_everywhere({"PRAGMA locking_mode = EXCLUSIVE", "PRAGMA synchronous = EXTRA",
                             "PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL"})
                 .lost > 0);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(steps_of_the_store)

Tally cut_early(const Mutate& mutate) {
  Tally tally;
  for (std::uint64_t number = 1; number <= 40; ++number)
    tally.add(cut_power_in(number, 12, 2, mutate));
  return tally;
}

BOOST_AUTO_TEST_CASE(without_a_mutant_nothing_is_lost) {
  BOOST_TEST(cut_early({}).lost == 0U);
}

BOOST_AUTO_TEST_CASE(forgetting_to_sync_the_new_file_is_found) {
  BOOST_TEST(cut_early([](SimulatedDisk& disk) { disk.forgets_sync_file = true; }).lost > 0U);
}

BOOST_AUTO_TEST_CASE(forgetting_to_sync_directories_is_found) {
  BOOST_TEST(cut_early([](SimulatedDisk& disk) { disk.forgets_sync_directory = true; }).lost > 0U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::test
