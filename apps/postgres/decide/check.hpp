#pragma once

#include <muster/values/types.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// Whether a PostgreSQL is set so that the promise can be kept: a value and a function.

namespace muster::postgres {

using muster::operator==;

/// A setting that is not the server's own, but of a role, a database, or one in the other.
struct OfSome {
  std::string role, database;  ///< quoted as SQL has them; empty: every one
  std::string value;
};
MUSTER_DESCRIBE(OfSome, role, database, value);

/// A role that may log in and replicate.
struct Replicates {
  std::string role;  ///< quoted
  bool superuser{};
};
MUSTER_DESCRIBE(Replicates, role, superuser);

/// What a running PostgreSQL says of itself, as far as the promise rests on it.
struct Facts {
  std::uint32_t version{};  ///< 150013 is 15.13; of another major version nothing else is known
  bool standby{};
  bool replay_paused{};
  std::vector<std::string> unread_slots;  ///< of a standby, others than those of nodes
  std::size_t databases{};                ///< nodes that have one
  bool witness{};                         ///< another node has none, and votes
  bool alone{};                           ///< it is primary, and its commits wait for nobody
  unsigned copies{};                      ///< of a commit, before it is acknowledged
  /// Nodes whose databases stream from it; none: it is no open primary.
  std::optional<std::size_t> followers;
  /// Those of `settings_looked_at`, as pg_settings has them; without what is of our own role alone.
  std::map<std::string, std::string> settings;
  /// Of `settings_of_muster`, the last place in the files of settings, "FILE line 3"; empty: none.
  std::map<std::string, std::string> places;
  std::vector<OfSome> synchronous_commit;
  std::vector<Replicates> replicates;  ///< other roles than ours
  /// Of `settings_of_primary`, what its standbys have to have at least; where this is one.
  std::map<std::string, std::uint64_t> least;
};
MUSTER_DESCRIBE(Facts, version, standby, replay_paused, unread_slots, databases, witness, alone,
                copies, followers, settings, places, synchronous_commit, replicates, least);

/// Which are looked at.
extern const std::vector<std::string> settings_looked_at;
/// What muster.conf alone is to say.
extern const std::vector<std::string> settings_of_muster;
/// What may not be smaller on a standby than on its primary.
extern const std::vector<std::string> settings_of_primary;

/// Something that breaks the promise, or a fail-over.
struct Finding {
  std::string about;     ///< the setting, "version", "roles", "replay", "copies" or "nodes"
  std::string sentence;  ///< what it is, what comes of it, and the cure
};
MUSTER_DESCRIBE(Finding, about, sentence);

/// All of them; none: it holds.
std::vector<Finding> check(const Facts& facts);

/// "15.13".
std::string version_text(std::uint32_t version);

}  // namespace muster::postgres
