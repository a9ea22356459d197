#pragma once

#include "apps/postgres/decide/orders.hpp"
#include "apps/postgres/server/options.hpp"
#include "apps/postgres/server/session.hpp"

#include <string>
#include <vector>

/// The texts through which PostgreSQL is told what to be, and where they stand.

namespace muster::postgres {

std::filesystem::path conf_path(const InstanceOptions& options);  ///< muster.conf
std::filesystem::path note_path(const InstanceOptions& options);  ///< what was held before mending
std::filesystem::path held_path(const InstanceOptions& options);  ///< what was held a moment ago
std::filesystem::path copies_path(const InstanceOptions& options);  ///< by which it takes part
std::filesystem::path log_path(const InstanceOptions& options);     ///< what the server has to say
/// Where there is a pg_hba.conf of ours: who of this machine is the superuser, map=muster.
std::filesystem::path ident_path(const InstanceOptions& options);

/// Where who keeps it answers the owner of the node: "rejoin" with {} where it is being done, or
/// with {"refused": why}.
std::filesystem::path admin_socket(const InstanceOptions& options);

/// The last line of postgresql.conf: muster.conf counts for more than what stands above it.
inline constexpr const char* include_line = "include_if_exists '../muster.conf'";

/// "n2", or "mend_n2": what a standby calls itself.
std::string name_of(NodeId node, bool mending = false);
/// "muster_clone_n2": what it calls itself while it clones another.
std::string name_of_clone(NodeId node);

/// What a primary keeps for that node in that group: "muster_7_3_n2". Slots of ours begin so.
std::string slot_of(GroupNumber group, NodeId node);
inline constexpr const char* slots_begin_with = "muster_";

/// The value of `synchronous_standby_names`.
std::string names_text(Names names, const Copies& copies);
/// In SQL: whether they are those of one that goes on alone.
inline constexpr const char* shows_alone =
    "SELECT current_setting('synchronous_standby_names') = ''";

/// How a session reaches that node's PostgreSQL from here, one's own by its socket. What it writes
/// waits for no copy.
Session::Parameters session_parameters(const InstanceOptions& options, NodeId to);

/// The same for a program of PostgreSQL, as one string.
std::string connection_text(const InstanceOptions& options, NodeId to, const std::string& name);

/// All of muster.conf.
std::string conf_text(const InstanceOptions& options, const Conf& conf);

/// What does not change while it runs: ours, and what `options.settings` has besides.
std::map<std::string, std::string> settings_on_command_line(const InstanceOptions& options);

/// The postmaster's arguments. What is here is in nobody's hands but ours, as the command line
/// counts for more than any file and ALTER SYSTEM.
std::vector<std::string> postmaster_arguments(const InstanceOptions& options);

/// What makes the table muster.term, and a node's row of a group in it, where it is not there yet:
/// a statement each, and a line.
inline constexpr const char* make_schema = "CREATE SCHEMA IF NOT EXISTS muster";
inline constexpr const char* make_table =
    "CREATE TABLE IF NOT EXISTS muster.term (counter bigint NOT NULL, coordinator bigint NOT NULL,"
    " node bigint NOT NULL, timeline bigint NOT NULL, lsn pg_lsn NOT NULL,"
    " at timestamptz NOT NULL DEFAULT now(), copies jsonb,"
    " PRIMARY KEY (counter, coordinator))";
/// In the table of an earlier version.
inline constexpr const char* add_copies =
    "ALTER TABLE muster.term ADD COLUMN IF NOT EXISTS copies jsonb";
std::string row_statement(GroupNumber group, NodeId node, const Copies& copies);
/// The table with its first row alone, of a group before all, a line each.
std::string statements_of_first_row(NodeId node, const Copies& copies);

/// The note, as JSON: what was held, null where that is not known; and what stands there, none
/// where there is no note. One that cannot be read is a failure: nobody would know what was held.
Expected<> write_note(const InstanceOptions& options, const std::optional<Note>& note);
Expected<std::optional<Note>> read_note(const InstanceOptions& options);
/// The copies by which this node takes part, and never again by those of an earlier generation.
Expected<> write_copies(const InstanceOptions& options);
Expected<std::optional<Copies>> read_copies(const InstanceOptions& options);
/// The same of what was held a moment ago.
Expected<> write_held(const InstanceOptions& options, const Held& held);
Expected<std::optional<Held>> read_held(const InstanceOptions& options);

}  // namespace muster::postgres
