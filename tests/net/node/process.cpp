#include "process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>

extern char** environ;

namespace muster::test {

Process::Process(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                 std::filesystem::path errors)
    : errors_(std::move(errors)) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  words_ = ends[1];
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors_.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0600);
  std::vector<std::string> words{program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const int error = ::posix_spawn(&pid_, program.c_str(), &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[0]);
  if (error != 0) throw std::runtime_error("cannot run " + program.string());
}

Process::~Process() {
  end_of_words();
  if (pid_ == 0) return;
  signal(SIGKILL);
  wait();
}

void Process::tell(char word) {
  [[maybe_unused]] const ssize_t written = ::write(words_, &word, 1);
}

void Process::end_of_words() {
  if (words_ >= 0) ::close(words_);
  words_ = -1;
}

void Process::signal(int number) const {
  ::kill(pid_, number);
}

int Process::wait() {
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int Process::end_in_order() {
  end_of_words();
  return wait();
}

std::vector<std::string> Process::errors() const {
  std::vector<std::string> lines;
  std::ifstream in(errors_);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

bool Process::says(const std::string& text) const {
  const std::vector<std::string> lines = errors();
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

}  // namespace muster::test
