#include "apps/programs/child.hpp"

#include "apps/base/pipes.hpp"
#include "apps/base/text.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <fstream>
#include <mutex>
#include <sstream>

namespace muster::apps {
namespace {

using namespace std::chrono_literals;

Failure failure_of(const std::string& what) {
  return {ExitCode::hook_failed, what + ": " + std::strerror(errno)};
}

/// Makes the system call itself, because glibc 2.36 declares pidfd_open without C linkage.
Descriptor watch_end_of(pid_t pid) {
  return Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
}

/// A pipe whose end on our side does not block.
Expected<PipeEnds> make_one_sided(Descriptor PipeEnds::*ours) {
  auto pipe = make_pipe();
  if (pipe) fcntl(((*pipe).*ours).fd(), F_SETFL, O_NONBLOCK);
  return pipe;
}

/// Leaves out variables about a node: this process may itself be the program of another one.
bool is_of_others(std::string_view variable) {
  return !variable.starts_with("MUSTER_");
}

/// The few variables that a program needs. No secrets of a service, and nothing that changes which
/// libraries are loaded.
bool is_of_anybody(std::string_view variable) {
  constexpr std::array names{"PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR"};
  return variable.starts_with("LC_") ||
         std::find(names.begin(), names.end(), variable) != names.end();
}

int poll_until(pollfd* first, nfds_t count,
               std::optional<std::chrono::steady_clock::time_point> until) {
  if (!until) return ppoll(first, count, nullptr, nullptr);
  const Duration left =
      std::max<Duration>(Duration::zero(), *until - std::chrono::steady_clock::now());
  const timespec time{left / 1s, (left % 1s) / 1ns};
  return ppoll(first, count, &time, nullptr);
}

}  // namespace

bool ChildEnd::exited_with(int code) const {
  return WIFEXITED(status) && WEXITSTATUS(status) == code;
}

bool ChildEnd::asks_to_try_again() const {
  return exited_with(static_cast<int>(ExitCode::temporary));
}

bool wait_unless_told(Duration time, const std::stop_token& told) {
  std::mutex mutex;
  std::condition_variable_any woken;
  std::unique_lock lock(mutex);
  woken.wait_for(lock, told, time, [] { return false; });
  return !told.stop_requested();
}

bool group_lives(pid_t group) {
  if (::kill(-group, 0) != 0 && errno == ESRCH) return false;
  // kill() also finds zombies, so this function reads the states in /proc. An orphan that has ended
  // stays a zombie until its new parent waits for it, which in a container may never happen.
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    if (!parse_number(entry.path().filename().string())) continue;
    std::ifstream file(entry.path() / "stat");
    std::string text;
    std::getline(file, text);
    std::istringstream fields(text.substr(std::min(text.rfind(')'), text.size() - 1) + 1));
    char state = 'X';
    pid_t parent = 0;
    pid_t its_group = 0;
    fields >> state >> parent >> its_group;
    if (its_group == group && state != 'Z' && state != 'X') return true;
  }
  return false;
}

Child::Child(ChildOptions options, Process process)
    : options_(std::move(options)), process_(std::move(process)) {}

Expected<Child> Child::launch(ChildOptions options) {
  ProcessOptions process;
  process.name = options.command.front();
  process.program = find_program(process.name);
  process.arguments.assign(options.command.begin() + 1, options.command.end());
  process.environment = options.environment;
  process.inherits = options.inherit ? is_of_others : is_of_anybody;
  process.directory = options.directory;
  process.standard = {-1, STDOUT_FILENO, STDERR_FILENO};
  PipeEnds input;
  PipeEnds output;
  if (options.input) {
    auto made = make_one_sided(&PipeEnds::write);
    if (!made) return made.error();
    input = std::move(*made);
    process.standard[0] = input.read.fd();
  }
  if (options.output_limit) {
    auto made = make_one_sided(&PipeEnds::read);
    if (!made) return made.error();
    output = std::move(*made);
    process.standard[1] = output.write.fd();
  }
  auto launched = Process::launch(process);
  if (!launched) return Failure{ExitCode::hook_failed, launched.error().what};
  Child child(std::move(options), std::move(*launched));
  child.ended_ = watch_end_of(child.pid());
  if (!child.ended_) return failure_of("cannot watch " + process.name);
  child.input_ = std::move(input.write);
  child.output_ = std::move(output.read);
  return child;
}

