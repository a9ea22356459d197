#include "words.hpp"

#include <muster/net/storage_thread.hpp>
#include <muster/storage/memory_storage.hpp>

#include <atomic>
#include <future>
#include <memory>
#include <new>
#include <utility>

/// The thread that uses a node's safe storage: the order of its operations, and its callbacks.

using namespace muster;
using namespace muster::test;
using net::StorageThread;
using storage::MemoryCells;
using storage::MemoryStorage;

namespace {

/// Safe storage that records its operations. If a test asks for it, the first operation blocks, so
/// that the test can queue other operations behind it. Its operations can also fail.
class WatchedStorage final : public SafeStorage {
 public:
  explicit WatchedStorage(bool waits = false) : waits_(waits) {}

  Expected<SafeState> load() override { return inner_.load(); }
  Expected<> save(const SafeState& safe) override {
    note("save " + std::to_string(safe.incarnation.value));
    if (lacks_memory) throw std::bad_alloc();
    if (fails) return Failure{ExitCode::io_error, "the disk is gone"};
    return inner_.save(safe);
  }
  Expected<> write(const CellBatch& batch) override {
    note("write " + batch.writes.at(0).key);
    if (fails) return Failure{ExitCode::io_error, "the disk is gone"};
    return inner_.write(batch);
  }
  Expected<std::optional<Bytes>> read(std::string_view key) override { return inner_.read(key); }
  Expected<> scan(std::string_view prefix,
                  const std::function<void(std::string_view, const Bytes&)>& visit) override {
    note("scan " + std::string(prefix));
    if (fails) return Failure{ExitCode::io_error, "the disk is gone"};
    return inner_.scan(prefix, visit);
  }

  void tend() override {
    if (tended == nullptr) return;
    done_when_tended = done.size();
    std::exchange(tended, nullptr)->set_value();
  }

  /// Waits until the first operation has begun.
  void await_first() { begun_.get_future().wait(); }
  void go_on() { go_on_.set_value(); }

  Words done;                            ///< read it only when the thread has ended
  std::vector<std::thread::id> threads;  ///< threads that have called it
  bool fails = false;
  bool lacks_memory = false;
  std::promise<void>* tended = nullptr;  ///< set at the first `tend`
  std::size_t done_when_tended = 0;

 private:
  void note(std::string what) {
    const bool first = done.empty();
    done.push_back(std::move(what));
    threads.push_back(std::this_thread::get_id());
    if (!first || !waits_) return;
    begun_.set_value();
    go_on_.get_future().wait();
  }

  MemoryStorage inner_;
  bool waits_;
  std::promise<void> begun_;
  std::promise<void> go_on_;
};

struct Held {
  WatchedStorage storage{true};
};

SafeState life(std::uint64_t incarnation) {
  SafeState safe;
  safe.incarnation = {incarnation};
  return safe;
}

CellBatch cell(std::string key, std::string value = "v") {
  return {std::move(key), std::move(value)};
}

const auto ignored = [](const auto&) {};

}  // namespace

BOOST_AUTO_TEST_SUITE(order)

BOOST_FIXTURE_TEST_CASE(a_save_goes_before_cells_that_were_asked_for_earlier, Held) {
  {
    StorageThread thread(storage);
    thread.write(cell("first"), ignored);
    storage.await_first();
    thread.write(cell("a"), ignored);
    thread.scan("b", ignored);
    thread.save(life(2), ignored);
    thread.write(cell("c"), ignored);
    thread.save(life(3), ignored);
    storage.go_on();
  }
  BOOST_TEST(storage.done ==
             (Words{"write first", "save 2", "save 3", "write a", "scan b", "write c"}));
}

BOOST_FIXTURE_TEST_CASE(a_save_waits_for_no_more_than_the_operation_that_runs, Held) {
  Words told;
  {
    StorageThread thread(storage);
    thread.write(cell("first"), [&](const Expected<>&) {
      told.push_back("first");
      thread.save(life(9), [&](const Expected<>&) { told.push_back("save"); });
    });
    storage.await_first();
    thread.write(cell("second"), [&](const Expected<>&) { told.push_back("second"); });
    storage.go_on();
  }
  BOOST_TEST(told == (Words{"first", "save", "second"}));
}

