#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// What the system tells of PostgreSQL's processes.

namespace muster::postgres {

/// Those that have not ended and work on that data directory, whoever's children they are.
std::vector<pid_t> processes_on(const std::filesystem::path& data);

/// The process that a lock file of PostgreSQL names in its first line; it may be anybody's by now.
std::optional<pid_t> pid_in(const std::filesystem::path& lock);

/// The postmaster that `postmaster.pid` names, if it is one of `processes_on`.
std::optional<pid_t> postmaster_on(const std::filesystem::path& data);

/// Whether that postmaster takes connections, by its own file: who asks it by connecting makes it
/// fork and complain each time.
bool takes_connections(const std::filesystem::path& data, pid_t postmaster);

/// How often a process has waited for something by its own will; none unless it does so now.
std::optional<std::uint64_t> sleeps_of(pid_t pid);

/// The file of the log that the startup process reads, by its title: "000000020000000000000003";
/// none where it waits for one.
std::optional<std::string> log_file_read_by(pid_t startup);

/// How far recovery is that needs more of another's log, by the titles of the processes on that
/// directory: changes while it comes, and is replayed.
std::string progress_of_recovery(const std::filesystem::path& data);

/// How far a shutdown in order is, by the processes on that directory: changes while sessions end
/// and while its checkpoint comes to the disk, and not while it waits for a standby that does not
/// answer.
std::string progress_of_shutdown(const std::filesystem::path& data);

}  // namespace muster::postgres
