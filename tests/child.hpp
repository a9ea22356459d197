#pragma once

#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

namespace muster::test {

/// A child process that runs `work`, with a pipe to this process. The result of `work` is its exit
/// code. The destructor kills it.
class Child {
 public:
  explicit Child(const std::function<int(int pipe)>& work) {
    int ends[2];
    BOOST_REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    pid_ = ::fork();
    BOOST_REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      ::close(ends[0]);
      ::_exit(work(ends[1]));
    }
    ::close(ends[1]);
    pipe_ = ends[0];
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    kill();
    ::close(pipe_);
  }

  [[nodiscard]] pid_t pid() const { return pid_; }
  void pause() const { ::kill(pid_, SIGSTOP); }

  /// Waits for the next number that the child writes. No value when the child has ended.
  [[nodiscard]] std::optional<std::uint64_t> next() const {
    std::uint64_t number = 0;
    return ::read(pipe_, &number, sizeof number) == sizeof number ? std::optional(number)
                                                                  : std::nullopt;
  }

  int kill() {
    if (pid_ <= 0) return 0;
    ::kill(pid_, SIGKILL);
    return wait();
  }
  /// The child's exit code, or the negated number of the signal that ended it.
  int wait() {
    int status = 0;
    ::waitpid(std::exchange(pid_, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  pid_t pid_ = 0;
  int pipe_ = -1;
};

/// Writes a number to the parent. Only the child calls this function.
inline void tell(int pipe, std::uint64_t number) {
  if (::write(pipe, &number, sizeof number) != sizeof number) ::_exit(3);
}

}  // namespace muster::test