BOOST_FIXTURE_TEST_CASE(the_store_is_tended_when_all_that_was_asked_for_is_answered, Held) {
  std::promise<void> tended;
  storage.tended = &tended;
  Words told;
  {
    StorageThread thread(storage);
    thread.save(life(2), [&](const Expected<>&) { told.push_back("2"); });
    storage.await_first();
    thread.save(life(3), [&](const Expected<>&) { told.push_back("3"); });
    thread.write(cell("a"), [&](const Expected<>&) { told.push_back("a"); });
    storage.go_on();
    tended.get_future().wait();
  }
  BOOST_TEST(told == (Words{"2", "3", "a"}));
  BOOST_TEST(storage.done == (Words{"save 2", "save 3", "write a"}));
  BOOST_TEST(storage.done_when_tended == 3u);
}

BOOST_FIXTURE_TEST_CASE(cells_keep_their_order_and_a_scan_sees_what_was_written_before_it, Held) {
  std::vector<StorageThread::Cells> seen;
  {
    StorageThread thread(storage);
    const auto keep = [&](Expected<StorageThread::Cells> cells) { seen.push_back(cells.value()); };
    thread.scan("k", keep);
    storage.await_first();
    thread.write(cell("k2", "two"), ignored);
    thread.scan("k", keep);
    thread.write(cell("k1", "one"), ignored);
    thread.write(cell("other"), ignored);
    thread.write(CellBatch().erase("k2").write("k3", {"three"}), ignored);
    thread.scan("k", keep);
    storage.go_on();
  }
  BOOST_REQUIRE_EQUAL(seen.size(), 3u);
  BOOST_TEST(seen[0].empty());
  BOOST_TEST(seen[1] == (StorageThread::Cells{{"k2", Bytes{"two"}}}));
  BOOST_TEST(seen[2] == (StorageThread::Cells{{"k1", Bytes{"one"}}, {"k3", Bytes{"three"}}}));
}

