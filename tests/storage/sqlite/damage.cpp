#include "storage/store_fixture.hpp"

// The store distinguishes power cuts from damage by a disk. The tests of all other damage are in
// power/damage.cpp.

namespace muster::test {
namespace {

struct Damage : StoreFixture {
  Damage() {
    small.log_pages = 100;  // small files, so that damage is likely to hit data
    const auto store = open(small).value();
    for (std::uint64_t number = 1; number <= 8; ++number) {
      store->save(safe_state(number, 200)).value();
      store->write(batch_of({{"cell/" + std::to_string(number), std::string(300, 'c')}})).value();
    }
    cells = cells_of(*store);
    safe = store->load().value();
  }

  // The position at which the log's last commit begins. Damage after this position looks like a
  // power cut.
  [[nodiscard]] std::size_t last_commit() const {
    constexpr std::size_t frame = 4096 + 24;
    const std::string bytes = bytes_of(log);
    std::size_t begin = 32;
    std::size_t after = 32;
    for (std::size_t at = 32; at + frame <= bytes.size(); at += frame) {
      if (bytes.compare(at + 8, 8, bytes, 16, 8) != 0) break;  // a frame of an earlier round
      if (bytes.compare(at + 4, 4, std::string(4, '\0')) == 0) continue;
      begin = after;
      after = at + frame;
    }
    return begin;
  }

  storage::OpenOptions small;
  SafeState safe;
  Cells cells;
};

BOOST_FIXTURE_TEST_CASE(no_changed_bit_of_the_header_of_the_log_does, Damage) {
  const std::string whole = bytes_of(log);
  for (std::size_t byte = 0; byte < 32; ++byte) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[byte] = static_cast<char>(damaged[byte] ^ (1 << bit));
      put_bytes(log, damaged);
      BOOST_TEST_CONTEXT("bit " << bit << " of byte " << byte)
      require_refused({"safe.sqlite"}, ExitCode::storage_refused, small);
    }
  }
}

BOOST_FIXTURE_TEST_CASE(a_header_that_was_cut_off_is_a_power_cut, Damage) {
  // All data is in the main file, and the next commit restarts the log.
  { const auto again = open(small).value(); }
  const std::string before = bytes_of(log);
  {
    const auto store = open(small).value();
    safe = safe_state(9, 200);
    store->save(safe).value();
  }
  const std::string file_before = bytes_of(file);
  const std::string after = bytes_of(log);
  BOOST_REQUIRE(before.substr(0, 32) != after.substr(0, 32));
  safe = safe_state(8, 200);
  for (std::size_t written = 0; written < 32; ++written) {
    put_bytes(file, file_before);
    put_bytes(log, after.substr(0, written) + before.substr(written));
    // Opens the store twice: the life that restarts the log must leave a log with which the store
    // can be opened again.
    for (int life = 0; life < 2; ++life) {
      const auto store = open(small);
      BOOST_REQUIRE_MESSAGE(store, written << ": " << store.error().what);
      BOOST_TEST(((*store)->load().value() == safe), written);
      BOOST_TEST(cells_of(**store) == cells);
    }
  }
}

BOOST_FIXTURE_TEST_CASE(a_log_that_ends_in_the_last_commit_is_a_power_cut, Damage) {
  std::string bytes = bytes_of(log);
  bytes[last_commit() + 100] = static_cast<char>(bytes[last_commit() + 100] ^ 1);
  put_bytes(log, bytes);
  const auto store = open(small).value();
  cells.erase("cell/8");
  BOOST_TEST(cells_of(*store) == cells);
  BOOST_TEST(store->load().value() == safe);
}

BOOST_FIXTURE_TEST_CASE(every_truncation_is_refused, Damage) {
  { const auto again = open(small).value(); }
  for (const std::filesystem::path& path : {file, log}) {
    const auto before = content();
    const std::string bytes = bytes_of(path);
    for (std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{99}, std::size_t{100},
                             std::size_t{4095}, std::size_t{4096}, std::size_t{4096 * 3}}) {
      put_bytes(path, bytes.substr(0, size));
      require_refused({path.string()});
      for (const auto& [name, content_before] : before) put_bytes(directory / name, content_before);
    }
  }
}

}  // namespace
}  // namespace muster::test
