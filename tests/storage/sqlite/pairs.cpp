#include "storage/store_fixture.hpp"

// A main file and a log that do not belong together, and the messages about such pairs.

namespace muster::test {
namespace {

namespace fs = std::filesystem;

/// Two lives, and both files as they were at the end of each.
struct Pairs : StoreFixture {
  Pairs() {
    for (std::uint64_t life = 1; life <= 2; ++life) {
      const auto store = open().value();
      for (std::uint64_t number = 1; number <= 3; ++number)
        store->save(safe_state(10 * life + number)).value();
      files.push_back(bytes_of(file));
      logs.push_back(bytes_of(log));
    }
  }

  std::vector<std::string> files, logs;
};

BOOST_FIXTURE_TEST_SUITE(a_file_and_a_log, Pairs)

BOOST_AUTO_TEST_CASE(of_two_stores_are_refused) {
  StoreFixture other;
  other.identity.node = NodeId{1};
  other.make();
  put_bytes(log, bytes_of(other.log));
  require_refused({"safe.sqlite-wal", "--initialise"});
  StoreFixture namesake;
  namesake.make();
  put_bytes(log, bytes_of(namesake.log));
  require_refused({"safe.sqlite-wal belongs to another store", "--initialise"});
}

// Such a log cannot be read, and no power cut can leave a log in this state.
BOOST_AUTO_TEST_CASE(of_which_the_log_is_something_else_are_refused) {
  for (const std::string& something : {files[1], std::string(logs[1].size(), 'x')}) {
    put_bytes(log, something + logs[1].substr(0, 1));
    require_refused({"safe.sqlite-wal is not a log", "--initialise"});
  }
}

BOOST_AUTO_TEST_CASE(of_which_the_log_is_another_store_s_with_a_damaged_header_are_refused) {
  StoreFixture namesake;
  namesake.make();
  std::string bytes = bytes_of(namesake.log);
  bytes[20] = static_cast<char>(bytes[20] ^ 1);
  put_bytes(log, bytes);
  require_refused({"safe.sqlite-wal belongs to another store", "--initialise"});
}

// The rest of the file can tell the node and the cluster, but no other data.
BOOST_AUTO_TEST_CASE(of_which_one_is_another_s_and_the_other_cut_off_are_refused) {
  StoreFixture other;
  other.identity.node = NodeId{1};
  StoreFixture namesake;
  for (const StoreFixture* writer : {&other, &namesake}) {
    writer->make();
    put_bytes(log, bytes_of(writer->log));
    for (std::size_t size = 4096; size < files[1].size(); size += 4096) {
      put_bytes(file, files[1].substr(0, size));
      require_refused({"--initialise"});
    }
  }
}

BOOST_AUTO_TEST_CASE(of_which_the_log_is_older_are_refused) {
  { const auto third_life = open().value(); }  // all commits are in the file
  put_bytes(log, logs[0]);
  require_refused({"safe.sqlite-wal is older than the file beside it", "commits 5 to 7"});
}

BOOST_AUTO_TEST_CASE(of_which_the_file_is_older_are_refused) {
  put_bytes(file, files[0]);
  require_refused({"safe.sqlite is older than the log beside it", "commits 2 to 4", "neither has"});
}

// The whole directory comes from one backup. It looks like the store of a node that has been down
// since the backup. Only peers can know better.
BOOST_AUTO_TEST_CASE(of_one_moment_are_taken) {
  put_bytes(file, files[0]);
  put_bytes(log, logs[0]);
  BOOST_TEST(open().value()->load().value() == safe_state(13));
}

BOOST_AUTO_TEST_CASE(of_which_the_log_has_lost_more_than_one_commit_are_refused) {
  std::string bytes = logs[1];
  bytes[32 + 24 + 100] = static_cast<char>(bytes[32 + 24 + 100] ^ 1);  // in its first page
  put_bytes(log, bytes);
  require_refused({"safe.sqlite-wal is corrupt", "--initialise"});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::test
