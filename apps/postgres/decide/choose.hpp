#pragma once

#include "apps/postgres/decide/struck_lines.hpp"
#include "apps/postgres/decide/values.hpp"

#include <map>
#include <optional>

/// The two decisions of a reorganization: which node writes, and how each other node comes to
/// follow it.

namespace muster::postgres {

/// Chooses the node that writes, from the reports of sealed nodes.
///
/// The argument for safety: a commit is acknowledged only when W nodes hold it. Any R = N - W + 1
/// nodes include one of those W. So among R nodes that have reported, the freshest one holds every
/// acknowledged commit. Those R nodes are sealed, so fewer than W nodes are not sealed, and no more
/// commits can be acknowledged. The freshest is the maximum by (group of its greatest term,
/// position in the log). The group comes first, even if the log of an older group is longer. A node
/// counts as a copy only once it has the marker of its primary's group, so a log without that
/// marker contains no commit that its node helped to acknowledge in that group.
///
/// No node writes in these cases:
/// - fewer than `copies.to_promote()` nodes reported their present or earlier data;
/// - the system identifiers in the reports differ, so the nodes have different databases;
/// - a node that is being rewound or cloned held more than the freshest node holds;
/// - the freshest data was written under another node list, unless this list is the next one and
///   enough nodes of the list before have reported.
///
/// A primary that too few nodes can follow is passed over if W other nodes have data and one of
/// them can be chosen. Among equally fresh nodes, the choice goes to the node that the former
/// primary hands over to, then to the present primary, then to the highest id.
Choice choose(const Copies& copies, const std::map<NodeId, Evidence>& reports,
              std::optional<NodeId> present_primary, const Struck& struck = {});

/// Chooses for one group, from the reports of its members. In a cluster with a witness, a promise
/// (values.hpp) decides instead of the count of R.
///
/// Only a node that the latest promise names as a holder may be chosen, because only such a node is
/// known to have each commit. A promise is known to be the latest when a majority of all nodes
/// reports a promise, since no commit is acknowledged under a promise before a majority has stored
/// the promise. The latest promise is also known when all nodes report, at least one of them
/// reports a promise, and none has lost its safe storage. If the latest promise is not known, all
/// nodes with data have to be present, and those with the most log are the holders. The new promise
/// names the primary. It also names each node that was a holder and can follow at once. Such a node
/// has all earlier commits and gets all later ones. If no node writes, the latest promise stays in
/// force.
Choice choose(const Copies& copies, const GroupNumber& group,
              const std::map<NodeId, Report>& reports, const Struck& struck = {});

/// The reason why a node that has taken part under the list `before` may never take part under the
/// list `copies`. Empty: it may.
std::string why_never_after(const Copies& before, const Copies& copies);

/// Turns a holding into a Held, which leaves out the details of the present state.
Held as_held(const Holding& holding);
/// True if `holding` lacks something that `once` had, or is of another database.
bool is_below(const Holding& holding, const Held& once);

/// The freshest of the nodes that report to be a primary.
std::optional<NodeId> present_primary(const std::map<NodeId, Evidence>& reports);

/// How a node comes to follow a primary.
enum class Way {
  follow,  ///< the node's log is a beginning of the primary's log
  rewind,  ///< the node has more, on a timeline that the primary's log has left
  clone,   ///< nothing proves where the two logs part
};
MUSTER_DESCRIBE_ENUM(Way, follow, rewind, clone)

/// Decides how a node follows, from the node's holding and the primary's lineage, which contains
/// the marker of the primary's group. Two logs are the same up to a marker that both have. Equal
/// timeline numbers do not prove equal logs, since two nodes can begin timelines with the same
/// number independently.
Way way_to_follow(const Holding& own, const Lineage& primary);

}  // namespace muster::postgres
