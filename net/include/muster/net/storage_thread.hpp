#pragma once

#include <muster/safe_storage.hpp>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace muster::net {

/// The one thread that uses a node's safe storage. The protocol's saves go before the application's
/// reads and writes, which keep their order among themselves; each is a commit of its own. Members
/// may be called from any thread; what they are given is called on the storage thread, in order,
/// once. Where `most_waiting` reads and writes wait already, asking for another waits too.
class StorageThread {
 public:
  using Cells = std::vector<std::pair<std::string, Bytes>>;
  static constexpr std::size_t most_waiting = 1024;

  /// `storage` outlives this and is used by nobody else meanwhile.
  explicit StorageThread(SafeStorage& storage);
  StorageThread(const StorageThread&) = delete;
  StorageThread& operator=(const StorageThread&) = delete;
  /// Finishes what was asked for.
  ~StorageThread();

  void save(SafeState safe, std::function<void(Expected<>)> saved);
  void write(CellBatch batch, std::function<void(Expected<>)> written);
  /// The same for the few cells of a node's own, whose strand may not be kept waiting.
  void write_own(CellBatch batch, std::function<void(Expected<>)> written);
  /// All cells whose key begins with `prefix`, in the order of the keys.
  void scan(std::string prefix, std::function<void(Expected<Cells>)> scanned);

 private:
  static constexpr std::size_t unbounded = static_cast<std::size_t>(-1);

  [[nodiscard]] std::function<void()> writing(CellBatch batch,
                                              std::function<void(Expected<>)> written);
  void put(std::deque<std::function<void()>>& queue, std::function<void()> work, std::size_t most);
  void run();

  SafeStorage& storage_;
  std::mutex mutex_;  // guards the queues and ending_
  std::condition_variable more_;
  std::condition_variable room_;
  std::deque<std::function<void()>> saves_;
  std::deque<std::function<void()>> cells_;
  bool ending_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace muster::net
