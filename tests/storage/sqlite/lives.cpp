#include "child.hpp"
#include "storage/forwarding_files.hpp"
#include "storage/store_fixture.hpp"

#include <sys/stat.h>

// One store and many processes: which process has it open, and what a killed process leaves behind.

namespace muster::test {
namespace {

namespace fs = std::filesystem;

BOOST_FIXTURE_TEST_SUITE(who_holds_it, StoreFixture)

BOOST_AUTO_TEST_CASE(a_second_process_is_told_the_pid_of_the_first) {
  Child holder([&](int pipe) {
    const auto store = open();
    tell(pipe, store.has_value() ? 1 : 0);
    return ::pause();
  });
  BOOST_REQUIRE(holder.next() == 1U);
  require_refused({"is in use by process " + std::to_string(holder.pid())}, ExitCode::temporary);
  holder.kill();
  BOOST_TEST(open().has_value());
}

BOOST_AUTO_TEST_CASE(a_second_store_in_one_process_is_refused_as_well) {
  const auto store = open().value();
  require_refused({"is in use by process " + std::to_string(::getpid())}, ExitCode::temporary);
  BOOST_TEST(store->save(safe_state(1)).has_value());
}

BOOST_AUTO_TEST_CASE(the_lock_names_its_holder_while_it_is_held) {
  {
    const auto store = open().value();
    BOOST_TEST(bytes_of(directory / "lock") == std::to_string(::getpid()) + "\n");
  }
  BOOST_TEST(bytes_of(directory / "lock").empty());
  put_bytes(directory / "lock", "1\n");  // left by a process that was killed
  const auto store = open().value();
  BOOST_TEST(bytes_of(directory / "lock") == std::to_string(::getpid()) + "\n");
}

// If the lock file is missing, SQLite's own lock still excludes a second process.
BOOST_AUTO_TEST_CASE(a_lock_that_was_removed_does_not_let_a_second_process_in) {
  Child holder([&](int pipe) {
    const auto store = open();
    tell(pipe, 1);
    return ::pause();
  });
  BOOST_REQUIRE(holder.next() == 1U);
  fs::remove(directory / "lock");
  require_refused({"is in use by another process"}, ExitCode::temporary);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(what_is_left, StoreFixture)

BOOST_AUTO_TEST_CASE(a_killed_process_leaves_all_that_it_acknowledged) {
  std::uint64_t acknowledged = 0;
  for (std::uint64_t life = 1; life <= 10; ++life) {
    Child node([&](int pipe) {
      storage::OpenOptions options;
      options.log_pages = 20;
      const auto store = open(options).value();
      for (std::uint64_t number = acknowledged + 1;; ++number) {
        if (!store->save(safe_state(number, number % 9 * 1000))) return 4;
        if (!store->write(batch_of({{"n", std::to_string(number)}}))) return 5;
        if (number % 3 == 0) store->tend();
        tell(pipe, number);
      }
    });
    for (std::uint64_t told = 0; told < life * 7; ++told) {
      const auto number = node.next();
      BOOST_REQUIRE(number.has_value());
      acknowledged = *number;
    }
    node.kill();
    while (const auto number = node.next()) acknowledged = *number;
    const auto store = open().value();
    const std::uint64_t saved = store->load().value().incarnation.value;
    BOOST_TEST((saved == acknowledged || saved == acknowledged + 1));
    BOOST_TEST(store->load().value() == safe_state(saved, saved % 9 * 1000));
    const std::uint64_t written = std::stoull(store->read("n").value().value().data);
    BOOST_TEST((written == acknowledged || written == acknowledged + 1));
    acknowledged = std::max(saved, written);
  }
}

BOOST_AUTO_TEST_CASE(what_is_tended_has_its_log_back_in_the_file_and_goes_on) {
  storage::OpenOptions options;
  options.log_pages = 40;
  {
    const auto store = open(options).value();
    store->save(safe_state(1)).value();
    store->tend();
    const std::string before = bytes_of(file);
    for (std::uint64_t number = 2; number <= 8; ++number) store->save(safe_state(number)).value();
    BOOST_TEST(bytes_of(file) == before);
    store->tend();
    BOOST_TEST(bytes_of(file) != before);
    store->save(safe_state(9)).value();
  }
  BOOST_TEST(open(options).value()->load().value() == safe_state(9));
}

// Kills the process before the step of this number.
struct KilledBefore final : ForwardingFiles {
  explicit KilledBefore(int wanted) : number(wanted) {}
  void before(std::string_view) override {
    if (--number == 0) ::raise(SIGKILL);
  }
  int number;
};

BOOST_AUTO_TEST_CASE(a_process_killed_while_it_makes_a_store_leaves_none_or_a_whole_one) {
  int killed = 0;
  int whole = 0;
  for (int step = 1;; ++step) {
    fs::remove_all(directory);
    Child node([&](int) {
      KilledBefore files(step);
      storage::OpenOptions options;
      options.files = &files;
      return open(options) ? 0 : 4;
    });
    if (const int code = node.wait(); code >= 0) {
      BOOST_TEST(code == 0);
      break;
    }
    ++killed;
    whole += fs::exists(file) ? 1 : 0;
    const auto store = open();
    BOOST_REQUIRE_MESSAGE(store.has_value(), "step " << step << ": " << store.error().what);
    BOOST_TEST((*store)->load().value() == SafeState{});
    BOOST_TEST(!fs::exists(directory / "safe.sqlite.new"));
  }
  BOOST_TEST(killed >= 7);  // steps: directory, lock, parent, create, sync, rename, directory, log
  BOOST_TEST(whole >= 1);
}

BOOST_AUTO_TEST_CASE(a_half_made_file_is_cleaned_away) {
  make(1);
  put_bytes(directory / "safe.sqlite.new", "half of a sto");
  fs::permissions(directory / "safe.sqlite.new", fs::perms::owner_read | fs::perms::owner_write);
  BOOST_TEST(open().value()->load().value() == safe_state(1));
  BOOST_TEST(!fs::exists(directory / "safe.sqlite.new"));
}

BOOST_AUTO_TEST_CASE(modes_do_not_depend_on_the_umask) {
  const mode_t before = ::umask(0);
  make(1);
  ::umask(before);
  struct stat found {};
  for (const char* name : {"safe.sqlite", "safe.sqlite-wal", "lock"}) {
    BOOST_REQUIRE(::stat((directory / name).c_str(), &found) == 0);
    BOOST_TEST((found.st_mode & 07777U) == 0600U);
  }
  BOOST_REQUIRE(::stat(directory.c_str(), &found) == 0);
  BOOST_TEST((found.st_mode & 07777U) == 0700U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::test
