#pragma once

#include <signal.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace muster::apps {

/// Names the seed that an application under test brings the process down with. The process then
/// ends with exit code 1, and with two lines on standard error: the seed and why, and the command
/// that repeats it.
///
/// - A signal: an abort, a wrong access, a stack that is full.
/// - exit(): no application ends the process of a campaign.
/// - A seed that runs for too long: an endless loop, or a wait for what never comes.
///
/// There is one at a time in a process.
class SeedWatch {
 public:
  static constexpr unsigned most_workers = 64;

  /// The command that repeats seed 7 is `before` + "7..7" + `after`. Zero: a seed may run for ever.
  SeedWatch(std::string before, std::string after, std::chrono::seconds longest);
  SeedWatch(const SeedWatch&) = delete;
  SeedWatch& operator=(const SeedWatch&) = delete;
  ~SeedWatch();

  /// A thread that runs seeds; made and ended there.
  class Worker {
   public:
    explicit Worker(SeedWatch& watch);
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;
    ~Worker();

    void begins(std::uint64_t seed);
    void has_ended();

   private:
    SeedWatch& watch_;
    const unsigned which_;
    std::unique_ptr<char[]> stack_;  ///< on which signals are handled: the thread's may be full
  };

  /// Signal handlers find it here; null if there is none.
  static SeedWatch* present();
  /// Says which seed brings the process down, by async-signal-safe means, and ends it.
  [[noreturn]] void end_process(const char* why) const;
  /// True while any seed runs.
  [[nodiscard]] bool is_any_running() const;

 private:
  struct Slot {
    std::atomic<bool> runs = false;
    std::atomic<std::uint64_t> seed = 0;
    std::atomic<unsigned> seconds = 0;  ///< for which it has run, while this process did
  };
  static constexpr std::array handled{SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGTRAP};

  void look();
  void say(const char* why, std::uint64_t seed) const;

  const std::string before_;
  const std::string after_;
  const std::chrono::seconds longest_;
  const bool to_terminal_;
  std::array<Slot, most_workers> slots_;
  std::atomic<unsigned> workers_ = 0;
  std::array<struct sigaction, handled.size()> replaced_{};
  std::mutex mutex_;  // guards ends_
  bool ends_ = false;
  std::condition_variable ended_;
  std::thread looks_;
};

}  // namespace muster::apps
