#pragma once

#include "storage/temporary_directory.hpp"
#include "storage/values.hpp"
#include "storage/whole_files.hpp"

#include <muster/storage/inspect.hpp>
#include <muster/storage/sqlite_storage.hpp>

#include <boost/test/unit_test.hpp>

#include <map>
#include <string>

namespace muster::test {

/// A place for a store of node 3 of the cluster "demo", in a temporary directory.
struct StoreFixture {
  TemporaryDirectory temporary;
  std::filesystem::path directory = temporary.path() / "n3";
  std::filesystem::path file = directory / "safe.sqlite";
  std::filesystem::path log = directory / "safe.sqlite-wal";
  storage::Identity identity{"demo", NodeId{3}};

  Expected<std::unique_ptr<storage::SqliteStorage>> open(
      const storage::OpenOptions& options = {}) const {
    return storage::SqliteStorage::open(directory, identity, options);
  }

  /// Makes a store with that many lives and a cell.
  void make(std::uint64_t lives = 3) const {
    for (std::uint64_t life = 1; life <= lives; ++life) {
      const auto store = open().value();
      store->save(safe_state(life)).value();
      store->write(batch_of({{"cell", std::to_string(life)}})).value();
    }
  }

  /// The content of every file of the store, except the lock file.
  [[nodiscard]] std::map<std::string, std::string> content() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(directory))
      if (entry.path().filename() != "lock" && !entry.is_directory())
        files[entry.path().filename()] = bytes_of(entry.path());
    return files;
  }

  /// Checks that opening the store fails with that exit code and one line that contains these
  /// words, and changes nothing in the store.
  void require_refused(const std::vector<std::string>& words,
                       ExitCode code = ExitCode::storage_refused,
                       const storage::OpenOptions& options = {}) const {
    const auto before = content();
    const auto refused = open(options);
    BOOST_REQUIRE_MESSAGE(refused.has_error(), "not refused: " << words.front());
    const std::string& what = refused.error().what;
    BOOST_TEST((refused.error().code == code), what);
    for (const std::string& word : words)
      BOOST_TEST(what.find(word) != std::string::npos, "\"" << word << "\" is not in: " << what);
    BOOST_TEST(what.find('\n') == std::string::npos, what);
    BOOST_TEST(what.find(temporary.path().string()) != std::string::npos, what);
    BOOST_TEST((content() == before), "the store was touched: " << what);
    const auto verified = storage::verify(
        directory, [](std::string_view, const Bytes&) {}, &identity, options);
    BOOST_REQUIRE_MESSAGE(verified.has_error(), "not refused by verify: " << words.front());
    BOOST_TEST((verified.error().code == code), verified.error().what);
    BOOST_TEST(verified.error().what == what);
    BOOST_TEST((content() == before), "the store was touched by verify: " << what);
  }
};

}  // namespace muster::test
