#include "apps/lab/seed_watch.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace muster::apps {
namespace {

constexpr int does_not_hold = 1;
constexpr std::size_t stack_size = 64 * 1024;

std::atomic<SeedWatch*> watch_of_process = nullptr;
thread_local int slot_of_thread = -1;

// A text of bounded length, for signal handlers: it allocates no memory.
class SafeText {
 public:
  SafeText& operator<<(std::string_view text) {
    const std::size_t size = std::min(text.size(), sizeof text_ - size_);
    std::memcpy(text_ + size_, text.data(), size);
    size_ += size;
    return *this;
  }
  SafeText& operator<<(std::uint64_t number) {
    char digits[20];
    std::size_t begin = sizeof digits;
    do {
      digits[--begin] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number > 0);
    return *this << std::string_view(digits + begin, sizeof digits - begin);
  }
  void write() const {
    for (std::size_t done = 0; done < size_;) {
      const ssize_t now = ::write(STDERR_FILENO, text_ + done, size_ - done);
      if (now <= 0) return;
      done += static_cast<std::size_t>(now);
    }
  }

 private:
  char text_[4096];
  std::size_t size_ = 0;
};

const char* ended_by(int signal) {
  switch (signal) {
    case SIGABRT:
      return "it aborted (SIGABRT)";
    case SIGSEGV:
      return "it accessed invalid memory, or its stack overflowed (SIGSEGV)";
    case SIGBUS:
      return "it accessed invalid memory (SIGBUS)";
    case SIGFPE:
      return "it divided by zero (SIGFPE)";
    case SIGILL:
      return "it executed an illegal instruction, such as a trap (SIGILL)";
    default:
      return "it was ended by a signal";
  }
}

extern "C" void on_deadly_signal(int signal) {
  if (const SeedWatch* watch = SeedWatch::present()) watch->end_process(ended_by(signal));
  ::_exit(does_not_hold);
}

extern "C" void on_exit_of_process() {
  const SeedWatch* watch = SeedWatch::present();
  if (watch && watch->is_any_running())
    watch->end_process("something called exit(), which no application may do");
}

}  // namespace

SeedWatch* SeedWatch::present() {
  return watch_of_process;
}

SeedWatch::SeedWatch(std::string before, std::string after, std::chrono::seconds longest)
    : before_(std::move(before)),
      after_(std::move(after)),
      longest_(longest),
      to_terminal_(::isatty(STDERR_FILENO) == 1) {
  watch_of_process = this;
  [[maybe_unused]] static const bool once = [] {
    return std::atexit(on_exit_of_process) == 0 && std::at_quick_exit(on_exit_of_process) == 0;
  }();
  struct sigaction action {};
  action.sa_handler = on_deadly_signal;
  action.sa_flags = SA_ONSTACK;
  for (std::size_t i = 0; i < handled.size(); ++i) ::sigaction(handled[i], &action, &replaced_[i]);
  if (longest_ > std::chrono::seconds(0)) looks_ = std::thread([this] { look(); });
}

SeedWatch::~SeedWatch() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  ended_.notify_all();
  if (looks_.joinable()) looks_.join();
  for (std::size_t i = 0; i < handled.size(); ++i) ::sigaction(handled[i], &replaced_[i], nullptr);
  watch_of_process = nullptr;
}

// Counts its own turns, one a second, instead of reading a clock. So the time in which the whole
// process is stopped does not count as run time of a seed.
void SeedWatch::look() {
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, std::chrono::seconds(1), [this] { return ends_; }))
    for (std::size_t i = 0; i < workers_; ++i) {
      Slot& slot = slots_[i];
      if (!slot.runs || ++slot.seconds < static_cast<unsigned>(longest_.count())) continue;
      say("", slot.seed);
      ::_exit(does_not_hold);
    }
}

void SeedWatch::say(const char* why, std::uint64_t seed) const {
  SafeText text;
  text << (to_terminal_ ? "\r\033[K" : "") << "seed " << seed;
  if (*why == '\0')
    text << " has run for " << static_cast<std::uint64_t>(longest_.count())
         << " s: it does not end (--seed-limit sets how long a seed may run)";
  else
    text << ": " << why;
  text << "\n  again: " << before_ << seed << ".." << seed << after_ << "\n";
  text.write();
}

// If the thread runs no seed, any running seed may have caused the end, so all are named.
void SeedWatch::end_process(const char* why) const {
  if (slot_of_thread >= 0 && slots_[static_cast<std::size_t>(slot_of_thread)].runs) {
    say(why, slots_[static_cast<std::size_t>(slot_of_thread)].seed);
  } else {
    for (const Slot& slot : slots_)
      if (slot.runs) say(why, slot.seed);
  }
  ::_exit(does_not_hold);
}

bool SeedWatch::is_any_running() const {
  return std::any_of(slots_.begin(), slots_.end(),
                     [](const Slot& slot) { return slot.runs.load(); });
}

// --- A thread that runs seeds

SeedWatch::Worker::Worker(SeedWatch& watch)
    : watch_(watch), which_(watch.workers_++ % most_workers) {
  slot_of_thread = static_cast<int>(which_);
  stack_t now{};
  if (::sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
  stack_ = std::make_unique<char[]>(stack_size);
  stack_t own{};
  own.ss_sp = stack_.get();
  own.ss_size = stack_size;
  ::sigaltstack(&own, nullptr);
}

SeedWatch::Worker::~Worker() {
  has_ended();
  slot_of_thread = -1;
  if (!stack_) return;
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  ::sigaltstack(&none, nullptr);
}

void SeedWatch::Worker::begins(std::uint64_t seed) {
  Slot& slot = watch_.slots_[which_];
  slot.seed = seed;
  slot.seconds = 0;
  slot.runs = true;
}

void SeedWatch::Worker::has_ended() {
  watch_.slots_[which_].runs = false;
}

}  // namespace muster::apps
