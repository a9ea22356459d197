#include <muster/net/say.hpp>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <string>

namespace muster::net {

namespace {

// A pipe takes this many bytes completely or not at all.
constexpr std::size_t most_at_once = PIPE_BUF;

// Blocks SIGPIPE for one write. Writing to a pipe without a reader would end the process. Ignoring
// the signal in the whole process is not this library's decision.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    sigset_t pending;
    ::sigemptyset(&sigpipe_);
    ::sigaddset(&sigpipe_, SIGPIPE);
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  }
  ~WithoutSigpipe() {
    const timespec at_once{};
    if (!was_pending_) ::sigtimedwait(&sigpipe_, nullptr, &at_once);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

 private:
  sigset_t sigpipe_;
  sigset_t before_;
  bool was_pending_;
};

// Opens the same pipe or terminal a second time, without blocking. O_NONBLOCK belongs to the open
// file description, which other processes share, so it is not set on the given descriptor.
int open_without_waiting(int descriptor) {
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  return ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_APPEND | O_NOCTTY | O_CLOEXEC);
}

bool has_room(int descriptor) {
  pollfd room{descriptor, POLLOUT, 0};
  return ::poll(&room, 1, 0) == 1 && room.revents == POLLOUT;
}

bool write_at_once(int descriptor, std::string_view line) {
  struct stat about {};
  if (::fstat(descriptor, &about) != 0) return false;
  if (S_ISSOCK(about.st_mode))
    return ::send(descriptor, line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL) > 0;
  if (S_ISREG(about.st_mode)) return ::write(descriptor, line.data(), line.size()) > 0;
  const int own = open_without_waiting(descriptor);
  // The pipe of another user cannot be opened again. Other processes can fill the pipe between
  // these two calls, and the write would then wait.
  if (own < 0) return has_room(descriptor) && ::write(descriptor, line.data(), line.size()) > 0;
  const bool written = ::write(own, line.data(), line.size()) > 0;
  ::close(own);
  return written;
}

}  // namespace

void say(int descriptor, std::string_view line) {
  static std::array<std::atomic<std::uint64_t>, 2> lost_of{};  // of standard output, of others
  auto& lost = lost_of[descriptor == STDOUT_FILENO ? 0 : 1];
  const std::uint64_t lost_before = lost.exchange(0);
  const WithoutSigpipe reader_may_be_gone;
  std::string text;
  if (lost_before > 0)
    text = "muster: " + std::to_string(lost_before) +
           " lines before this one were lost: nobody read them\n";
  text.append(line.substr(0, most_at_once - text.size() - 1));
  if (!text.ends_with('\n')) text += '\n';
  if (!write_at_once(descriptor, text)) lost += lost_before + 1;
}

}  // namespace muster::net
