#pragma once

#include <muster/values/failure.hpp>

#include <signal.h>
#include <sys/types.h>

#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Child processes that end when this process ends, however it ends.

namespace muster::apps {

/// Owns a file descriptor, and closes it.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor();

  [[nodiscard]] int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// Both ends of a new pipe, closed on exec.
struct PipeEnds {
  Descriptor read;
  Descriptor write;
};
Expected<PipeEnds> make_pipe();

/// How to launch a child process.
struct ProcessOptions {
  std::filesystem::path program = "/proc/self/exe";
  std::vector<std::string> arguments;    ///< without the program's own name
  std::vector<std::string> environment;  ///< "NAME=value", in addition to the inherited ones
  /// Decides by the name of an environment variable whether the child inherits it.
  std::function<bool(std::string_view name)> inherits = [](std::string_view) { return true; };
  std::filesystem::path output;     ///< standard output and error go to its end
  std::string name = "muster";      ///< argv[0]
  std::filesystem::path directory;  ///< the working directory; empty: that of this process
  /// The child's standard input, output and error. -1 means /dev/null for the first, and `output`
  /// for the other two.
  std::array<int, 3> standard{-1, -1, -1};
  std::vector<int> inherited;  ///< descriptors that the child gets under the same numbers
  int network = -1;            ///< the network namespace that the child enters; -1: none
  /// The child starts with SIGINT, SIGTERM and SIGHUP blocked. The program must unblock them once
  /// it can handle them.
  bool holds_signals = false;
  int at_parents_end = SIGKILL;  ///< the signal for the child when the thread that launched it ends
};

/// A child in its own session and process group. The kernel ends it when this process ends, and the
/// destructor kills it. Launch it from the main thread: the child ends with the thread that
/// launched it.
class Process {
 public:
  static Expected<Process> launch(const ProcessOptions& options);

  Process(Process&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}
  Process& operator=(Process&& other) noexcept {
    std::swap(pid_, other.pid_);
    return *this;
  }
  ~Process();

  [[nodiscard]] pid_t pid() const { return pid_; }

  /// Sends a signal to the process and all of its group.
  void signal(int number) const;

  /// None while the process runs. Once it has ended: its wait status, as waitpid returns it. This
  /// object then refers to no process.
  std::optional<int> try_wait();

  /// True if the process has ended and was not waited for yet. Before the process is waited for, no
  /// other process gets its number or that of its group.
  [[nodiscard]] bool over() const;

  /// Waits until the process has ended. Returns its wait status.
  int wait();

 private:
  explicit Process(pid_t pid) : pid_(pid) {}
  pid_t pid_ = 0;
};

/// The file that `execvp` would execute. If the name contains no slash, this is the first
/// executable file of that name in PATH. If PATH has no such file, or the name contains a slash, it
/// is the name itself.
std::filesystem::path find_program(const std::string& name);

/// Describes a wait status: "ended with exit code 76", "was ended by signal 9".
std::string describe_end(int wait_status);

}  // namespace muster::apps
