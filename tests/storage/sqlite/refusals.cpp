#include "storage/forwarding_files.hpp"
#include "storage/store_fixture.hpp"

#include <directory.hpp>  // of storage/src

#include <sqlite3.h>

// Stores that are not opened: each refusal is one clear line, and no byte of the store changes.

namespace muster::test {
namespace {

namespace fs = std::filesystem;

// Changes a store as another program would, but does not change its log.
void run_sql(const fs::path& file, const std::string& sql) {
  sqlite3* connection = nullptr;
  BOOST_REQUIRE(sqlite3_open(file.c_str(), &connection) == SQLITE_OK);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  BOOST_TEST(sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK,
             sqlite3_errmsg(connection));
  sqlite3_close(connection);
}

BOOST_FIXTURE_TEST_SUITE(refused, StoreFixture)

BOOST_AUTO_TEST_CASE(another_node_s) {
  make();
  identity.node = NodeId{2};
  require_refused({"belongs to node 3 of cluster \"demo\", not to node 2"});
}

BOOST_AUTO_TEST_CASE(another_cluster_s) {
  make();
  identity.cluster = "production";
  require_refused({"cluster \"demo\"", "cluster \"production\"", "another directory"});
}

BOOST_AUTO_TEST_CASE(another_program_s) {
  fs::create_directory(directory);
  fs::permissions(directory, fs::perms::owner_all);
  run_sql(file, "CREATE TABLE t(x); INSERT INTO t VALUES(1)");
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  require_refused({"is not a store of Muster"});
}

BOOST_AUTO_TEST_CASE(not_sqlite_at_all) {
  make();
  put_bytes(file, "these are my notes\n");
  require_refused({"is not a store of Muster"});
}

BOOST_AUTO_TEST_CASE(empty) {
  make();
  put_bytes(file, "");
  require_refused({"is corrupt (it is empty)"});
}

BOOST_AUTO_TEST_CASE(of_a_newer_format) {
  make();
  put_bytes(file, bytes_of(file).replace(63, 1, 1, '\4'));  // user_version
  require_refused({"has format 4, this program knows 3", "start the newer program"});
}

BOOST_AUTO_TEST_CASE(of_a_format_that_never_was) {
  make();
  put_bytes(file, bytes_of(file).replace(63, 1, 1, '\0'));
  require_refused({"format 0 never existed"});
}

BOOST_AUTO_TEST_CASE(changed_by_another_program) {
  const std::pair<const char*, const char*> changes[] = {
      {"CREATE TRIGGER t AFTER UPDATE ON safe BEGIN DELETE FROM cells; END",
       "its tables are not those of a store of Muster"},
      {"UPDATE safe SET record = x'00'", "the checksum of its record is wrong"},
      {"DELETE FROM safe", "its record is missing"},
      {"UPDATE cells SET key = x'00'", "the checksum of a cell is wrong"},
      {"UPDATE identity SET node = 2", "the checksum of the identity is wrong"},
  };
  for (const auto& [sql, said] : changes) {
    make();
    run_sql(file, sql);
    require_refused({said});
    fs::remove_all(directory);
  }
}

BOOST_AUTO_TEST_CASE(truncated) {
  make();
  fs::resize_file(file, fs::file_size(file) - 4096);
  fs::resize_file(log, 0);
  require_refused({"is corrupt"});
}

BOOST_AUTO_TEST_CASE(without_its_log) {
  make();
  fs::remove(log);
  require_refused({"safe.sqlite-wal is missing, empty or truncated", "--initialise"});
}

BOOST_AUTO_TEST_CASE(a_log_without_its_store) {
  make();
  fs::remove(file);
  require_refused({"safe.sqlite is missing, but safe.sqlite-wal exists"});
}

BOOST_AUTO_TEST_CASE(with_a_journal_that_is_not_its_own) {
  make();
  put_bytes(directory / "safe.sqlite-journal", "\xd9\xd5\x05\xf9 and so on");
  fs::permissions(directory / "safe.sqlite-journal", fs::perms::owner_read);
  require_refused({"safe.sqlite-journal does not belong to the store"});
}

BOOST_AUTO_TEST_CASE(a_directory_that_others_can_reach) {
  make();
  fs::permissions(directory, fs::perms::owner_all | fs::perms::others_write);
  require_refused({"is accessible to other users (mode 0702)", "chmod 0700"});
  fs::permissions(directory, fs::perms::owner_all | fs::perms::group_read);
  require_refused({"mode 0740"});
}

BOOST_AUTO_TEST_CASE(files_that_others_can_reach) {
  make();
  for (const fs::path& path : {file, log, directory / "lock"}) {
    fs::permissions(path, fs::perms::others_write, fs::perm_options::add);
    require_refused({path.filename().string() + " is accessible to other users", "chmod 0600"});
    fs::permissions(path, fs::perms::others_write, fs::perm_options::remove);
  }
  BOOST_TEST(open().has_value());
}

BOOST_AUTO_TEST_CASE(symbolic_links) {
  make();
  for (const fs::path& path : {file, log, directory / "lock"}) {
    const fs::path elsewhere = temporary.path() / "elsewhere";
    fs::rename(path, elsewhere);
    fs::create_symlink(elsewhere, path);
    require_refused({path.filename().string() + " is a symbolic link"});
    fs::remove(path);
    fs::rename(elsewhere, path);
  }
  fs::rename(directory, temporary.path() / "moved");
  fs::create_directory_symlink(temporary.path() / "moved", directory);
  require_refused({"n3 is a symbolic link"});
  directory += "/";
  require_refused({"n3 is a symbolic link"});
}

BOOST_AUTO_TEST_CASE(hard_links) {
  make();
  fs::create_hard_link(file, temporary.path() / "second name");
  require_refused({"has 2 names (hard links)"});
}

BOOST_AUTO_TEST_CASE(what_is_no_file_or_no_directory) {
  put_bytes(directory, "a file");
  const auto refused = open();
  BOOST_REQUIRE(refused.has_error());
  BOOST_TEST(refused.error().what.find("is not a directory") != std::string::npos);
  fs::remove(directory);
  make();
  fs::remove(file);
  fs::create_directory(file);
  require_refused({"safe.sqlite is not an ordinary file"});
}

BOOST_AUTO_TEST_CASE(a_parent_that_is_not_there) {
  directory = temporary.path() / "none" / "n3";
  const auto refused = open();
  BOOST_REQUIRE(refused.has_error());
  BOOST_TEST(refused.error().code == ExitCode::bad_configuration);
  BOOST_TEST(refused.error().what.find("none does not exist") != std::string::npos);
}

// Passes each call on to the system, except those that ask about the file system.
struct OtherFileSystem final : ForwardingFiles {
  explicit OtherFileSystem(storage::FileSystemFacts tells) : facts(tells) {}
  Result<storage::FileSystemFacts> file_system(const Path&) override { return facts; }
  storage::FileSystemFacts facts;
};

BOOST_AUTO_TEST_CASE(network_file_systems_unless_forced) {
  make();
  storage::OpenOptions options;
  for (const auto& [type, name] : std::map<std::uint64_t, std::string>{
           {0x6969, "NFS"}, {0xFF534D42, "SMB"}, {0xFE534D42, "SMB"}, {0x65735546, "FUSE"}}) {
    OtherFileSystem files({type, std::uint64_t{1} << 30});
    options.files = &files;
    options.force_network_file_system = false;
    require_refused({"network file system (" + name + ")"}, ExitCode::storage_refused, options);
    options.force_network_file_system = true;
    BOOST_TEST(open(options).has_value());
  }
  for (const std::uint64_t local : {0xEF53U, 0x01021994U, 0x58465342U, 0x9123683EU, 0x794C7630U})
    BOOST_TEST(!storage::network_file_system(local).has_value());
}

BOOST_AUTO_TEST_CASE(too_little_room_is_said_in_bytes) {
  make();
  const auto length = fs::file_size(log);
  fs::resize_file(log, length - 4096);
  OtherFileSystem files({0xEF53, 12345});
  storage::OpenOptions options;
  options.files = &files;
  require_refused({"12345 bytes are free", std::to_string(4096 + 1024 * 1024) + " are needed"},
                  ExitCode::io_error, options);
  fs::remove_all(directory);
  const auto refused = open(options);
  BOOST_REQUIRE(refused.has_error());
  BOOST_TEST(refused.error().what.find("are needed") != std::string::npos);
  BOOST_TEST(!fs::exists(file));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::test
