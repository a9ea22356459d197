#pragma once

#include "apps/postgres/decide/orders.hpp"
#include "apps/postgres/server/options.hpp"
#include "apps/postgres/server/session.hpp"

#include <string>
#include <vector>

/// The files, settings and SQL statements that tell PostgreSQL its role, and the files' paths.

namespace muster::postgres {

std::filesystem::path conf_path(const InstanceOptions& options);  ///< muster.conf
/// The system identifier in the control file of the database at `data`. None: there is no database.
std::optional<std::uint64_t> system_identifier_in(const std::filesystem::path& data);

/// The file of the note, which contains the holding before a rewind or clone.
std::filesystem::path note_path(const InstanceOptions& options);
/// The file of the holding that the node last recorded.
std::filesystem::path held_path(const InstanceOptions& options);
/// The file of the node list under which this node takes part.
std::filesystem::path copies_path(const InstanceOptions& options);
/// The file of what this node knows of the terms of its cluster (marker.hpp).
std::filesystem::path known_terms_path(const InstanceOptions& options);
/// The same file, in an SQL expression at any node's server. NULL: that node is of an older
/// version, or has no such file.
inline constexpr const char* known_terms_there =
    "pg_read_file(current_setting('muster.directory', true) || '/muster.terms', 0, 16777216, true)";
/// The names of the marker keys of a server's node, separated by blanks, in an SQL expression.
inline constexpr const char* marker_keys_there = "current_setting('muster.marker_keys', true)";
std::filesystem::path log_path(const InstanceOptions& options);  ///< the server's log
/// A pg_ident.conf for the pg_hba.conf of a bundle. Its map `muster` names the users of this
/// machine that have the right to log in as the superuser.
std::filesystem::path ident_path(const InstanceOptions& options);

/// The socket on which a running node takes its operator's requests. The node answers "rejoin" with
/// {} if it rejoins, and otherwise with {"refused": why}.
std::filesystem::path admin_socket(const InstanceOptions& options);

/// The last line of postgresql.conf, so that muster.conf overrides the settings above it.
inline constexpr const char* include_line = "include_if_exists '../muster.conf'";

/// The name that a standby gives itself: "n2", or "mend_n2" while its copies do not count.
std::string name_of(NodeId node, bool counts = true);
/// The name that a node gives itself while it clones another: "muster_clone_n2".
std::string name_of_clone(NodeId node);

/// The slot that a primary keeps for a node in a group, such as "muster_7_3_n2". All slots of
/// Muster have the prefix `muster_`.
std::string slot_of(GroupNumber group, NodeId node);
inline constexpr const char* slots_begin_with = "muster_";

/// The name of the acknowledger (perform/acknowledger.hpp).
inline constexpr const char* name_of_acknowledger = "muster_alone";
/// All names in `synchronous_standby_names`.
std::vector<std::string> standby_names(const Copies& copies);
/// The value of `synchronous_standby_names`, which never changes while a server runs.
std::string names_text(const Copies& copies);
/// Names as an array of PostgreSQL, such as "{n1,n2}".
std::string sql_array(const std::vector<std::string>& names);

/// The parameters of a session with the PostgreSQL of `to`. The node reaches its own PostgreSQL by
/// the socket. Commits of such a session wait for no copy.
Session::Parameters session_parameters(const InstanceOptions& options, NodeId to);

/// The parameters of a session with the node's own PostgreSQL that is a standby of that name.
Session::Parameters parameters_of_a_standby(const InstanceOptions& options,
                                            const std::string& name);

/// The parameters of a session with the node's own PostgreSQL, in which commits and transactions
/// have the same defaults as those of a client.
Session::Parameters parameters_of_a_client(const InstanceOptions& options);

/// The parameters of a session with the PostgreSQL of `to` as one string, for a program of
/// PostgreSQL.
std::string connection_text(const InstanceOptions& options, NodeId to, const std::string& name);

/// The whole text of muster.conf.
std::string conf_text(const InstanceOptions& options, const Conf& conf);
/// The setting in muster.conf by which a session shows the file that its server has read, and the
/// value of that setting for these contents.
inline constexpr const char* digest_setting = "muster.conf_digest";
std::string conf_digest(const InstanceOptions& options, const Conf& conf);
/// Makes the include line the end of postgresql.conf if that file has lost the line. Returns true
/// if it had.
Expected<bool> include_again(const InstanceOptions& options);

/// The settings that do not change while the server runs: Muster's, and those of
/// `options.settings`.
std::map<std::string, std::string> settings_on_command_line(const InstanceOptions& options);

/// The arguments of the postmaster. The command line overrides every file and ALTER SYSTEM, so no
/// other user can change these settings.
std::vector<std::string> postmaster_arguments(const InstanceOptions& options);

/// Writes a transactional message to the log. PostgreSQL flushes and sends such a message at once.
/// Returns the end of the message's record.
inline constexpr const char* write_a_record = "SELECT pg_logical_emit_message(true, 'muster', '')";

/// Statements that make the table muster.term, and the row of a term, if they do not exist yet.
/// Each statement is one line.
inline constexpr const char* make_schema = "CREATE SCHEMA IF NOT EXISTS muster";
inline constexpr const char* make_table =
    "CREATE TABLE IF NOT EXISTS muster.term (counter bigint NOT NULL, coordinator bigint NOT NULL,"
    " node bigint NOT NULL, timeline bigint NOT NULL, lsn pg_lsn NOT NULL,"
    " at timestamptz NOT NULL DEFAULT now(), copies jsonb, system numeric,"
    " PRIMARY KEY (counter, coordinator))";
/// Adds the columns that tables of earlier versions lack.
inline constexpr const char* add_columns =
    "ALTER TABLE muster.term ADD COLUMN IF NOT EXISTS copies jsonb,"
    " ADD COLUMN IF NOT EXISTS system numeric";
std::string row_statement(const Marker& marker);
std::uint64_t seconds_since_1970();
/// The first term of a database, before all groups. It has no marker in the log.
Marker first_marker(const InstanceOptions& options, std::uint32_t timeline);
/// Statements that make the table with the row of the first term. Each statement is one line.
std::string statements_of_first_row(const Marker& first);

/// Write and read the note. It is JSON: the holding, or null if the holding is not known. Reading
/// returns nothing if there is no note. A note that exists and cannot be read is an error, since
/// otherwise its holding would be lost.
Expected<> write_note(const InstanceOptions& options, const std::optional<Note>& note);
Expected<std::optional<Note>> read_note(const InstanceOptions& options);
/// Write and read the list under which this node takes part. The node never takes part under an
/// earlier generation again.
Expected<> write_copies(const InstanceOptions& options);
Expected<std::optional<Copies>> read_copies(const InstanceOptions& options);
/// Write and read the holding that the node records before it counts, and at intervals. A clone
/// brings a record of its own, which takes the place of the older one together with the data.
Expected<> write_held(const InstanceOptions& options, const Held& held);
Expected<std::optional<Held>> read_held(const InstanceOptions& options);
/// The record that a clone at `data` brings.
std::filesystem::path brought_record(const std::filesystem::path& data);

}  // namespace muster::postgres
