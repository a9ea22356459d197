#include <muster/net/storage_thread.hpp>

#include <exception>
#include <new>

namespace muster::net {

namespace {

/// The result of the storage. An exception, such as lack of memory, becomes a failure.
template <class Ask>
auto tried(const Ask& ask) -> decltype(ask()) {
  try {
    return ask();
  } catch (const std::bad_alloc&) {
    return Failure{ExitCode::io_error,
                   "there is no memory left for safe storage: find out what uses it, or give the "
                   "node more, then start the node again"};
  } catch (const std::exception& error) {
    return Failure{ExitCode::impossible_state,
                   std::string("safe storage threw: ") + error.what() +
                       "; please report it with the end of the node's journal"};
  }
}

auto writing(CellBatch batch, std::function<void(Expected<>)> written) {
  return [batch = std::move(batch), written = std::move(written)](SafeStorage& storage) {
    written(tried([&] { return storage.write(batch); }));
  };
}

auto scanning(std::string prefix, std::function<void(Expected<StorageThread::Cells>)> scanned) {
  return [prefix = std::move(prefix), scanned = std::move(scanned)](SafeStorage& storage) {
    scanned(tried([&]() -> Expected<StorageThread::Cells> {
      StorageThread::Cells cells;
      const Expected<> done = storage.scan(prefix, [&](std::string_view key, const Bytes& value) {
        cells.emplace_back(key, value);
      });
      if (!done) return done.error();
      return cells;
    }));
  };
}

}  // namespace

StorageThread::StorageThread(SafeStorage& storage)
    : storage_(storage), queues_(std::make_shared<Queues>()), thread_([this] { run(); }) {}

StorageThread::~StorageThread() {
  {
    const std::lock_guard lock(queues_->mutex);
    queues_->ending = true;
  }
  queues_->more.notify_one();
  thread_.join();
}

void StorageThread::save(SafeState safe, std::function<void(Expected<>)> saved) {
  put(
      *queues_, &Queues::saves,
      [safe = std::move(safe), saved = std::move(saved)](SafeStorage& storage) {
        saved(tried([&] { return storage.save(safe); }));
      },
      unbounded, true);
}

void StorageThread::write(CellBatch batch, std::function<void(Expected<>)> written) {
  put(*queues_, &Queues::cells, writing(std::move(batch), std::move(written)), most_waiting, true);
}

void StorageThread::write_own(CellBatch batch, std::function<void(Expected<>)> written) {
  put(*queues_, &Queues::cells, writing(std::move(batch), std::move(written)), unbounded, true);
}

void StorageThread::scan(std::string prefix, std::function<void(Expected<Cells>)> scanned) {
  put(*queues_, &Queues::cells, scanning(std::move(prefix), std::move(scanned)), most_waiting,
      true);
}

void StorageThread::Door::write(CellBatch batch, std::function<void(Expected<>)> written) {
  put(*queues_, &Queues::cells, writing(std::move(batch), std::move(written)), most_waiting, open_);
}

void StorageThread::Door::scan(std::string prefix, std::function<void(Expected<Cells>)> scanned) {
  put(*queues_, &Queues::cells, scanning(std::move(prefix), std::move(scanned)), most_waiting,
      open_);
}

void StorageThread::Door::shut() {
  {
    const std::lock_guard lock(queues_->mutex);
    open_ = false;
  }
  queues_->room.notify_all();
}

bool StorageThread::Door::is_open() const {
  const std::lock_guard lock(queues_->mutex);
  return open_;
}

void StorageThread::put(Queues& queues, std::deque<Work> Queues::*queue, Work work,
                        std::size_t most, const bool& open) {
  {
    std::unique_lock lock(queues.mutex);
    // A request from a callback on this very thread would wait for itself, so it does not wait.
    if (std::this_thread::get_id() != queues.thread)
      queues.room.wait(lock, [&] { return !open || (queues.*queue).size() < most; });
    if (!open) return;
    (queues.*queue).push_back(std::move(work));
  }
  queues.more.notify_one();
}

// Saves go first whenever both queues have work: the protocol, and with it every other node, waits
// for them.
void StorageThread::run() {
  Queues& queues = *queues_;
  std::unique_lock lock(queues.mutex);
  queues.thread = std::this_thread::get_id();
  while (true) {
    queues.more.wait(
        lock, [&] { return queues.ending || !queues.saves.empty() || !queues.cells.empty(); });
    auto& queue = queues.saves.empty() ? queues.cells : queues.saves;
    if (queue.empty()) return;
    {
      const Work work = std::move(queue.front());
      queue.pop_front();
      lock.unlock();
      queues.room.notify_one();
      work(storage_);
    }  // destroys its captures without the lock, as this can add work
    lock.lock();
    if (!queues.saves.empty() || !queues.cells.empty()) continue;
    lock.unlock();
    storage_.tend();
    lock.lock();
  }
}

}  // namespace muster::net
