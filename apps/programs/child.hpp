#pragma once

#include "apps/base/process.hpp"

#include <muster/values/types.hpp>

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

/// One program at a time, from its launch until nothing of it is left.

namespace muster::apps {

/// What is left of a program's process group when the program ended by itself, with 0.
enum class Rest { killed, spared };

struct ChildOptions {
  std::vector<std::string> command;         ///< the program and its arguments; no shell
  std::vector<std::string> environment;     ///< "NAME=value", beside what it inherits
  bool inherit = false;                     ///< all variables of this process, and not a few
  std::filesystem::path directory;          ///< where it runs; empty: where this process does
  std::optional<std::string> input;         ///< on its standard input; none: /dev/null
  std::optional<std::size_t> output_limit;  ///< bytes kept of its output; none: not taken in
  std::optional<Duration> deadline;         ///< after its launch: SIGTERM; none: when told
  Duration grace{};                         ///< from SIGTERM to SIGKILL
  Rest rest = Rest::killed;
};

/// How a program ended.
struct ChildEnd {
  int status = 0;          ///< as waitpid tells
  std::string output;      ///< what it wrote to its standard output
  bool told = false;       ///< it was told to end
  bool overran = false;    ///< it was told to end by its deadline
  bool too_large = false;  ///< it was told to end because it wrote more than its limit
  bool killed = false;     ///< it, or something of its group, had to be killed
  bool remains = false;    ///< something of its group is there even after SIGKILL

  [[nodiscard]] bool exited_with(int code) const;
  /// It wants to be started again: exit code 75.
  [[nodiscard]] bool asks_to_try_again() const;
};

/// A program in a process group of its own, with its input and output.
class Child {
 public:
  /// Fails, with the program and the error, where it cannot be executed. The program ends with the
  /// thread that launches it.
  static Expected<Child> launch(ChildOptions options);

  Child(Child&&) = default;
  Child& operator=(Child&&) = default;

  [[nodiscard]] pid_t pid() const { return process_.pid(); }

  /// Until the program has ended and nothing of its group is left. When told, at its deadline, or
  /// when its output is too large: SIGTERM to the group, and after the grace SIGKILL.
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
  Descriptor ended_;  ///< readable when it has ended
  Descriptor input_;
  Descriptor output_;
  std::size_t fed_ = 0;
  Clock::time_point launched_ = Clock::now();
  std::optional<Clock::time_point> kill_at_;  ///< it was told to end; then it is killed
  ChildEnd end_;
};

/// Waits until the time has come, or earlier when told: false then.
bool wait_unless_told(Duration time, const std::stop_token& told);

/// True while a process of that group has not ended.
bool group_lives(pid_t group);

}  // namespace muster::apps