ChildEnd Child::wait(const std::stop_token& told) {
  const Descriptor wake(eventfd(0, EFD_CLOEXEC));
  const std::stop_callback on_told(told, [&wake] { eventfd_write(wake.fd(), 1); });
  std::optional<Clock::time_point> deadline;
  if (options_.deadline) deadline = launched_ + *options_.deadline;
  while (!process_.over()) {
    if (!kill_at_) {
      end_.told = told.stop_requested();
      end_.overran = !end_.told && deadline && Clock::now() >= *deadline;
      if (end_.told || end_.overran || end_.too_large) tell_to_end();
    }
    if (kill_at_ && !end_.killed && Clock::now() >= *kill_at_) {
      process_.signal(SIGKILL);
      end_.killed = true;
    }
    std::optional<Clock::time_point> until = kill_at_ ? kill_at_ : deadline;
    if (end_.killed) until.reset();
    watch(kill_at_ ? -1 : wake.fd(), until);
  }
  take_in();
  const pid_t group = pid();
  const bool by_itself = !kill_at_;
  // If the program ended by itself, the rest of its group is killed now, before the program is
  // waited for. Until then no other process can get its number.
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(group), &info, WEXITED | WNOWAIT);
  const bool spared = by_itself && options_.rest == Rest::spared && info.si_code == CLD_EXITED &&
                      info.si_status == 0;
  if (by_itself && !spared) process_.signal(SIGKILL);
  end_.status = process_.wait();
  if (!spared) end_rest(group);
  return std::move(end_);
}

void Child::tell_to_end() {
  process_.signal(SIGTERM);
  kill_at_ = Clock::now() + options_.grace;
}

void Child::watch(int wake, std::optional<Clock::time_point> until) {
  std::array<pollfd, 4> news{pollfd{ended_.fd(), POLLIN, 0}, pollfd{wake, POLLIN, 0},
                             pollfd{input_.fd(), POLLOUT, 0}, pollfd{output_.fd(), POLLIN, 0}};
  poll_until(news.data(), news.size(), until);
  if (news[2].revents != 0) feed();
  if (news[3].revents != 0) take_in();
}

void Child::feed() {
  const std::string& input = *options_.input;
  const ssize_t size = ::write(input_.fd(), input.data() + fed_, input.size() - fed_);
  if (size > 0) fed_ += static_cast<std::size_t>(size);
  // Stops writing to a program that has closed its input, as it does not need the rest.
  const bool later = size < 0 && (errno == EAGAIN || errno == EINTR);
  if (fed_ == input.size() || (size < 0 && !later)) input_ = Descriptor();
}

void Child::take_in() {
  std::array<char, 1 << 14> buffer;
  while (output_) {
    const ssize_t size = ::read(output_.fd(), buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return;  // nothing there now
    if (size > 0) end_.output.append(buffer.data(), static_cast<std::size_t>(size));
    end_.too_large = end_.output.size() > *options_.output_limit;
    if (size == 0 || end_.too_large) output_ = Descriptor();
  }
}

// Waits until no process of the group is left. At the time at which the program itself would be
// killed, this kills the group.
void Child::end_rest(pid_t group) {
  const Clock::time_point kill_at = kill_at_.value_or(Clock::now());
  const Clock::time_point last = kill_at + options_.grace;
  while (true) {
    if (!group_lives(group)) return;
    const auto now = Clock::now();
    if (now >= kill_at && !std::exchange(end_.killed, true)) ::kill(-group, SIGKILL);
    if (now >= last) {
      end_.remains = true;
      return;
    }
    ::poll(nullptr, 0, 5);
  }
}

}  // namespace muster::apps
