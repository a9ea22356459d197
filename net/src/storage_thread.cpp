#include <muster/net/storage_thread.hpp>

namespace muster::net {

StorageThread::StorageThread(SafeStorage& storage)
    : storage_(storage), thread_([this] { run(); }) {}

StorageThread::~StorageThread() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  more_.notify_one();
  thread_.join();
}

void StorageThread::save(SafeState safe, std::function<void(Expected<>)> saved) {
  put(
      saves_,
      [this, safe = std::move(safe), saved = std::move(saved)] { saved(storage_.save(safe)); },
      unbounded);
}

void StorageThread::write(CellBatch batch, std::function<void(Expected<>)> written) {
  put(cells_, writing(std::move(batch), std::move(written)), most_waiting);
}

void StorageThread::write_own(CellBatch batch, std::function<void(Expected<>)> written) {
  put(cells_, writing(std::move(batch), std::move(written)), unbounded);
}

std::function<void()> StorageThread::writing(CellBatch batch,
                                             std::function<void(Expected<>)> written) {
  return [this, batch = std::move(batch), written = std::move(written)] {
    written(storage_.write(batch));
  };
}

void StorageThread::scan(std::string prefix, std::function<void(Expected<Cells>)> scanned) {
  put(
      cells_,
      [this, prefix = std::move(prefix), scanned = std::move(scanned)] {
        Cells cells;
        const Expected<> done = storage_.scan(
            prefix,
            [&](std::string_view key, const Bytes& value) { cells.emplace_back(key, value); });
        if (done)
          scanned(std::move(cells));
        else
          scanned(done.error());
      },
      most_waiting);
}

void StorageThread::put(std::deque<std::function<void()>>& queue, std::function<void()> work,
                        std::size_t most) {
  {
    std::unique_lock lock(mutex_);
    // What asks on this very thread, in a callback, would wait for itself.
    if (std::this_thread::get_id() != thread_.get_id())
      room_.wait(lock, [&] { return queue.size() < most; });
    queue.push_back(std::move(work));
  }
  more_.notify_one();
}

// Whenever it has a choice a save goes first: the protocol waits for it, with every other node.
void StorageThread::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    more_.wait(lock, [this] { return ending_ || !saves_.empty() || !cells_.empty(); });
    auto& queue = saves_.empty() ? cells_ : saves_;
    if (queue.empty()) return;
    {
      const std::function<void()> work = std::move(queue.front());
      queue.pop_front();
      lock.unlock();
      room_.notify_one();
      work();
    }  // what it holds ends without the lock: it may ask for more
    lock.lock();
    if (!saves_.empty() || !cells_.empty()) continue;
    lock.unlock();
    storage_.tend();
    lock.lock();
  }
}

}  // namespace muster::net
