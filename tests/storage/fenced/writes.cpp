#include "fixture.hpp"

#include <limits>
#include <map>
#include <stdexcept>

// The promises of a fenced store to a single user: which group may write, and what the store
// contains after a write.

namespace muster::test {
namespace {

using storage::FencedStore;
using storage::is_fenced_off;

BOOST_FIXTURE_TEST_SUITE(fenced, FencedFixture)

BOOST_AUTO_TEST_CASE(a_new_store_holds_nothing_and_has_seen_nobody) {
  const auto store = open();
  BOOST_TEST(!store->read("key").value().has_value());
  BOOST_TEST(!store->highest().value().has_value());
}

BOOST_AUTO_TEST_CASE(what_was_written_is_there_when_it_is_opened_again) {
  open()->write(group(3, 2), "key", Bytes{std::string("a\0b", 3)}).value();
  const auto again = open();
  BOOST_TEST(again->read("key").value() == Bytes{std::string("a\0b", 3)});
  BOOST_TEST(again->highest().value() == group(3, 2));
}

BOOST_AUTO_TEST_CASE(a_smaller_group_number_is_refused_and_both_are_named) {
  const auto store = open();
  store->write(group(5, 3), "key", Bytes{"new"}).value();
  for (const GroupNumber& old : {group(4, 9), group(5, 2), group(0, 0)}) {
    const auto refused = store->write(old, "key", Bytes{"old"});
    BOOST_TEST_REQUIRE(refused.has_error());
    BOOST_TEST(is_fenced_off(refused.error()));
    const std::string& what = refused.error().what;
    const std::string number =
        std::to_string(old.counter) + '.' + std::to_string(old.coordinator.value);
    BOOST_TEST(what.starts_with("group " + number + " is refused because "), what);
    BOOST_TEST(what.find("has seen the newer group 5.3") != std::string::npos, what);
    BOOST_TEST(what.find(file.string()) != std::string::npos, what);
  }
  BOOST_TEST(store->read("key").value() == Bytes{"new"});
  BOOST_TEST(store->highest().value() == group(5, 3));
}

BOOST_AUTO_TEST_CASE(work_of_the_past_is_not_even_begun) {
  const auto store = open();
  store->write(group(5, 3), "key", Bytes{"new"}).value();
  bool begun = false;
  const auto refused = store->apply(group(5, 2), [&](auto&) {
    begun = true;
    return Expected<>();
  });
  BOOST_TEST(refused.has_error());
  BOOST_TEST(!begun);
}

BOOST_AUTO_TEST_CASE(the_refusal_outlives_the_process) {
  open()->write(group(5, 3), "key", Bytes{"new"}).value();
  BOOST_TEST(is_fenced_off(open()->write(group(5, 2), "key", Bytes{"old"}).error()));
}

BOOST_AUTO_TEST_CASE(an_equal_group_number_is_accepted_and_a_greater_one_too) {
  const auto store = open();
  for (const GroupNumber& by : {group(5, 3), group(5, 3), group(5, 4), group(6, 1), group(6, 1)})
    store->write(by, "key", Bytes{std::to_string(by.counter)}).value();
  BOOST_TEST(store->read("key").value() == Bytes{"6"});
}

// SQLite has no unsigned numbers, so group counters above the largest signed number are a special
// case.
BOOST_AUTO_TEST_CASE(the_greatest_numbers_are_compared_as_what_they_are) {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  const auto store = open();
  store->write(group(most / 2, 1), "key", Bytes{"1"}).value();
  store->write(group(most / 2 + 1, 1), "key", Bytes{"2"}).value();
  store->write(group(most, 4'000'000'000), "key", Bytes{"3"}).value();
  BOOST_TEST(is_fenced_off(store->write(group(1, 1), "key", Bytes{"4"}).error()));
  BOOST_TEST(open()->highest().value() == group(most, 4'000'000'000));
}

BOOST_AUTO_TEST_CASE(each_name_has_its_own_cells_and_its_own_fence) {
  const auto a = open({.name = "a"});
  const auto b = open({.name = "b"});
  a->write(group(9, 1), "key", Bytes{"of a"}).value();
  b->write(group(1, 1), "key", Bytes{"of b"}).value();
  BOOST_TEST(a->read("key").value() == Bytes{"of a"});
  BOOST_TEST(b->read("key").value() == Bytes{"of b"});
  BOOST_TEST(b->highest().value() == group(1, 1));
}

BOOST_AUTO_TEST_CASE(work_that_fails_or_throws_has_changed_nothing_and_raised_nothing) {
  const auto store = open();
  store->write(group(1, 1), "key", Bytes{"before"}).value();
  const auto failed = store->apply(group(2, 1), [](FencedStore::Transaction& cells) -> Expected<> {
    cells.write("key", Bytes{"half"}).value();
    return Failure{ExitCode::does_not_hold, "no more chalk"};
  });
  BOOST_TEST(failed.error().what == "no more chalk");
  BOOST_CHECK_THROW(store->apply(group(2, 1),
                                 [](FencedStore::Transaction& cells) -> Expected<> {
                                   cells.erase("key").value();
                                   throw std::runtime_error("no more chalk");
                                 }),
                    std::runtime_error);
  BOOST_TEST(store->read("key").value() == Bytes{"before"});
  BOOST_TEST(store->highest().value() == group(1, 1));
  store->write(group(1, 1), "key", Bytes{"after"}).value();
}

BOOST_AUTO_TEST_CASE(cells_are_scanned_by_prefix_in_their_order_and_erased) {
  const auto store = open();
  std::map<std::string, std::string> seen;
  store
      ->apply(group(1, 1),
              [&](FencedStore::Transaction& cells) -> Expected<> {
                for (const char* key : {"b2", "a", "b10", "b1", "c"})
                  cells.write(key, Bytes{key}).value();
                cells.erase("b2").value();
                return cells.scan("b", [&](std::string_view key, const Bytes& value) {
                  seen.emplace(key, value.data);
                });
              })
      .value();
  const std::map<std::string, std::string> expected{{"b1", "b1"}, {"b10", "b10"}};
  BOOST_TEST(seen == expected);
}

BOOST_AUTO_TEST_CASE(a_key_or_value_beyond_the_limits_is_refused_and_the_store_goes_on) {
  const auto store = open();
  BOOST_TEST(store->write(group(1, 1), std::string(513, 'k'), Bytes{}).has_error());
  BOOST_TEST(store->write(group(1, 1), "k", Bytes{std::string(1024 * 1024 + 1, 'v')}).has_error());
  store->write(group(1, 1), std::string(512, 'k'), Bytes{std::string(1024 * 1024, 'v')}).value();
}

// The log is checkpointed into the file again and again, so it does not grow for ever.
BOOST_AUTO_TEST_CASE(many_writes_leave_a_log_of_bounded_size) {
  const auto store = open();
  for (int i = 0; i < 40; ++i)
    store->write(group(1, 1), "key", Bytes{std::string(1024 * 1024, static_cast<char>(i))}).value();
  BOOST_TEST(std::filesystem::file_size(file.string() + "-wal") < 10u * 1024 * 1024);
  BOOST_TEST(
      (store->read("key").value() == Bytes{std::string(1024 * 1024, static_cast<char>(39))}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::test
