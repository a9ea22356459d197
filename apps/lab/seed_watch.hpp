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

/// Names the seed that makes an application under test end the process. The process ends with exit
/// code 1 and two lines on standard error: the seed with the reason, and the command that repeats
/// it.
///
/// - A signal, as after an abort, a wrong access or a stack overflow.
/// - A call of exit(): no application may end the process of a campaign.
/// - A seed that runs for too long: an endless loop, or a wait for something that never comes.
///
/// A process has one object of this class at a time.
class SeedWatch {
 public:
  static constexpr unsigned most_workers = 64;

  /// The command that repeats seed 7 is `before` + "7..7" + `after`. A seed may run for `longest`;
  /// zero: without a limit.
  SeedWatch(std::string before, std::string after, std::chrono::seconds longest);
  SeedWatch(const SeedWatch&) = delete;
  SeedWatch& operator=(const SeedWatch&) = delete;
  ~SeedWatch();

  /// A thread that runs seeds. Make and destroy this object on that thread.
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
    std::unique_ptr<char[]> stack_;  ///< for signal handlers, as the thread's own stack may be full
  };

  /// The present object, for signal handlers; null if there is none.
  static SeedWatch* present();
  /// Prints which seed ends the process, by async-signal-safe calls only, and ends it.
  [[noreturn]] void end_process(const char* why) const;
  /// Whether any seed is running.
  [[nodiscard]] bool is_any_running() const;

 private:
  struct Slot {
    std::atomic<bool> runs = false;
    std::atomic<std::uint64_t> seed = 0;
    std::atomic<unsigned> seconds = 0;  ///< run time, without stops of the process
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
