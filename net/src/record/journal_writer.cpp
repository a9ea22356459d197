#include "record/journal_writer.hpp"

#include "record/journal_file.hpp"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <condition_variable>
#include <deque>
#include <mutex>

namespace muster::net {

namespace {

using Clock = std::chrono::steady_clock;

/// The most bytes that may wait for a slow disk.
constexpr std::size_t most_waiting = 1 << 20;
/// How often a full disk is tried again.
constexpr std::chrono::seconds between_tries{1};

}  // namespace

struct JournalWriter::Shared {
  explicit Shared(const JournalOptions& options)
      : bounds{options.limit, options.keep}, file(options) {}

  mutable std::mutex mutex;
  std::condition_variable more;
  std::condition_variable done;
  std::deque<Lines> waiting;
  std::size_t bytes = 0;  ///< the bytes of all lines that wait or are being written
  bool lost_some = false;
  std::uint64_t missing = 0;
  std::uint64_t dropped = 0;
  std::uint64_t written = 0;  ///< bytes
  std::uint64_t size = 0;     ///< of the present segment
  std::string trouble;        ///< why lines were lost
  JournalFile::Bounds bounds;
  bool ending = false;
  bool ended = false;
  JournalFile file;  ///< used by the thread alone

  [[nodiscard]] bool is_idle() const { return bytes == 0; }

  void lose(const Lines& lines) {
    lost_some = true;
    missing += lines.count;
    dropped += lines.dropped;
  }
};

// Blocks all signals in the writer's thread: other threads handle them. In particular SIGXFSZ must
// not end the process when the file reaches the process's size limit.
JournalWriter::JournalWriter(JournalOptions options, Duration patience,
                             std::function<void(const std::string&)> tell)
    : options_(std::move(options)),
      patience_(patience),
      tell_(std::move(tell)),
      shared_(std::make_shared<Shared>(options_)) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([shared = shared_] { run(shared); });
  } catch (...) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

JournalWriter::~JournalWriter() {
  std::unique_lock lock(shared_->mutex);
  shared_->ending = true;
  shared_->more.notify_one();
  const bool ended = shared_->done.wait_for(lock, patience_, [this] { return shared_->ended; });
  lock.unlock();
  if (ended)
    thread_.join();
  else
    thread_.detach();  // the thread hangs on a disk, and shares ownership of all that it uses
}

void JournalWriter::run(const std::shared_ptr<Shared>& shared) {
  std::unique_lock lock(shared->mutex);
  while (true) {
    shared->more.wait(lock, [&] { return shared->ending || !shared->waiting.empty(); });
    if (shared->waiting.empty()) break;
    const Lines lines = std::move(shared->waiting.front());
    shared->waiting.pop_front();
    shared->file.bounds = shared->bounds;
    lock.unlock();
    const bool written = shared->file.append(lines.text, lines.fresh);
    lock.lock();
    shared->bytes -= lines.text.size();
    shared->size = shared->file.size();
    if (written) {
      shared->written += lines.text.size();
    } else {
      shared->lose(lines);
      for (const Lines& behind : shared->waiting) shared->lose(behind);
      shared->waiting.clear();
      shared->bytes = 0;
      shared->trouble = shared->file.trouble();
    }
    lock.unlock();
    shared->done.notify_one();
    if (written) shared->file.delete_oldest();
    lock.lock();
  }
  shared->ended = true;
  lock.unlock();
  shared->done.notify_one();
}

void JournalWriter::begin_step() {
  waited_ = {};
  tell_of_troubles();
}

void JournalWriter::heed(std::uint64_t limit, std::uint64_t keep) {
  const std::lock_guard lock(shared_->mutex);
  shared_->bounds = {limit, keep};
}

bool JournalWriter::is_full() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->is_idle() && shared_->size >= shared_->bounds.limit;
}

void JournalWriter::put(Lines lines) {
  {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->lost_some) return shared_->lose(lines);
    if (!shared_->is_idle() && shared_->bytes + lines.text.size() > most_waiting) {
      shared_->trouble = "cannot be written as fast as lines arrive";
      return shared_->lose(lines);
    }
    shared_->bytes += lines.text.size();
    shared_->waiting.push_back(std::move(lines));
  }
  run_thread_here();
  shared_->more.notify_one();
}

// Moves the writer's thread to the caller's processor. The caller usually waits for the lines, so
// this processor is free. The thread finds its data in the cache, and no other processor has to
// wake up. This halves the cost.
void JournalWriter::run_thread_here() {
  const int processor = ::sched_getcpu();
  if (processor < 0 || std::exchange(processor_, processor) == processor) return;
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET(static_cast<unsigned>(processor), &here);
  ::pthread_setaffinity_np(thread_.native_handle(), sizeof here, &here);
}

void JournalWriter::await() {
  std::unique_lock lock(shared_->mutex);
  if (shared_->is_idle()) {
    is_late_ = false;
    return;
  }
  if (is_late_ || waited_ >= patience_) return;
  const auto begun = Clock::now();
  const auto is_done = [this] { return shared_->is_idle(); };
  is_late_ = !shared_->done.wait_until(lock, begun + (patience_ - waited_), is_done);
  waited_ += Clock::now() - begun;
}

bool JournalWriter::has_lost() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->lost_some;
}

bool JournalWriter::may_try_again() {
  const std::lock_guard lock(shared_->mutex);
  if (!shared_->is_idle() || Clock::now() - tried_ < between_tries) return false;
  tried_ = Clock::now();
  return true;
}

std::uint64_t JournalWriter::restart() {
  const std::lock_guard lock(shared_->mutex);
  shared_->lost_some = false;
  return std::exchange(shared_->missing, 0);
}

void JournalWriter::forget_lost() {
  const std::lock_guard lock(shared_->mutex);
  shared_->missing = 0;
}

std::uint64_t JournalWriter::dropped() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->dropped;
}

std::uint64_t JournalWriter::written() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->written;
}

// Reports each kind of trouble once, and its end.
void JournalWriter::tell_of_troubles() {
  std::string trouble;
  std::uint64_t dropped = 0;
  {
    const std::lock_guard lock(shared_->mutex);
    if (is_late_ && shared_->is_idle()) is_late_ = false;
    if (is_late_) trouble = "cannot be written within T/8";
    if (shared_->lost_some) trouble = shared_->trouble;
    if (trouble.empty() && !told_.empty() && !shared_->is_idle()) return;
    dropped = shared_->dropped;
  }
  if (trouble.empty() && told_.empty()) dropped_before_ = dropped;
  if (trouble == told_) return;
  const std::string journal = "the journal " + options_.file.string();
  if (!trouble.empty())
    tell_(journal + ' ' + trouble +
          "; the node goes on, and notes there how many lines are missing once it can be written "
          "again: check the disk, or name another file under [journal]");
  else
    tell_(journal + " is written again; " + std::to_string(dropped - dropped_before_) +
          " lines are missing");
  told_ = trouble;
}

}  // namespace muster::net
