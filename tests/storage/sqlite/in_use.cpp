#include "storage/store_fixture.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <set>

// Other programs interfere with an open store. After the first failure the store refuses every
// operation.

namespace muster::test {
namespace {

namespace fs = std::filesystem;

struct Open : StoreFixture {
  Open() : store(open().value()) { store->save(safe_state(1)).value(); }

  void require_stopped(const std::string& name) {
    const auto failed = store->save(safe_state(2));
    BOOST_REQUIRE(failed.has_error());
    BOOST_TEST((failed.error().code == ExitCode::io_error), failed.error().what);
    BOOST_TEST(failed.error().what.find(name + ": it was removed, renamed, linked or replaced") !=
                   std::string::npos,
               failed.error().what);
    // Checks that from now on every operation of the store fails.
    BOOST_TEST(store->write(batch_of({{"a", "1"}})).has_error());
    BOOST_TEST(store->load().has_error());
    BOOST_TEST(store->read("a").has_error());
    BOOST_TEST(store->scan({}, [](std::string_view, const Bytes&) {}).has_error());
    BOOST_TEST(store->save(safe_state(2)).error().what == failed.error().what);
  }

  std::unique_ptr<storage::SqliteStorage> store;
};

BOOST_FIXTURE_TEST_SUITE(a_store_stops_when, Open)

BOOST_AUTO_TEST_CASE(its_file_is_removed) {
  fs::remove(file);
  require_stopped("safe.sqlite");
}

BOOST_AUTO_TEST_CASE(its_file_is_renamed) {
  fs::rename(file, temporary.path() / "renamed");
  require_stopped("safe.sqlite");
  // The acknowledged data is in the renamed file.
  fs::rename(temporary.path() / "renamed", file);
  store.reset();
  BOOST_TEST(open().value()->load().value() == safe_state(1));
}

BOOST_AUTO_TEST_CASE(its_file_is_replaced) {
  fs::copy_file(file, temporary.path() / "copy");
  fs::rename(temporary.path() / "copy", file);
  require_stopped("safe.sqlite");
}

BOOST_AUTO_TEST_CASE(its_file_gets_a_second_name) {
  fs::create_hard_link(file, temporary.path() / "second name");
  require_stopped("safe.sqlite");
}

BOOST_AUTO_TEST_CASE(its_log_is_removed) {
  fs::remove(log);
  require_stopped("safe.sqlite-wal");
}

BOOST_AUTO_TEST_CASE(its_directory_is_renamed) {
  fs::rename(directory, temporary.path() / "renamed");
  require_stopped("safe.sqlite");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(an_open_store, Open)

BOOST_AUTO_TEST_CASE(is_reached_by_its_owner_alone) {
  const auto mode = [](const fs::path& path) { return fs::status(path).permissions(); };
  const auto own = fs::perms::owner_read | fs::perms::owner_write;
  BOOST_TEST(mode(directory) == fs::perms::owner_all);
  for (const char* name : {"safe.sqlite", "safe.sqlite-wal", "lock"})
    BOOST_TEST((mode(directory / name) == own), name);
}

BOOST_AUTO_TEST_CASE(is_made_of_three_files) {
  std::set<fs::path> names;
  for (const auto& entry : fs::directory_iterator(directory)) names.insert(entry.path().filename());
  BOOST_TEST(names == (std::set<fs::path>{"lock", "safe.sqlite", "safe.sqlite-wal"}));
}

BOOST_AUTO_TEST_CASE(is_not_handed_on_to_programs_that_are_started) {
  int descriptors = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const fs::path target = fs::read_symlink(entry.path(), gone);
    if (gone || target.parent_path() != directory) continue;
    ++descriptors;
    const int number = std::stoi(entry.path().filename().string());
    BOOST_TEST((::fcntl(number, F_GETFD) & FD_CLOEXEC) != 0, target);
  }
  BOOST_TEST(descriptors == 3);
}

// Commits overwrite reserved space, so no file grows while the disk may be full.
BOOST_AUTO_TEST_CASE(does_not_grow_by_saving) {
  const auto sizes = [&] { return std::pair(fs::file_size(file), fs::file_size(log)); };
  const auto before = sizes();
  for (std::uint64_t number = 2; number < 1500; ++number)
    store->save(safe_state(number, number % 2 == 0 ? 40 : 32768)).value();
  BOOST_TEST((sizes() == before));
  BOOST_TEST(store->load().value() == safe_state(1499, 32768));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::test
