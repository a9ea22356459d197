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

constexpr Duration between_looks = 3ms;
/// How long a postmaster that was told to end may live: it kills what does not go after 5 s itself.
constexpr Duration patience_with_postmaster = 7s;
constexpr Duration patience_with_orphans = 1s;

apps::ProcessOptions process_of(const InstanceOptions& options) {
  apps::ProcessOptions process;
  process.program = options.programs / "postgres";
  process.name = process.program.string();  // where it looks for its libraries
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

/// What recovery says first, and what is said of a file without which there is none.
bool looks_at_data(std::string_view line) {
  constexpr std::string_view said[] = {"database system was ", "database system shutdown was ",
                                       "pg_control", "control file", "PG_VERSION"};
  return std::any_of(std::begin(said), std::end(said), [line](std::string_view each) {
    return line.find(each) != std::string_view::npos;
  });
}

/// Of a server that has ended.
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
  const auto gone = gone_;  // who is told drops this
  if (all.empty()) {
    unlock(data_ / "postmaster.pid");
    return gone({});
  }
  const Duration waited = std::chrono::steady_clock::now() - began_;
  if (const auto postmaster = postmaster_on(data_)) {
    if (waited > patience_with_postmaster) {
      return gone(Failure{ExitCode::temporary,
                          "another PostgreSQL, process " + std::to_string(*postmaster) +
                              ", runs on " + data_.string() +
                              ": stop it, and disable the service that starts it"});
    }
  } else {
    for (const pid_t pid : all) ::kill(pid, waited < patience_with_orphans ? SIGQUIT : SIGKILL);
  }
  pause_.wait(between_looks, [this] { look(); });
}

Expected<std::unique_ptr<Postmaster>> Postmaster::launch(const Executor& executor,
                                                         const InstanceOptions& options,
                                                         End ended) {
  const std::string port = std::to_string(options.nodes.at(options.node).port);
  unlock(options.sockets / (".s.PGSQL." + port + ".lock"));
  const auto log_began = size_of(log_path(options));
  auto process = launch_from_lasting_thread(process_of(options));
  if (!process) return process.error();
  std::unique_ptr<Postmaster> made(
      new Postmaster(executor, options, std::move(*process), std::move(ended)));
  made->log_began_ = log_began;
  return made;
}

Postmaster::Postmaster(const Executor& executor, const InstanceOptions& options,
                       apps::Process process, End ended)
    : executor_(executor),
      data_(options.data),
      log_(log_path(options)),
      process_(std::move(process)),
      ended_(std::move(ended)),
      end_(executor, process_.pid(), [this] { see_end(); }) {}

Postmaster::~Postmaster() {
  shut_down_immediately();
  while (process_.pid() > 0 && !process_.ended()) ::poll(nullptr, 0, 1);
  const auto began = std::chrono::steady_clock::now();
  for (auto all = processes_on(data_); !all.empty(); all = processes_on(data_)) {
    const bool late = std::chrono::steady_clock::now() - began > patience_with_orphans;
    for (const pid_t pid : all) ::kill(pid, late ? SIGKILL : SIGQUIT);
    ::poll(nullptr, 0, between_looks / 1ms);
  }
}

bool Postmaster::reload() const {
  if (pid_in(data_ / "postmaster.pid") != pid()) return false;
  signal(SIGHUP);
  return true;
}

// To it alone: what it has just forked may be in its group still.
void Postmaster::signal(int number) const {
  if (process_.pid() > 0 && !process_.over()) ::kill(process_.pid(), number);
}

void Postmaster::see_end() {
  how_ = describe(process_.wait());
  remains_.emplace(executor_, data_, [this](const Expected<>&) {
    const auto ended = ended_;  // who is told drops this
    ended(how_);
  });
}

namespace {

std::string text_after(std::string_view level, const std::string& line) {
  const auto at = line.find(level);
  return at == std::string::npos ? "" : line.substr(at + level.size());
}

// What a server that refuses to begin has to say before it says that: which address, which setting
// and where, which line of which file.
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
  // Somebody may have taken away what was in it.
  log.seekg(static_cast<std::streamoff>(log_began_ <= size_of(log_) ? log_began_ : 0));
  std::string said, because;
  for (std::string line; std::getline(log, line);) {
    if (looks_at_data(line)) how.before_data = false;
    because = cause_in(line, because);
    const auto fatal = std::min(line.find("FATAL: "), line.find("PANIC: "));
    // So it answers those who come too early.
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
