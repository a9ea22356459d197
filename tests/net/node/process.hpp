#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

namespace muster::test {

/// A program in a process of its own. It is told things on its standard input, whose end it takes
/// for this process's wish that it ends in order.
class Process {
 public:
  Process(const std::filesystem::path& program, const std::vector<std::string>& arguments,
          std::filesystem::path errors);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  /// Kills it, if it still runs.
  ~Process();

  void tell(char word);
  /// Nothing more is told.
  void end_of_words();
  void signal(int number) const;
  /// Waits for its end, and gives its exit code, or the number of the signal below zero.
  int wait();
  /// It is told to end in order, and waited for.
  int end_in_order();

  /// What it wrote to standard error, line by line.
  [[nodiscard]] std::vector<std::string> errors() const;
  /// True when that stands in one of those lines.
  [[nodiscard]] bool says(const std::string& text) const;

 private:
  std::filesystem::path errors_;
  pid_t pid_ = 0;
  int words_ = -1;
};

}  // namespace muster::test
