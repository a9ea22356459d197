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

/// The one thread that uses a node's safe storage. The protocol's saves go before the application's
/// reads and writes, which keep their order among themselves; each is a commit of its own. Members
/// may be called from any thread; what they are given is called on the storage thread, in order,
/// once. Where `most_waiting` reads and writes wait already, asking for another waits too.
class StorageThread {
  using Work = std::function<void(SafeStorage&)>;
  struct Queues {
    std::mutex mutex;  // guards all below
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

  /// A way to the cells for one life of an application. Whoever asks through it may have to wait,
  /// as above; shutting it waits for nobody.
  class Door {
   public:
    explicit Door(StorageThread& thread) : queues_(thread.queues_) {}
    Door(const Door&) = delete;
    Door& operator=(const Door&) = delete;
    ~Door() { shut(); }

    /// As of the thread itself. Once it is shut nothing comes of them, and who waits goes on.
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

  /// Puts work into a queue, when there is room, unless it is not `open` any more.
  static void put(Queues& queues, std::deque<Work> Queues::*queue, Work work, std::size_t most,
                  const bool& open);
  void run();

  SafeStorage& storage_;
  const std::shared_ptr<Queues> queues_;  ///< doors may be there for longer than this
  std::thread thread_;                    // last: it uses all of the above
};

}  // namespace net
}  // namespace muster