BOOST_AUTO_TEST_CASE(each_is_told_once_when_it_is_durable) {
  const auto kept = std::make_shared<MemoryCells>();
  MemoryStorage storage(kept);
  std::vector<std::uint64_t> saved;
  {
    StorageThread thread(storage);
    for (std::uint64_t life_number = 1; life_number <= 100; ++life_number)
      thread.save(life(life_number), [&, life_number](const Expected<>& result) {
        BOOST_CHECK(result);
        BOOST_CHECK_EQUAL(kept->safe.incarnation.value, life_number);
        saved.push_back(life_number);
      });
  }
  BOOST_REQUIRE_EQUAL(saved.size(), 100u);
  for (std::uint64_t at = 0; at < saved.size(); ++at) BOOST_TEST(saved[at] == at + 1);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(failures)

// The thread does not try again. The code that receives the failure ends the process.
BOOST_AUTO_TEST_CASE(a_failure_is_delivered_to_the_one_who_asked) {
  WatchedStorage storage;
  storage.fails = true;
  std::vector<Failure> failures;
  const auto keep = [&](const auto& result) {
    BOOST_REQUIRE(!result);
    failures.push_back(result.error());
  };
  {
    StorageThread thread(storage);
    thread.save(life(1), keep);
    thread.write(cell("k"), keep);
    thread.scan("k", keep);
  }
  BOOST_REQUIRE_EQUAL(failures.size(), 3u);
  for (const Failure& failure : failures) {
    BOOST_TEST(failure.code == ExitCode::io_error);
    BOOST_TEST(failure.what == "the disk is gone");
  }
  BOOST_TEST(storage.done.size() == 3u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(its_end)

BOOST_FIXTURE_TEST_CASE(the_destructor_finishes_what_was_asked_for, Held) {
  int told = 0;
  auto thread = std::make_unique<StorageThread>(storage);
  thread->save(life(1), [&](const Expected<>&) { ++told; });
  storage.await_first();
  for (int at = 0; at < 10; ++at) {
    thread->write(cell("k" + std::to_string(at)), [&](const Expected<>&) { ++told; });
    thread->save(life(2), [&](const Expected<>&) { ++told; });
  }
  std::thread end([&] { thread.reset(); });
  storage.go_on();
  end.join();
  BOOST_TEST(told == 21);
  BOOST_TEST(storage.done.size() == 21u);
}

BOOST_FIXTURE_TEST_CASE(what_is_asked_for_while_it_ends_is_finished_too, Held) {
  bool told = false;
  {
    StorageThread thread(storage);
    thread.save(life(1), [&](const Expected<>&) {
      thread.write(cell("k"), [&](const Expected<>&) { told = true; });
    });
    storage.await_first();
    storage.go_on();
  }
  BOOST_TEST(told);
}

BOOST_AUTO_TEST_CASE(one_without_work_ends) {
  MemoryStorage storage;
  const StorageThread thread(storage);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(threads)

BOOST_AUTO_TEST_CASE(one_thread_uses_the_storage_for_all_that_ask) {
  WatchedStorage storage;
  std::atomic<int> told = 0;
  {
    StorageThread thread(storage);
    std::vector<std::thread> askers;
    for (int asker = 0; asker < 4; ++asker)
      askers.emplace_back([&] {
        for (int at = 0; at < 100; ++at) {
          thread.save(life(1), [&](const Expected<>&) { ++told; });
          thread.write(cell("k"), [&](const Expected<>&) { ++told; });
          thread.scan("k", [&](const Expected<StorageThread::Cells>&) { ++told; });
        }
      });
    for (std::thread& asker : askers) asker.join();
  }
  BOOST_TEST(told == 1200);
  for (const std::thread::id& id : storage.threads) {
    BOOST_CHECK(id == storage.threads[0]);
    BOOST_CHECK(id != std::this_thread::get_id());
  }
}

// The destructor of a callback may ask for more work. If it ran under a lock of the thread, it
// would wait for itself for ever.
BOOST_AUTO_TEST_CASE(what_a_callback_holds_may_ask_for_more_as_it_is_destroyed) {
  struct AsksAtItsEnd {
    StorageThread& thread;
    std::promise<void>& told;
    ~AsksAtItsEnd() {
      thread.save(life(7), [&asked = told](const Expected<>&) { asked.set_value(); });
    }
  };
  MemoryStorage storage;
  std::promise<void> told;
  StorageThread thread(storage);
  thread.write(cell("k"), [held = std::make_shared<AsksAtItsEnd>(thread, told)](const Expected<>&) {
    BOOST_CHECK(held);
  });
  told.get_future().wait();
}

BOOST_FIXTURE_TEST_CASE(who_asks_for_more_than_may_wait_waits_too, Held) {
  constexpr std::size_t all = StorageThread::most_waiting + 100;
  std::atomic<std::size_t> asked = 0;
  {
    StorageThread thread(storage);
    thread.write(cell("first"), ignored);
    storage.await_first();
    std::thread asker([&] {
      for (; asked < all; ++asked) thread.write(cell("more"), ignored);
    });
    while (asked < StorageThread::most_waiting) std::this_thread::yield();
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();
    BOOST_TEST(asked == StorageThread::most_waiting);
    thread.save(life(2), ignored);  // the saves of the protocol do not wait for writes of cells
    thread.write_own(cell("own"), ignored);  // nor does its strand
    storage.go_on();
    asker.join();
  }
  BOOST_TEST(storage.done.size() == all + 3);
  BOOST_TEST(storage.done.at(1) == "save 2");
}

// If the door is shut while a caller waits there, the caller goes on and its request is dropped.
BOOST_FIXTURE_TEST_CASE(a_door_that_is_shut_lets_go_who_waits_there, Held) {
  {
    StorageThread thread(storage);
    StorageThread::Door door(thread);
    door.write(cell("first"), ignored);
    storage.await_first();
    std::atomic<std::size_t> asked = 0;
    std::thread asker([&] {
      for (; asked < StorageThread::most_waiting + 1; ++asked) door.write(cell("more"), ignored);
    });
    while (asked < StorageThread::most_waiting) std::this_thread::yield();
    door.shut();
    asker.join();
    BOOST_TEST(!door.is_open());
    door.scan("more", ignored);
    storage.go_on();
  }
  BOOST_TEST(storage.done.size() == StorageThread::most_waiting + 1);
}

BOOST_AUTO_TEST_CASE(storage_that_gets_no_memory_has_failed) {
  WatchedStorage storage;
  storage.lacks_memory = true;
  std::promise<Expected<>> told;
  StorageThread thread(storage);
  thread.save(life(1), [&](const Expected<>& saved) { told.set_value(saved); });
  const Failure failure = failure_of(told.get_future().get());
  BOOST_TEST(failure.code == ExitCode::io_error);
  BOOST_TEST(says(failure.what, "no memory left"));
}

BOOST_AUTO_TEST_SUITE_END()
