#include "apps/postgres/server/processes.hpp"

#include "apps/base/text.hpp"
#include "apps/postgres/server/durable.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <string_view>

namespace muster::postgres {
namespace {

std::string text_of(pid_t pid, const char* file) {
  auto text = read_text(std::filesystem::path("/proc") / std::to_string(pid) / file);
  return text && *text ? **text : std::string();
}

/// The value in a line such as "State:\tS (sleeping)".
std::string_view value_of(std::string_view status, std::string_view key) {
  const auto at = status.find(key);
  if (at == std::string_view::npos) return {};
  status.remove_prefix(at + key.size());
  status.remove_prefix(std::min(status.find_first_not_of(" \t"), status.size()));
  return status.substr(0, status.find('\n'));
}

constexpr std::string_view waits_key = "\nvoluntary_ctxt_switches:";

}  // namespace

std::vector<pid_t> processes_on(const std::filesystem::path& data) {
  std::vector<pid_t> found;
  std::error_code error;
  const auto directory = std::filesystem::canonical(data, error);
  if (error) return found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const auto pid = apps::parse_number(entry.path().filename().string());
    if (!pid) continue;
    // All server processes have the data directory as working directory. If a process has ended,
    // its link cannot be read.
    const auto works_in = std::filesystem::read_symlink(entry.path() / "cwd", error);
    if (error || works_in != directory) continue;
    const auto number = static_cast<pid_t>(*pid);
    if (text_of(number, "comm") == "postgres\n") found.push_back(number);
  }
  return found;
}

std::optional<pid_t> pid_in(const std::filesystem::path& lock) {
  const auto text = read_text(lock);
  if (!text || !*text) return std::nullopt;
  const auto pid = apps::parse_number(std::string_view(**text).substr(0, (*text)->find('\n')));
  if (!pid || *pid == 0 || *pid > std::numeric_limits<pid_t>::max()) return std::nullopt;
  return static_cast<pid_t>(*pid);
}

std::optional<pid_t> postmaster_on(const std::filesystem::path& data) {
  const auto pid = pid_in(data / "postmaster.pid");
  const auto all = processes_on(data);
  if (!pid || std::find(all.begin(), all.end(), *pid) == all.end()) return std::nullopt;
  return pid;
}

void kill_stopped(const std::filesystem::path& data) {
  for (const pid_t pid : processes_on(data))
    if (value_of(text_of(pid, "status"), "\nState:").starts_with('T')) ::kill(pid, SIGKILL);
}

bool has_argument(pid_t pid, const std::string& argument) {
  const std::string arguments = text_of(pid, "cmdline");
  return arguments.find('\0' + argument + '\0') != std::string::npos;
}

bool has_such_a_parent(pid_t pid) {
  const auto parent = apps::parse_number(value_of(text_of(pid, "status"), "\nPPid:"));
  return parent && text_of(static_cast<pid_t>(*parent), "comm") == text_of(::getpid(), "comm");
}

bool takes_connections(const std::filesystem::path& data, pid_t postmaster) {
  const auto text = read_text(data / "postmaster.pid");
  // The first line is the postmaster's process id, the last line its state.
  return text && *text && (*text)->starts_with(std::to_string(postmaster) + "\n") &&
         (*text)->find("\nready") != std::string::npos;
}

std::optional<std::uint64_t> sleeps_of(pid_t pid) {
  const std::string status = text_of(pid, "status");
  if (!value_of(status, "\nState:").starts_with('S')) return std::nullopt;
  return apps::parse_number(value_of(status, waits_key));
}

std::optional<std::string> log_file_read_by(pid_t startup) {
  const std::string title = text_of(startup, "cmdline");
  constexpr std::string_view before = "startup recovering ";
  const auto at = title.find(before);
  if (at == std::string::npos) return std::nullopt;
  const std::string name = title.substr(at + before.size(), 24);
  const bool whole =
      name.size() == 24 && name.find_first_not_of("0123456789ABCDEF") == std::string::npos;
  return whole ? std::optional(name) : std::nullopt;
}

std::optional<pid_t> process_called(const std::filesystem::path& data, std::string_view word) {
  const std::string title = "postgres: " + std::string(word) + " ";
  for (const pid_t pid : processes_on(data))
    if (text_of(pid, "cmdline").starts_with(title)) return pid;
  return std::nullopt;
}

bool is_in_conflict(pid_t startup) {
  std::string title = text_of(startup, "cmdline");
  title.erase(std::min(title.find_last_not_of(std::string_view("\0 ", 2)) + 1, title.size()));
  return title.ends_with(" waiting");
}

bool streams(const std::filesystem::path& data) {
  const auto receiver = process_called(data, "walreceiver");
  return receiver &&
         text_of(*receiver, "cmdline").find("walreceiver streaming ") != std::string::npos;
}

std::string progress_of_recovery(const std::filesystem::path& data) {
  std::string all;
  for (const pid_t pid : processes_on(data)) {
    const std::string title = text_of(pid, "cmdline");
    for (const std::string_view of :
         {"startup recovering ", "startup waiting for ", "walreceiver streaming "})
      if (const auto at = title.find(of); at != std::string::npos) all += title.substr(at) + '\n';
  }
  return all;
}

std::string progress_of_shutdown(const std::filesystem::path& data) {
  std::string all;
  for (const pid_t pid : processes_on(data)) {
    const std::string title = text_of(pid, "cmdline");
    // A process that has no title yet only refuses a new client, so it shows no progress.
    if (!title.starts_with("postgres: ")) continue;
    all += std::to_string(pid) + ' ' + title + '\n';
    if (title.find("checkpointer") == std::string::npos) continue;
    // The checkpointer sleeps (state S) only while it waits for walsenders. At other times it waits
    // for the disk, and the number of those waits shows progress.
    const std::string status = text_of(pid, "status");
    if (!value_of(status, "\nState:").starts_with('S')) all += value_of(status, waits_key);
  }
  return all;
}

}  // namespace muster::postgres
