#pragma once

#include <muster/safe_storage.hpp>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace MUSTER_EXPORT muster {
namespace net {

/// The only thread that uses a node's safe storage. The protocol's saves are done before the
/// application's reads and writes. The reads and writes are done in the order of their requests.
/// Each save and each write is a commit of its own.
///
/// Members may be called from any thread. Each callback is called once, on the storage thread, in
/// order. If `most_waiting` reads and writes wait already, a further request blocks its caller.
class StorageThread {
  using Work = std::function<void(SafeStorage&)>;
  struct Queues {
    std::mutex mutex;  // guards everything below
    std::condition_variable more;
    std::condition_variable room;
    std::deque<Work> saves;
    std::deque<Work> cells;
    bool ending = false;
    std::thread::id thread;
  };

 public:
  using Cells = std::vector<std::pair<std::string, Bytes>>;
  static constexpr std::size_t most_waiting = 1024;

  /// `storage` has to outlive this object. While this object exists, nothing else may use
  /// `storage`.
  explicit StorageThread(SafeStorage& storage);
  StorageThread(const StorageThread&) = delete;
  StorageThread& operator=(const StorageThread&) = delete;
  /// Finishes all requests.
  ~StorageThread();

  void save(SafeState safe, std::function<void(Expected<>)> saved);
  void write(CellBatch batch, std::function<void(Expected<>)> written);
  /// A write of the node's own cells. It never blocks, as it is called on the strand.
  void write_own(CellBatch batch, std::function<void(Expected<>)> written);
  /// All cells whose key begins with `prefix`, in the order of the keys.
  void scan(std::string prefix, std::function<void(Expected<Cells>)> scanned);

  /// The access of one life of an application to the cells. A request blocks its caller in the same
  /// case as a request to StorageThread. `shut` does not block.
  class Door {
   public:
    explicit Door(StorageThread& thread) : queues_(thread.queues_) {}
    Door(const Door&) = delete;
    Door& operator=(const Door&) = delete;
    ~Door() { shut(); }

    /// `write` and `scan` do the same as those of StorageThread. After `shut` their callbacks are
    /// not called, and a caller that is blocked returns.
    void write(CellBatch batch, std::function<void(Expected<>)> written);
    void scan(std::string prefix, std::function<void(Expected<Cells>)> scanned);

    void shut();
    [[nodiscard]] bool is_open() const;

   private:
    const std::shared_ptr<Queues> queues_;
    bool open_ = true;  ///< guarded by the mutex of the queues
  };

 private:
  static constexpr std::size_t unbounded = static_cast<std::size_t>(-1);

  /// Puts work into a queue when there is room for it, unless `open` becomes false.
  static void put(Queues& queues, std::deque<Work> Queues::*queue, Work work, std::size_t most,
                  const bool& open);
  void run();

  SafeStorage& storage_;
  const std::shared_ptr<Queues> queues_;  ///< doors may outlive this object
  std::thread thread_;                    // last, as it uses all of the above
};

}  // namespace net
}  // namespace muster
