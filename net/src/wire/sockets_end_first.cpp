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

// The C library's own name for clone. Race detectors replace `clone` with a function that takes the
// new process for a thread of this one.
extern "C" int __clone(int (*run)(void*), void* stack, int flags, void* argument, ...);

namespace muster::net {

namespace {

// After this process has ended, the companion waits before it frees the memory. So the processors
// are free for other nodes on this machine, which now notice the end and elect.
constexpr timespec afterwards{.tv_sec = 0, .tv_nsec = 10'000'000};

// The state of the companion process. It is never freed, as the companion still uses it.
struct Companion {
  alignas(16) std::array<char, 16 * 1024> stack;
  int process;  ///< a pidfd: readable when all threads have ended and all sockets are closed
  pid_t id = 0;
  pid_t of = 0;
};
Companion companion;

// Runs in the companion process. Only its stack is its own: it shares all other memory, and has no
// thread-local storage of its own. So this function may only make system calls. Sanitizers must not
// instrument it.
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

// Before an orderly end this node has told the other nodes that it leaves, so the companion is
// ended at once.
void dismiss() {
  if (companion.of != ::getpid()) return;  // a child of this process calls exit()
  ::kill(companion.id, SIGKILL);
  ::waitpid(companion.id, nullptr, __WALL);
}

Failure not_so(const char* call) {
  return {ExitCode::temporary, std::string("other nodes will notice the end of this process only "
                                           "after the system has freed its memory: ") +
                                   call + ": " + std::strerror(errno)};
}

}  // namespace

Expected<> let_sockets_end_first() {
  if (companion.of == ::getpid()) return {};
  const auto process = static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0));
  if (process < 0) return not_so("pidfd_open");
  companion.process = process;
  // The companion inherits this signal mask. It must handle no signal, and run no code of this
  // process.
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
