#include "apps/base/process.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

extern char** environ;

namespace muster::apps {
namespace {

Failure system_failure(const std::string& what) {
  return {ExitCode::temporary, what + ": " + std::strerror(errno)};
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> environment_of(const ProcessOptions& options) {
  std::vector<std::string> variables = options.environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const auto name = text.substr(0, text.find('='));
    const bool replaced = std::any_of(
        options.environment.begin(), options.environment.end(),
        [&](const std::string& own) { return own.starts_with(std::string(name) + "="); });
    if (!replaced && options.inherits(name)) variables.emplace_back(text);
  }
  return variables;
}

/// Everything that the child needs, prepared before the fork: after the fork the child is allowed
/// only system calls.
struct Prepared {
  explicit Prepared(const ProcessOptions& options)
      : program(options.program.string()),
        output(options.output.empty() ? "/dev/null" : options.output.string()),
        directory(options.directory.string()),
        standard(options.standard),
        arguments{options.name},
        variables(environment_of(options)),
        inherited(options.inherited),
        network(options.network),
        holds_signals(options.holds_signals),
        at_parents_end(options.at_parents_end),
        parent(getpid()) {
    arguments.insert(arguments.end(), options.arguments.begin(), options.arguments.end());
    argv = pointers(arguments);
    envp = pointers(variables);
  }
  std::string program;
  std::string output;
  std::string directory;
  std::array<int, 3> standard;
  std::vector<std::string> arguments;
  std::vector<std::string> variables;
  std::vector<int> inherited;
  int network;
  bool holds_signals;
  int at_parents_end;
  pid_t parent;
  std::vector<char*> argv;
  std::vector<char*> envp;
};

[[noreturn]] void run_child(const Prepared& prepared, int report) {
  const auto failed = [report] {
    const int error = errno;
    [[maybe_unused]] const auto written = ::write(report, &error, sizeof error);
    _exit(127);
  };
  // The child gets a session and a process group of its own. In this terminal's session it could
  // type commands into the terminal (TIOCSTI).
  if (setsid() < 0) failed();
  if (prepared.network >= 0 && setns(prepared.network, CLONE_NEWNET) != 0) failed();
  if (prctl(PR_SET_PDEATHSIG, prepared.at_parents_end) != 0) failed();
  if (getppid() != prepared.parent) _exit(127);  // the parent ended before prctl
  // Signals that are pending here were meant for the parent's group. Ignoring a signal discards it,
  // so the child does not get it.
  for (int number = 1; number < NSIG; ++number) {
    ::signal(number, SIG_IGN);
    ::signal(number, SIG_DFL);
  }
  sigset_t held;
  sigemptyset(&held);
  if (prepared.holds_signals) {
    for (int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&held, number);
  }
  sigprocmask(SIG_SETMASK, &held, nullptr);
  if (!prepared.directory.empty() && chdir(prepared.directory.c_str()) != 0) failed();
  for (int number : {0, 1, 2}) {
    int from = prepared.standard[static_cast<std::size_t>(number)];
    if (from < 0) {
      from = number == 0 ? open("/dev/null", O_RDONLY)
                         : open(prepared.output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    }
    if (from < 0 || dup2(from, number) < 0) failed();
  }
  if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) != 0) failed();
  for (int fd : prepared.inherited) {
    if (fcntl(fd, F_SETFD, 0) != 0) failed();
  }
  execve(prepared.program.c_str(), prepared.argv.data(), prepared.envp.data());
  failed();
  _exit(127);
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

Expected<PipeEnds> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return system_failure("cannot make a pipe");
  return PipeEnds{Descriptor(ends[0]), Descriptor(ends[1])};
}

Expected<Process> Process::launch(const ProcessOptions& options) {
  const Prepared prepared(options);
  auto report = make_pipe();
  if (!report) return report.error();
  // Until exec, the child has this process's signal handlers and their pipes. A signal that the
  // child handled would be reported in this process a second time. So the child's signals stay
  // blocked until exec.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = fork();
  if (pid == 0) run_child(prepared, report->write.fd());
  const int error_of_fork = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) {
    errno = error_of_fork;
    return system_failure("cannot start another process");
  }
  Process process(pid);
  report->write = Descriptor();  // now only the child holds the write end, until it executes
  int error = 0;
  ssize_t size = 0;
  do {
    size = ::read(report->read.fd(), &error, sizeof error);
  } while (size < 0 && errno == EINTR);
  if (size == 0) return process;
  errno = error;
  const bool has_output = options.standard[1] >= 0 && options.standard[2] >= 0;
  return system_failure("cannot start " + prepared.program +
                        (has_output ? "" : " with its output in " + prepared.output));
}

Process::~Process() {
  if (pid_ <= 0) return;
  signal(SIGKILL);
  wait();
}

void Process::signal(int number) const {
  // This single call reaches the process and the rest of its group. A further call for the process
  // alone would be a second SIGTERM, which a node treats as a different request. The process group
  // exists since `launch` returned.
  if (pid_ > 0) ::kill(-pid_, number);
}

std::optional<int> Process::try_wait() {
  if (pid_ <= 0) return std::nullopt;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  pid_ = 0;
  return status;
}

bool Process::over() const {
  siginfo_t info{};
  return pid_ > 0 &&
         waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT | WNOHANG) == 0 &&
         info.si_pid == pid_;
}

int Process::wait() {
  int status = 0;
  while (pid_ > 0 && waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
  return status;
}

std::filesystem::path find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  if (name.find('/') != std::string::npos || path == nullptr) return name;
  std::string_view rest = path;
  while (true) {
    const auto end = std::min(rest.find(':'), rest.size());
    const auto found = std::filesystem::path(end == 0 ? "." : rest.substr(0, end)) / name;
    std::error_code error;
    if (std::filesystem::is_regular_file(found, error) && ::access(found.c_str(), X_OK) == 0)
      return found;
    if (end == rest.size()) return name;
    rest.remove_prefix(end + 1);
  }
}

std::string describe_end(int wait_status) {
  if (WIFSIGNALED(wait_status))
    return "was ended by signal " + std::to_string(WTERMSIG(wait_status));
  return "ended with exit code " + std::to_string(WEXITSTATUS(wait_status));
}

}  // namespace muster::apps
