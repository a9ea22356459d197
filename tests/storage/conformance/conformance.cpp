#include "storage/temporary_directory.hpp"
#include "storage/values.hpp"
#include "words.hpp"

#include <muster/storage/limits.hpp>
#include <muster/storage/memory_storage.hpp>
#include <muster/storage/sqlite_storage.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <ostream>

// The promises that every implementation of SafeStorage must keep (assumption 4 of the paper).

namespace muster::test {
namespace {

/// The place of a storage. A test opens the storage there again each time that a node comes back.
struct Place {
  virtual ~Place() = default;
  virtual std::unique_ptr<SafeStorage> open() = 0;
};

struct MemoryPlace final : Place {
  std::unique_ptr<SafeStorage> open() override {
    return std::make_unique<storage::MemoryStorage>(kept);
  }
  std::shared_ptr<storage::MemoryCells> kept = std::make_shared<storage::MemoryCells>();
};

struct SqlitePlace final : Place {
  std::unique_ptr<SafeStorage> open() override {
    return storage::SqliteStorage::open(directory.path() / "n3", {"demo", NodeId{3}}).value();
  }
  TemporaryDirectory directory;
};

struct Factory {
  const char* name;
  std::unique_ptr<Place> (*make)();
  friend std::ostream& operator<<(std::ostream& out, const Factory& factory) {
    return out << factory.name;
  }
};

const Factory factories[] = {
    {"memory", []() -> std::unique_ptr<Place> { return std::make_unique<MemoryPlace>(); }},
    {"sqlite", []() -> std::unique_ptr<Place> { return std::make_unique<SqlitePlace>(); }},
};

const auto every_storage = boost::unit_test::data::make(factories);

BOOST_DATA_TEST_CASE(a_new_store_holds_nothing, every_storage, factory) {
  const auto place = factory.make();
  const auto storage = place->open();
  BOOST_TEST(storage->load().value() == SafeState{});
  BOOST_TEST(cells_of(*storage).empty());
  BOOST_TEST(!storage->read("key").value().has_value());
}

BOOST_DATA_TEST_CASE(what_was_saved_is_loaded, every_storage, factory) {
  const auto place = factory.make();
  const auto storage = place->open();
  for (std::uint64_t number = 1; number < 60; ++number) {
    BOOST_REQUIRE(storage->save(safe_state(number, number * 500)).has_value());
    BOOST_TEST(storage->load().value() == safe_state(number, number * 500));
  }
}

BOOST_DATA_TEST_CASE(what_was_saved_is_there_in_the_next_life, every_storage, factory) {
  const auto place = factory.make();
  for (std::uint64_t number = 1; number < 6; ++number) {
    const auto storage = place->open();
    BOOST_TEST(storage->load().value() == (number == 1 ? SafeState{} : safe_state(number - 1)));
    BOOST_REQUIRE(storage->save(safe_state(number)).has_value());
  }
}

BOOST_DATA_TEST_CASE(cells_are_written_and_erased_in_batches, every_storage, factory) {
  const auto place = factory.make();
  {
    const auto storage = place->open();
    BOOST_REQUIRE(storage->write(batch_of({{"a", "1"}, {"b", "2"}, {"c", "3"}})).has_value());
    CellBatch second = batch_of({{"a", "one"}, {"d", ""}});
    second.writes.push_back({"b", std::nullopt});
    second.writes.push_back({"never there", std::nullopt});
    BOOST_REQUIRE(storage->write(second).has_value());
    BOOST_REQUIRE(storage->write({}).has_value());
  }
  const auto storage = place->open();
  BOOST_TEST(cells_of(*storage) == (Cells{{"a", "one"}, {"c", "3"}, {"d", ""}}));
  BOOST_TEST(storage->read("a").value() == Bytes{"one"});
  BOOST_TEST(storage->read("d").value() == Bytes{""});
  BOOST_TEST(!storage->read("b").value().has_value());
}

BOOST_DATA_TEST_CASE(the_last_write_of_a_key_in_a_batch_counts, every_storage, factory) {
  const auto place = factory.make();
  const auto storage = place->open();
  CellBatch batch = batch_of({{"a", "1"}, {"a", "2"}, {"b", "1"}});
  batch.erase("b");
  BOOST_REQUIRE(storage->write(batch).has_value());
  BOOST_TEST(cells_of(*storage) == (Cells{{"a", "2"}}));
}

BOOST_DATA_TEST_CASE(keys_and_values_are_any_bytes, every_storage, factory) {
  const auto place = factory.make();
  const std::string zero("\0", 1);
  const Cells cells = {{"", "empty key"},
                       {zero, zero},
                       {zero + "a", "after a zero"},
                       {"\xff", "last byte"},
                       {"\xff\xff\xff", std::string("\xff\0\n'\"", 5)}};
  CellBatch batch;
  for (const auto& [key, value] : cells) batch.write(key, value);
  {
    const auto storage = place->open();
    BOOST_REQUIRE(storage->write(batch).has_value());
  }
  const auto storage = place->open();
  BOOST_TEST(cells_of(*storage) == cells);
  BOOST_TEST(cells_of(*storage, "\xff") == (Cells{{"\xff", "last byte"}, *cells.rbegin()}));
  BOOST_TEST(cells_of(*storage, zero).size() == 2U);
}

BOOST_DATA_TEST_CASE(a_scan_gives_the_keys_of_a_prefix_in_order, every_storage, factory) {
  const auto place = factory.make();
  const auto storage = place->open();
  BOOST_REQUIRE(
      storage->write(batch_of({{"b/10", ""}, {"b/1", ""}, {"a", ""}, {"b/2", ""}, {"b0", ""}}))
          .has_value());
  Words keys;
  storage->scan("b/", [&](std::string_view key, const Bytes&) { keys.emplace_back(key); }).value();
  BOOST_TEST(keys == (Words{"b/1", "b/10", "b/2"}));
}

BOOST_DATA_TEST_CASE(the_application_s_cells_and_the_state_do_not_touch_each_other, every_storage,
                     factory) {
  const auto place = factory.make();
  {
    const auto storage = place->open();
    storage->write(batch_of({{"safe", "cell"}})).value();
    storage->save(safe_state(1)).value();
    storage->write(batch_of({{"record", "cell"}})).value();
  }
  const auto storage = place->open();
  BOOST_TEST(storage->load().value() == safe_state(1));
  BOOST_TEST(cells_of(*storage) == (Cells{{"record", "cell"}, {"safe", "cell"}}));
}

BOOST_DATA_TEST_CASE(the_largest_key_and_value_are_kept, every_storage, factory) {
  const auto place = factory.make();
  const std::string key(storage::longest_key, 'k');
  const std::string value(storage::largest_value, 'v');
  {
    const auto storage = place->open();
    BOOST_REQUIRE(storage->write(batch_of({{key, value}})).has_value());
  }
  BOOST_TEST(place->open()->read(key).value() == Bytes{value});
}

BOOST_DATA_TEST_CASE(beyond_the_limits_nothing_of_a_batch_is_written, every_storage, factory) {
  const auto place = factory.make();
  const auto storage = place->open();
  const std::string key(storage::longest_key + 1, 'k');
  const std::string value(storage::largest_value + 1, 'v');
  for (const auto& [cell, size] :
       {std::pair(std::pair(key, std::string("v")), "513 bytes"),
        std::pair(std::pair(std::string("k"), value), "1048577 bytes")}) {
    const auto refused = storage->write(batch_of({{"a", "1"}, cell}));
    BOOST_REQUIRE(refused.has_error());
    BOOST_TEST(refused.error().code == ExitCode::hook_failed);
    BOOST_TEST(refused.error().what.find(size) != std::string::npos, refused.error().what);
  }
  // The application caused the error, so the storage goes on working.
  BOOST_TEST(cells_of(*storage).empty());
  BOOST_TEST(storage->write(batch_of({{"a", "1"}})).has_value());
  BOOST_TEST(storage->save(safe_state(1)).has_value());
}

}  // namespace
}  // namespace muster::test
