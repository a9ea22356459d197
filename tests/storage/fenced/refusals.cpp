#include "fixture.hpp"
#include "storage/whole_files.hpp"

#include <sqlite3.h>

// Files that are not a fenced store, and damaged fenced stores. Opening one fails and changes no
// byte.

namespace muster::test {
namespace {

using storage::FencedStore;

struct Refusals : FencedFixture {
  /// A store with one cell, all of it in the file and none in the log.
  void make() const {
    open()->write(group(3, 2), "key", Bytes{"a value to be found"}).value();
    sql("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  /// Runs SQL with SQLite alone, as another program would.
  void sql(const char* text) const {
    sqlite3* connection = nullptr;
    BOOST_TEST_REQUIRE(sqlite3_open(file.c_str(), &connection) == SQLITE_OK);
    BOOST_TEST(sqlite3_exec(connection, text, nullptr, nullptr, nullptr) == SQLITE_OK);
    sqlite3_close(connection);
    std::filesystem::permissions(file, std::filesystem::perms(0600));
  }
  void check_refused(const std::string& words, ExitCode code = ExitCode::storage_refused) const {
    const std::string before = bytes_of(file);
    const auto refused = FencedStore::open(file);
    BOOST_TEST_REQUIRE(refused.has_error(), "not refused: " << words);
    BOOST_TEST((refused.error().code == code), refused.error().what);
    BOOST_TEST(refused.error().what.find(words) != std::string::npos, refused.error().what);
    BOOST_TEST(refused.error().what.find(temporary.path().string()) != std::string::npos);
    BOOST_TEST((bytes_of(file) == before), "it was touched");
  }
};

BOOST_FIXTURE_TEST_SUITE(fenced_refusals, Refusals)

BOOST_AUTO_TEST_CASE(a_file_that_is_no_database) {
  for (const std::string& bytes : {std::string(8192, 'x'), std::string()}) {
    put_bytes(file, bytes);
    check_refused("is not a fenced store");
  }
}

BOOST_AUTO_TEST_CASE(a_database_of_somebody_else) {
  sql("CREATE TABLE t(x)");
  check_refused("is not a fenced store");
}

// A program that set a group number back would let older groups write again.
BOOST_AUTO_TEST_CASE(one_that_another_program_has_changed) {
  const std::pair<const char*, const char*> changes[] = {
      {"PRAGMA user_version = 2", "has format 2, this program knows 1"},
      {"CREATE TABLE more(x)", "its tables are not those of a fenced store"},
      {"UPDATE fences SET counter = 2", "the checksum of a group number is wrong"},
  };
  for (const auto& [change, said] : changes) {
    const Refusals store;
    store.make();
    store.sql(change);
    store.sql("PRAGMA wal_checkpoint(TRUNCATE)");
    store.check_refused(said);
  }
}

BOOST_AUTO_TEST_CASE(one_that_was_cut_short) {
  make();
  const std::string whole = bytes_of(file);
  put_bytes(file, whole.substr(0, whole.size() - 4096));
  check_refused("is corrupt");
}

BOOST_AUTO_TEST_CASE(one_with_a_cell_that_was_changed) {
  make();
  std::string bytes = bytes_of(file);
  const std::size_t at = bytes.find("a value to be found");
  BOOST_TEST_REQUIRE(at != std::string::npos);
  bytes[at] = 'A';
  put_bytes(file, bytes);
  check_refused("the checksum of a cell is wrong");
}

BOOST_AUTO_TEST_CASE(one_whose_file_is_missing_but_not_its_log) {
  open()->write(group(3, 2), "key", Bytes{"value"}).value();
  std::filesystem::remove(file);
  check_refused("is missing, but jobs.sqlite-wal exists");
  BOOST_TEST(!std::filesystem::exists(file));
}

BOOST_AUTO_TEST_CASE(one_that_others_can_reach) {
  make();
  std::filesystem::permissions(file, std::filesystem::perms(0644));
  check_refused("is accessible to other users (mode 0644)");
}

BOOST_AUTO_TEST_CASE(a_symbolic_link) {
  make();
  std::filesystem::rename(file, temporary.path() / "elsewhere");
  std::filesystem::create_symlink(temporary.path() / "elsewhere", file);
  check_refused("is a symbolic link");
}

BOOST_AUTO_TEST_CASE(a_directory_that_is_not_there) {
  file = temporary.path() / "nowhere" / "jobs.sqlite";
  check_refused("nowhere", ExitCode::io_error);
}

BOOST_AUTO_TEST_CASE(one_that_is_removed_while_in_use_poisons_it) {
  const auto store = open();
  store->write(group(1, 1), "key", Bytes{"1"}).value();
  std::filesystem::remove(file);
  for (int again = 0; again < 2; ++again) {
    const auto failed = store->write(group(1, 1), "key", Bytes{"2"});
    BOOST_TEST_REQUIRE(failed.has_error());
    BOOST_TEST(failed.error().code == ExitCode::io_error);
    BOOST_TEST(failed.error().what.find("removed or replaced") != std::string::npos);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::test
