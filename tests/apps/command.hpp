#pragma once

#include "apps/base/process.hpp"
#include "storage/temporary_directory.hpp"

#include <boost/test/unit_test.hpp>

#include <poll.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <string>
#include <vector>

/// Helpers that run the command `muster` as users run it: as a program.

namespace muster::apps {

/// The exit code and the output of a run of the command.
struct Ran {
  int code = -1;
  std::string output;  ///< standard output and standard error together
};

/// A directory for one test.
struct TestDirectory {
  /// Runs `muster` with the words of `line`. Single quotes enclose a word that contains blanks.
  [[nodiscard]] Ran muster(const std::string& line) const;

  test::TemporaryDirectory own;
  std::filesystem::path path = own.path();
};

inline std::string read_all(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

inline bool holds(const std::filesystem::path& file, const std::string& text) {
  return read_all(file).find(text) != std::string::npos;
}

inline bool says(const Ran& ran, const std::string& text) {
  return ran.output.find(text) != std::string::npos;
}

inline ProcessOptions muster_with(const std::vector<std::string>& arguments,
                                  const std::filesystem::path& output) {
  ProcessOptions options;
  options.program = MUSTER_PROGRAM;
  options.arguments = arguments;
  options.output = output;
  return options;
}

inline Ran run_program(const TestDirectory& directory, ProcessOptions options) {
  const auto output = options.output = directory.path / "output";
  std::filesystem::remove(output);
  auto process = Process::launch(options);
  BOOST_REQUIRE(process.has_value());
  const int status = process->wait();
  const Ran ran{WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_all(output)};
  // With MUSTER_REFUSALS set, collects all refusals in that file for a person to read
  // (CONTRIBUTING.md).
  if (const char* refusals = std::getenv("MUSTER_REFUSALS"); refusals && ran.code != 0) {
    std::ofstream file(refusals, std::ios::app);
    for (const std::string& argument : options.arguments) file << argument << ' ';
    file << "(exit code " << ran.code << ")\n" << ran.output << '\n';
  }
  return ran;
}

inline Ran run_muster(const TestDirectory& directory, const std::vector<std::string>& arguments) {
  return run_program(directory, muster_with(arguments, {}));
}

inline Ran TestDirectory::muster(const std::string& line) const {
  std::istringstream text(line);
  std::vector<std::string> words;
  for (std::string word; text >> std::quoted(word, '\'');) words.push_back(word);
  return run_muster(*this, words);
}

/// Waits until the process has written `text`. Fails the test if the process ends before that.
inline void wait_until_says(Process& process, const std::filesystem::path& output,
                            const std::string& text) {
  while (!holds(output, text)) {
    BOOST_REQUIRE_MESSAGE(!process.try_wait(), read_all(output));
    ::poll(nullptr, 0, 5);
  }
}

/// Waits until the process has a handler for that signal, so that the signal no longer kills it.
inline void wait_until_catches(Process& process, int number) {
  const auto status = "/proc/" + std::to_string(process.pid()) + "/status";
  for (;;) {
    BOOST_REQUIRE(!process.try_wait());
    const std::string text = read_all(status);
    const std::size_t at = text.find("SigCgt:");
    if (at != std::string::npos &&
        (std::stoull(text.substr(at + 7), nullptr, 16) >> (number - 1) & 1) != 0)
      return;
    ::poll(nullptr, 0, 5);
  }
}

inline void says_all(const Ran& ran, const std::vector<std::string>& texts) {
  for (const std::string& text : texts)
    BOOST_TEST(says(ran, text), '"' << text << "\" is not in: " << ran.output);
}

/// Checks that the program ended with exit code 0 and printed each of `texts`.
inline void ends_well(const Ran& ran, const std::vector<std::string>& texts = {}) {
  BOOST_TEST(ran.code == 0, ran.output);
  says_all(ran, texts);
}

/// Checks that the last line says why the program ended, and with which exit code.
inline void says_why(const Ran& ran, int code, const std::string& what) {
  BOOST_TEST(ran.code == code, ran.output);
  std::istringstream lines(ran.output);
  std::string last;
  for (std::string line; std::getline(lines, line);) last = line;
  BOOST_TEST(last.find(what) != std::string::npos, last);
  BOOST_TEST(last.ends_with("(exit code " + std::to_string(code) + ")"), last);
}

}  // namespace muster::apps
