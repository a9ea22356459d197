#include "apps/postgres/perform/postmaster.hpp"

#include "apps/postgres/server/conf.hpp"
#include "apps/postgres/server/processes.hpp"

#include <boost/asio/post.hpp>

#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <string_view>

namespace muster::postgres {
namespace {

using namespace std::chrono_literals;

constexpr Duration between_polls = 3ms;
/// How long a postmaster can live after it was told to end. The postmaster waits 5 s before it
/// kills children that do not end.
constexpr Duration patience_with_postmaster = 7s;
constexpr Duration patience_with_orphans = 1s;

apps::ProcessOptions process_of(const InstanceOptions& options) {
  apps::ProcessOptions process;
  process.program = options.programs / "postgres";
  process.name = process.program.string();  // PostgreSQL finds its libraries by this name
  process.arguments = postmaster_arguments(options);
  process.inherits = [](std::string_view name) {
    return !name.starts_with("PG") && !name.starts_with("MUSTER_");
  };
  process.output = log_path(options);
  process.at_parents_end = SIGQUIT;
  return process;
}

std::uintmax_t size_of(const std::filesystem::path& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  return error ? 0 : size;
}

/// True for the first line that recovery logs, and for errors about files that recovery needs.
bool looks_at_data(std::string_view line) {
  constexpr std::string_view said[] = {"database system was ", "database system shutdown was ",
                                       "pg_control", "control file", "PG_VERSION"};
  return std::any_of(std::begin(said), std::end(said), [line](std::string_view each) {
    return line.find(each) != std::string_view::npos;
  });
}

/// An argument that only Muster gives to a server on that data directory.
std::string own_argument(const std::filesystem::path& data) {
  return "muster.directory=" + data.parent_path().string();
}

/// Removes the lock file of a server that has ended.
void unlock(const std::filesystem::path& lock) {
  const auto pid = pid_in(lock);
  std::error_code ignored;
  if (pid && ::kill(*pid, 0) == 0) std::filesystem::remove(lock, ignored);
}

}  // namespace

Remains::Remains(const Executor& executor, std::filesystem::path data,
                 std::function<void(Expected<>)> gone)
    : data_(std::move(data)), gone_(std::move(gone)), pause_(executor) {
  pause_.wait(0ms, [this] { look(); });
}

void Remains::look() {
  const auto all = processes_on(data_);
  const auto gone = gone_;  // the callee destroys this object
  if (all.empty()) {
    unlock(data_ / "postmaster.pid");
    return gone({});
  }
  const Duration waited = std::chrono::steady_clock::now() - began_;
  if (const auto postmaster = postmaster_on(data_)) {
    // A life of this node that is over has started it, and it was told to end with that life.
    const bool is_own =
        has_argument(*postmaster, own_argument(data_)) && !has_such_a_parent(*postmaster);
    if (is_own) kill_stopped(data_);
    if (waited > patience_with_postmaster && is_own) ::kill(*postmaster, SIGKILL);
    if (waited > patience_with_postmaster && !is_own) {
      return gone(Failure{ExitCode::temporary,
                          "another PostgreSQL, process " + std::to_string(*postmaster) +
                              ", runs on " + data_.string() +
                              ": stop it, and disable the service that starts it"});
    }
  } else {
    for (const pid_t pid : all) ::kill(pid, waited < patience_with_orphans ? SIGQUIT : SIGKILL);
  }
  pause_.wait(between_polls, [this] { look(); });
}

Expected<std::unique_ptr<Postmaster>> Postmaster::launch(const Executor& executor,
                                                         const InstanceOptions& options,
                                                         End on_end) {
  const std::string port = std::to_string(options.nodes.at(options.node).port);
  unlock(options.sockets / (".s.PGSQL." + port + ".lock"));
  const auto log_began = size_of(log_path(options));
  auto process = launch_from_lasting_thread(process_of(options));
  if (!process) return process.error();
  std::unique_ptr<Postmaster> made(
      new Postmaster(executor, options, std::move(*process), std::move(on_end)));
  made->log_began_ = log_began;
  return made;
}

Postmaster::Postmaster(const Executor& executor, const InstanceOptions& options,
                       apps::Process process, End on_end)
    : executor_(executor),
      data_(options.data),
      log_(log_path(options)),
      process_(std::move(process)),
      on_end_(std::move(on_end)),
      end_(executor, process_.pid(), [this] { see_end(); }) {}

Postmaster::~Postmaster() {
  shut_down_immediately();
  while (process_.pid() > 0 && !process_.try_wait()) ::poll(nullptr, 0, 1);
  const auto began = std::chrono::steady_clock::now();
  for (auto all = processes_on(data_); !all.empty(); all = processes_on(data_)) {
    const bool late = std::chrono::steady_clock::now() - began > patience_with_orphans;
    for (const pid_t pid : all) ::kill(pid, late ? SIGKILL : SIGQUIT);
    ::poll(nullptr, 0, between_polls / 1ms);
  }
}

bool Postmaster::reload() const {
  if (pid_in(data_ / "postmaster.pid") != pid()) return false;
  signal(SIGHUP);
  return true;
}

void Postmaster::shut_down_immediately() const {
  signal(SIGQUIT);
  kill_stopped(data_);
}

// Signals only the postmaster, and not its process group: a process that the postmaster has just
// forked may still be in the group.
void Postmaster::signal(int number) const {
  if (process_.pid() > 0 && !process_.over()) ::kill(process_.pid(), number);
}

void Postmaster::see_end() {
  how_ = describe(process_.wait());
  remains_.emplace(executor_, data_, [this](const Expected<>&) {
    const auto on_end = on_end_;  // the callee destroys this object
    on_end(how_);
  });
}

namespace {

std::string text_after(std::string_view level, const std::string& line) {
  const auto at = line.find(level);
  return at == std::string::npos ? "" : line.substr(at + level.size());
}

// The line of the log that explains why a server refuses to start. This line comes before the line
// of the refusal. It names the address, the setting and its place, or the file and its line.
std::string cause_in(const std::string& line, const std::string& before) {
  if (const auto context = text_after("CONTEXT:  ", line); !context.empty() && !before.empty())
    return before + ", " + context;
  constexpr std::string_view wrong[] = {"could not ", "unrecognized ", "invalid ", "syntax error "};
  const std::string said = text_after("LOG:  ", line);
  const bool is_cause = std::any_of(std::begin(wrong), std::end(wrong),
                                    [&](auto begins) { return said.starts_with(begins); });
  return is_cause ? said : before;
}

}  // namespace

Failed Postmaster::describe(int status) const {
  Failed how{"PostgreSQL " + apps::describe_end(status), true};
  std::ifstream log(log_);
  // The log may have been truncated since the server started.
  log.seekg(static_cast<std::streamoff>(log_began_ <= size_of(log_) ? log_began_ : 0));
  std::string said, because;
  for (std::string line; std::getline(log, line);) {
    if (looks_at_data(line)) how.before_data = false;
    because = cause_in(line, because);
    const auto fatal = std::min(line.find("FATAL: "), line.find("PANIC: "));
    // PostgreSQL logs such a line when a client connects before PostgreSQL has started.
    if (fatal != std::string::npos && line.find("the database system is") == std::string::npos)
      said = line.substr(fatal);
  }
  if (status == 0) return how;
  if (!said.empty()) how.why += ": " + said;
  if (!said.empty() && how.before_data && !because.empty()) how.why += " (" + because + ")";
  how.why += "; see " + log_.string();
  return how;
}

}  // namespace muster::postgres
