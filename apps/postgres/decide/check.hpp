#pragma once

#include <muster/values/types.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// Checks if a PostgreSQL's settings allow the promise that no acknowledged commit is lost. Pure
/// functions of the facts.

namespace muster::postgres {

using muster::operator==;

/// A setting made for a role, a database, or a role in a database, and not for the whole server.
struct OfSome {
  std::string role, database;  ///< quoted as in SQL; empty: all roles, or all databases
  std::string value;
};
MUSTER_DESCRIBE(OfSome, role, database, value);

/// A role that may log in and replicate.
struct Replicates {
  std::string role;  ///< quoted
  bool superuser{};
};
MUSTER_DESCRIBE(Replicates, role, superuser);

/// A client of a primary that bears the name of a node and is not the standby of that node. It
/// counts as a copy.
struct Impostor {
  std::string name;
  std::string address;  ///< empty: it is on the primary's own machine
  std::int64_t process{};
};
MUSTER_DESCRIBE(Impostor, name, address, process);

/// Describes an impostor, and what to do.
std::string in_words(const Impostor& impostor);
/// Describes a server whose standby names are not from Muster's command line.
std::string foreign_names_in_words(const std::string& names);

/// The state and settings of a running PostgreSQL on which the promise rests.
struct Facts {
  /// For example 150013 for 15.13. If the major version is not the supported one, the other fields
  /// are unknown.
  std::uint32_t version{};
  bool standby{};
  bool replay_paused{};
  /// On a standby: replication slots that are not Muster's.
  std::vector<std::string> unread_slots;
  std::size_t databases{};  ///< the number of nodes that have a database
  bool witness{};           ///< the cluster has a node without a database that votes
  bool alone{};             ///< this PostgreSQL is primary, and its commits do not wait for copies
  unsigned copies{};        ///< W: this many nodes hold a commit before it is acknowledged
  /// The number of standbys that stream from this PostgreSQL. None: it is no open primary.
  std::optional<std::size_t> followers;
  /// The values of `settings_looked_at` in pg_settings, as a client sees them: a setting made for
  /// Muster's own role is left out.
  std::map<std::string, std::string> settings;
  /// For each of `settings_of_muster`, the last place in the configuration files that sets it, such
  /// as "FILE line 3". Empty: no file sets it.
  std::map<std::string, std::string> places;
  std::vector<OfSome> synchronous_commit;
  std::vector<Replicates> replicates;  ///< roles other than Muster's
  /// On a standby: the least value that each of `settings_of_primary` must have, so that the
  /// standby can follow its primary.
  std::map<std::string, std::uint64_t> least;
  std::vector<Impostor> impostors{};
  /// The standby names of a server that does not have them from Muster's command line.
  std::optional<std::string> foreign_names{};
  /// An error in a settings file, such as "FILE line 3: syntax error". Empty: there is none.
  std::string file_error{};
  bool has_marker_key = true;  ///< this node has a marker key
  bool rows_ended = true;      ///< rows of muster.term decide nothing any more
};
MUSTER_DESCRIBE(Facts, version, standby, replay_paused, unread_slots, databases, witness, alone,
                copies, followers, settings, places, synchronous_commit, replicates, least,
                impostors, foreign_names, file_error, has_marker_key, rows_ended);

/// The settings whose values are checked.
extern const std::vector<std::string> settings_looked_at;
/// The settings that only muster.conf may set.
extern const std::vector<std::string> settings_of_muster;
/// The settings that must not be smaller on a standby than on its primary.
extern const std::vector<std::string> settings_of_primary;

/// Something that breaks the promise or prevents a fail-over.
struct Finding {
  std::string about;  ///< the setting, "version", "markers", "roles", "replay", "copies" or "nodes"
  std::string sentence;  ///< the fact, its consequence, and the cure
};
MUSTER_DESCRIBE(Finding, about, sentence);

/// All findings. Empty: the promise holds.
std::vector<Finding> check(const Facts& facts);

/// Formats a version, such as "15.13".
std::string version_text(std::uint32_t version);

}  // namespace muster::postgres
