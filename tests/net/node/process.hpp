#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

namespace muster::test {

/// A program in a process of its own. The test sends the program characters on standard input. The
/// end of standard input tells the program to end in order.
class Process {
 public:
  Process(const std::filesystem::path& program, const std::vector<std::string>& arguments,
          std::filesystem::path errors);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  /// Kills the process if it still runs.
  ~Process();

  void tell(char word);
  /// Closes its standard input.
  void end_of_words();
  void signal(int number) const;
  /// Waits for the end of the process. Returns its exit code, or the negated number of the signal
  /// that ended it.
  int wait();
  /// Tells the process to end in order, and waits for its end.
  int end_in_order();

  /// The lines that the process wrote to standard error.
  [[nodiscard]] std::vector<std::string> errors() const;
  /// True when one of these lines contains `text`.
  [[nodiscard]] bool says(const std::string& text) const;

 private:
  std::filesystem::path errors_;
  pid_t pid_ = 0;
  int words_ = -1;
};

}  // namespace muster::test
