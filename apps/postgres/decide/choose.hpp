#pragma once

#include "apps/postgres/decide/struck_lines.hpp"
#include "apps/postgres/decide/values.hpp"

#include <map>
#include <optional>

/// The two decisions of a reorganization: who writes, and how the others come to follow.

namespace muster::postgres {

/// Who writes, by what sealed nodes have reported. Nobody does where fewer than
/// `copies.to_promote()` of its nodes reported what they hold or held, where their databases are
/// not one and the same, or where the freshest is below what a node held that is being mended; nor
/// where another list of nodes wrote that, unless this is the next and enough of those have
/// reported. Of whose log too few get anything is passed over, where W others have data and one of
/// them can be chosen. The freshest is the maximum by (term, lsn); on a tie to whom the primary of
/// before hands over, then the present primary, then the highest id.
Choice choose(const Copies& copies, const std::map<NodeId, Evidence>& reports,
              std::optional<NodeId> present_primary, const Struck& struck = {});

/// The same for that group, by what its members report; also for a cluster with a witness:
///
/// Only who holds each commit by the latest promise may be chosen; and that is the latest where a
/// majority of all nodes tells of one. (Where nobody has ever promised anything, all nodes with
/// data are to be there.) A promise names the primary, and whoever held each commit before and
/// follows at once. Where nobody writes the latest goes on.
Choice choose(const Copies& copies, const GroupNumber& group,
              const std::map<NodeId, Report>& reports, const Struck& struck = {});

/// Why a node that has taken part by one list never may by that other; empty: it may.
std::string why_never_after(const Copies& before, const Copies& copies);

/// What is held, without how.
Held as_held(const Holding& holding);
/// It lacks some of what was held once, or is of another database.
bool is_below(const Holding& holding, const Held& once);

/// Of those that report to be a primary, the freshest.
std::optional<NodeId> present_primary(const std::map<NodeId, Evidence>& reports);

/// How a node comes to follow a primary.
enum class Way {
  follow,  ///< its log is a beginning of the primary's
  rewind,  ///< it has more, on a timeline that the primary's log has left
  clone,   ///< nothing proves where the two logs part
};
MUSTER_DESCRIBE_ENUM(Way, follow, rewind, clone)

/// By what a node holds and the primary's lineage, which has the row of its group. Two logs are
/// proven to be one up to a row that both have, and numbers of timelines prove nothing: two nodes
/// can have begun the same one.
Way way_to_follow(const Holding& own, const Lineage& primary);

}  // namespace muster::postgres
