#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>

namespace muster::apps {

/// Two processes of normal priority that loop without a pause until the destructor ends them.
class BusyLoops {
 public:
  /// `apart`: each process is in a session of its own. Linux gives such a session as much processor
  /// time as this whole session gets (sched_autogroup). So with `apart` each loop competes with the
  /// nodes like another busy user of the machine.
  explicit BusyLoops(bool apart = false) {
    for (pid_t& child : children_) {
      child = ::fork();
      if (child != 0) continue;
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (apart) ::setsid();
      for (volatile std::uint64_t turns = 0;;) turns = turns + 1;
    }
  }
  BusyLoops(const BusyLoops&) = delete;
  BusyLoops& operator=(const BusyLoops&) = delete;
  ~BusyLoops() {
    for (const pid_t child : children_) {
      if (child <= 0) continue;
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
  }

 private:
  std::array<pid_t, 2> children_{};
};

}  // namespace muster::apps
