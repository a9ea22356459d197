#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Information of the operating system about PostgreSQL's processes.

namespace muster::postgres {

/// The processes that work on that data directory and have not ended, no matter which process
/// started them.
std::vector<pid_t> processes_on(const std::filesystem::path& data);

/// The process id in the first line of a PostgreSQL lock file. The process that wrote the file may
/// have ended, and another process may have that id.
std::optional<pid_t> pid_in(const std::filesystem::path& lock);

/// The postmaster that `postmaster.pid` names, if it is one of `processes_on`.
std::optional<pid_t> postmaster_on(const std::filesystem::path& data);

/// Kills those processes on that data directory that are stopped, as by SIGSTOP: they take no other
/// signal.
void kill_stopped(const std::filesystem::path& data);

/// True if that process has this argument on its command line.
bool has_argument(pid_t pid, const std::string& argument);

/// True if the parent of that process runs the same program as this process.
bool has_such_a_parent(pid_t pid);

/// True if the pid file of that postmaster says that it accepts connections. An attempt to connect
/// would instead make the postmaster fork and log a complaint each time.
bool takes_connections(const std::filesystem::path& data, pid_t postmaster);

/// How often a process has gone to sleep by itself (voluntary context switches). None: the process
/// does not sleep now.
std::optional<std::uint64_t> sleeps_of(pid_t pid);

/// The process on that data directory whose title begins with this word, such as "startup" or
/// "walreceiver".
std::optional<pid_t> process_called(const std::filesystem::path& data, std::string_view word);

/// True if the startup process waits for a session that reads, or for a lock.
bool is_in_conflict(pid_t startup);

/// True if a standby on that data directory streams from another node.
bool streams(const std::filesystem::path& data);

/// The log file that the startup process reads, from its process title, such as
/// "000000020000000000000003". None: it waits for a log file.
std::optional<std::string> log_file_read_by(pid_t startup);

/// A text that changes as long as a recovery that needs another node's log makes progress. The text
/// is made from the titles of the processes on that directory.
std::string progress_of_recovery(const std::filesystem::path& data);

/// A text that changes as long as an orderly shutdown makes progress: while sessions end, and while
/// the last checkpoint is written to disk. The text does not change while the shutdown waits for a
/// standby that does not answer.
std::string progress_of_shutdown(const std::filesystem::path& data);

}  // namespace muster::postgres
