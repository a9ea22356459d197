#pragma once

#include <signal.h>
#include <time.h>

namespace muster::net {

/// While it is there, a signal that a write of this thread raises ends nothing, and is gone
/// afterwards: it is not ours to ignore it for the whole process.
class WithoutSignal {
 public:
  explicit WithoutSignal(int signal) {
    sigset_t pending;
    ::sigemptyset(&signal_);
    ::sigaddset(&signal_, signal);
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, signal) == 1;
    ::pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~WithoutSignal() {
    const timespec at_once{};
    if (!was_pending_) ::sigtimedwait(&signal_, nullptr, &at_once);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSignal(const WithoutSignal&) = delete;
  WithoutSignal& operator=(const WithoutSignal&) = delete;

 private:
  sigset_t signal_;
  sigset_t before_;
  bool was_pending_;
};

}  // namespace muster::net
