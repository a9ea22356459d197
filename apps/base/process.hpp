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

/// Processes that end with this one, whatever becomes of it.

namespace muster::apps {

/// A file descriptor that is closed with its owner.
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

struct ProcessOptions {
  std::filesystem::path program = "/proc/self/exe";
  std::vector<std::string> arguments;    ///< without the program's own name
  std::vector<std::string> environment;  ///< "NAME=value", beside what it inherits
  /// Which of this process's variables it gets, by their names.
  std::function<bool(std::string_view name)> inherits = [](std::string_view) { return true; };
  std::filesystem::path output;     ///< standard output and error are appended to it
  std::string name = "muster";      ///< argv[0]
  std::filesystem::path directory;  ///< where it runs; empty: where this process does
  /// What becomes its standard input, output and error; -1: /dev/null, and `output` for both.
  std::array<int, 3> standard{-1, -1, -1};
  std::vector<int> inherited;  ///< descriptors it gets under the same numbers
  int network = -1;            ///< the network namespace to enter; none: -1
  /// SIGINT, SIGTERM and SIGHUP wait until the program unblocks them, which is to be when it can
  /// take them.
  bool holds_signals = false;
  int at_parents_end = SIGKILL;  ///< what the kernel sends it when the thread that made it ends
};

/// A child in a session and a process group of its own. The kernel ends it when this process ends;
/// destroying the handle kills it. To be launched by the main thread: the child ends with the
/// thread that made it.
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

  /// To the process, and to all of its group.
  void signal(int number) const;

  /// How it ended, once it has: as waitpid tells. After that the handle is empty.
  std::optional<int> ended();

  /// True when it has ended, and is still to be waited for: until then no other process can get its
  /// number, or that of its group.
  [[nodiscard]] bool over() const;

  /// Waits for its end.
  int wait();

 private:
  explicit Process(pid_t pid) : pid_(pid) {}
  pid_t pid_ = 0;
};

/// The file that `execvp` would take: as it stands where the name has a slash, else the first of
/// that name in PATH that may be executed. A name that is nowhere stands for itself.
std::filesystem::path find_program(const std::string& name);

/// "ended with exit code 76", "was ended by signal 9".
std::string describe_end(int wait_status);

}  // namespace muster::apps
