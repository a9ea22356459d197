#pragma once

#include "apps/base/process.hpp"

#include <muster/values/types.hpp>

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

/// Runs a program and waits until it and its process group have ended.

namespace muster::apps {

/// Treatment of the rest of a process group, after its program has ended by itself with code 0.
enum class Rest { killed, spared };

struct ChildOptions {
  std::vector<std::string> command;         ///< the program and its arguments; no shell
  std::vector<std::string> environment;     ///< "NAME=value", in addition to what it inherits
  bool inherit = false;                     ///< all variables of this process, instead of a few
  std::filesystem::path directory;          ///< working directory; empty: that of this process
  std::optional<std::string> input;         ///< its standard input; none: /dev/null
  std::optional<std::size_t> output_limit;  ///< most bytes of its output; none: output is not read
  std::optional<Duration> deadline;         ///< SIGTERM this long after its launch; none: no limit
  Duration grace{};                         ///< time from SIGTERM to SIGKILL
  Rest rest = Rest::killed;
};

/// How a program ended.
struct ChildEnd {
  int status = 0;          ///< as of waitpid(2)
  std::string output;      ///< its standard output
  bool told = false;       ///< SIGTERM was sent because `wait` was told to stop
  bool overran = false;    ///< SIGTERM was sent because of its deadline
  bool too_large = false;  ///< SIGTERM was sent because it wrote more than its limit
  bool killed = false;     ///< the program, or a process of its group, got SIGKILL
  bool remains = false;    ///< a process of its group exists even after SIGKILL

  [[nodiscard]] bool exited_with(int code) const;
  /// Whether the program asks to be started again, by exit code 75.
  [[nodiscard]] bool asks_to_try_again() const;
};

/// A program in a process group of its own, with its input and output.
class Child {
 public:
  /// Fails if the program cannot be executed; the failure names the program and the error. The
  /// program is killed when the thread that launched it ends.
  static Expected<Child> launch(ChildOptions options);

  Child(Child&&) = default;
  Child& operator=(Child&&) = default;

  [[nodiscard]] pid_t pid() const { return process_.pid(); }

  /// Returns when the program has ended and no process of its group is left. The group gets SIGTERM
  /// when `told` requests it, at the deadline, or when the output is too large. The group gets
  /// SIGKILL when the grace after SIGTERM has passed.
  ChildEnd wait(const std::stop_token& told);

 private:
  using Clock = std::chrono::steady_clock;

  Child(ChildOptions options, Process process);
  void tell_to_end();
  void watch(int wake, std::optional<Clock::time_point> until);
  void feed();
  void take_in();
  void end_rest(pid_t group);

  ChildOptions options_;
  Process process_;
  Descriptor ended_;  ///< readable when the program has ended
  Descriptor input_;
  Descriptor output_;
  std::size_t fed_ = 0;
  Clock::time_point launched_ = Clock::now();
  std::optional<Clock::time_point> kill_at_;  ///< set once SIGTERM was sent
  ChildEnd end_;
};

/// Waits for that time. If this is told to stop earlier, it returns false at once.
bool wait_unless_told(Duration time, const std::stop_token& told);

/// Whether a process of that group has not ended yet.
bool group_lives(pid_t group);

}  // namespace muster::apps
