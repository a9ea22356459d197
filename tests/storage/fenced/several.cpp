#include "child.hpp"
#include "fixture.hpp"

#include <thread>
#include <vector>

// Several threads and processes use one fenced store at the same time. The tests kill some of these
// processes.

namespace muster::test {
namespace {

using storage::FencedStore;
using storage::is_fenced_off;

/// Adds to the number until the store refuses the group. Returns the number of additions, or -1
/// after any other error.
int add_until_refused(const std::filesystem::path& file, const GroupNumber& by,
                      const std::function<void()>& added) {
  auto store = FencedStore::open(file);
  if (!store) return -1;
  for (int sum = 0;; ++sum) {
    const auto done = add_one(**store, by);
    if (!done) return is_fenced_off(done.error()) ? sum : -1;
    added();
  }
}

BOOST_FIXTURE_TEST_SUITE(fenced_among_several, FencedFixture)

// When the new coordinator has read the sum, the old one can add nothing more. So the sum must
// equal the number of additions that the store has acknowledged to the old coordinator.
BOOST_AUTO_TEST_CASE(the_old_group_ends_where_the_new_one_begins_in_threads) {
  const auto store = open();
  for (std::uint64_t round = 1; round <= 10; ++round) {
    const int before = sum_in(*store);
    int added = 0;
    std::jthread old([&] { added = add_until_refused(file, group(round, 1), [] {}); });
    while (sum_in(*store) < before + 3) std::this_thread::yield();
    const int sum = add_one(*store, group(round, 2)).value();
    old.join();
    BOOST_TEST(before + added + 1 == sum);
    BOOST_TEST(sum_in(*store) == sum);
  }
}

BOOST_AUTO_TEST_CASE(the_old_group_ends_where_the_new_one_begins_in_processes) {
  open();
  for (std::uint64_t round = 1; round <= 5; ++round) {
    Child old([&](int pipe) {
      const int added = add_until_refused(file, group(round, 1), [&] { tell(pipe, 1); });
      return added < 0 ? 255 : 0;
    });
    int heard = 0;
    while (heard < 3 && old.next()) ++heard;
    const auto store = open();
    const int sum = add_one(*store, group(round, 2)).value();
    while (old.next()) ++heard;
    BOOST_TEST(old.wait() == 0);
    BOOST_TEST(sum_in(*store) == sum);
    store
        ->apply(group(round, 2),
                [](FencedStore::Transaction& cells) { return cells.write("sum", Bytes{"0"}); })
        .value();
    BOOST_TEST(heard + 1 == sum);
  }
}

BOOST_AUTO_TEST_CASE(writers_of_one_group_wait_for_each_other) {
  open();
  constexpr int each = 25;
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < 3; ++i)
    children.push_back(std::make_unique<Child>([&](int) {
      auto store = FencedStore::open(file);
      for (int at = 0; store && at < each; ++at)
        if (!add_one(**store, group(1, 1))) return 1;
      return store ? 0 : 2;
    }));
  for (const auto& child : children) BOOST_TEST(child->wait() == 0);
  BOOST_TEST(sum_in(*open()) == 3 * each);
}

BOOST_AUTO_TEST_CASE(of_several_who_make_the_store_at_once_one_does_and_all_use_it) {
  for (int round = 0; round < 10; ++round) {
    std::filesystem::remove(file);
    std::filesystem::remove(file.string() + "-wal");
    std::filesystem::remove(file.string() + "-shm");
    std::vector<std::unique_ptr<Child>> children;
    for (int i = 0; i < 4; ++i)
      children.push_back(std::make_unique<Child>([&](int) {
        auto store = FencedStore::open(file);
        return store && add_one(**store, group(1, 1)) ? 0 : 1;
      }));
    for (const auto& child : children) BOOST_TEST(child->wait() == 0);
    BOOST_TEST(sum_in(*open()) == 4);
    BOOST_TEST(!std::filesystem::exists(file.string() + ".new"));
  }
}

// The writer is killed anywhere, mostly within a transaction. After that each transaction must be
// in the store as a whole or not at all, and the group number must fit the cells.
BOOST_AUTO_TEST_CASE(a_writer_that_is_killed_leaves_whole_transactions) {
  constexpr int cells_of_one = 40;
  open();
  for (std::uint64_t round = 1; round <= 20; ++round) {
    Child writer([&](int pipe) {
      auto store = FencedStore::open(file);
      if (!store) return 1;
      for (std::uint64_t counter = round * 1'000'000;; ++counter) {
        const auto done =
            (*store)->apply(group(counter, 1), [&](FencedStore::Transaction& cells) -> Expected<> {
              for (int at = 0; at < cells_of_one; ++at)
                if (auto put =
                        cells.write("cell" + std::to_string(at), Bytes{std::to_string(counter)});
                    !put)
                  return put.error();
              return {};
            });
        if (!done) return 2;
        tell(pipe, counter);
      }
    });
    for (std::uint64_t heard = 0; heard < std::max<std::uint64_t>(round % 4, 1); ++heard)
      BOOST_TEST_REQUIRE(writer.next().has_value());
    BOOST_TEST(writer.kill() == -SIGKILL);
    const auto store = open();
    const auto highest = store->highest().value();
    BOOST_TEST_REQUIRE(highest.has_value());
    for (int at = 0; at < cells_of_one; ++at)
      BOOST_TEST(store->read("cell" + std::to_string(at)).value() ==
                 Bytes{std::to_string(highest->counter)});
  }
}

BOOST_AUTO_TEST_CASE(who_waits_for_longer_than_its_patience_is_told_and_may_try_again) {
  const auto slow = open();
  const auto hurried = open({.patience = std::chrono::milliseconds(0)});
  slow->apply(group(1, 1),
              [&](FencedStore::Transaction& cells) {
                const auto refused = hurried->write(group(1, 1), "key", Bytes{"hurried"});
                BOOST_TEST_REQUIRE(refused.has_error());
                BOOST_TEST(refused.error().code == ExitCode::temporary);
                BOOST_TEST(!hurried->read("key").value().has_value());
                return cells.write("key", Bytes{"slow"});
              })
      .value();
  BOOST_TEST(hurried->read("key").value() == Bytes{"slow"});
  hurried->write(group(1, 1), "key", Bytes{"hurried"}).value();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::test
