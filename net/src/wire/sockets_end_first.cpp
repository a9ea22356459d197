#include <muster/net/sockets_end_first.hpp>

#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

// What the system's headers call clone. The tools that look for races put their own in its place,
// which takes what it makes for a thread of this process.
extern "C" int __clone(int (*run)(void*), void* stack, int flags, void* argument, ...);

namespace muster::net {

namespace {

// The others on this machine are to find its processors free when they notice, and elect.
constexpr timespec afterwards{.tv_sec = 0, .tv_nsec = 10'000'000};

// What the process that shares the memory has for itself. It is never given back: that would be
// under its feet.
struct Companion {
  alignas(16) std::array<char, 16 * 1024> stack;
  int process;  ///< a pidfd: readable when every thread of it has ended and every socket is closed
  pid_t id = 0;
  pid_t of = 0;
};
Companion companion;

// In the other process, on its own stack, with all else shared and no thread of its own: it may
// call the kernel and nothing else, and is of no interest to who watches the memory of this one.
__attribute__((no_sanitize("address", "thread", "undefined"))) int keep_memory(void*) {
  const int process = companion.process;
  const bool alone = (process == 0 || ::syscall(SYS_close_range, 0, process - 1, 0) == 0) &&
                     ::syscall(SYS_close_range, process + 1, ~0U, 0) == 0;
  ::syscall(SYS_setsid);
  ::syscall(SYS_chdir, "/");
  ::syscall(SYS_prctl, PR_SET_NAME, "muster-memory", 0, 0, 0);
  pollfd ended;
  ended.fd = process;
  ended.events = POLLIN;
  if (alone) ::syscall(SYS_ppoll, &ended, 1, nullptr, nullptr, 0);
  if (alone) ::syscall(SYS_nanosleep, &afterwards, nullptr);
  ::syscall(SYS_exit_group, 0);
  return 0;
}

// Who ends in order has told the others, and leaves nothing behind for a moment.
void dismiss() {
  if (companion.of != ::getpid()) return;  // a child of it that ends by exit()
  ::kill(companion.id, SIGKILL);
  ::waitpid(companion.id, nullptr, __WALL);
}

Failure not_so(const char* call) {
  return {ExitCode::temporary, std::string("others will notice the end of this process later by "
                                           "what its memory takes to be given back: ") +
                                   call + ": " + std::strerror(errno)};
}

}  // namespace

Expected<> let_sockets_end_first() {
  if (companion.of == ::getpid()) return {};
  const auto process = static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0));
  if (process < 0) return not_so("pidfd_open");
  companion.process = process;
  // It takes its mask from here: no signal is for it, and nothing of this process is to run there.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t made =
      ::__clone(keep_memory, companion.stack.data() + companion.stack.size(), CLONE_VM, nullptr);
  const Expected<> result = made < 0 ? Expected<>(not_so("clone")) : Expected<>();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::close(process);
  if (!result) return result;
  companion.id = made;
  companion.of = ::getpid();
  std::atexit(dismiss);
  return {};
}

}  // namespace muster::net
