#pragma once

#include <muster/claims/assertions.hpp>

#include <optional>
#include <set>
#include <utility>
#include <vector>

/// The assertions while links are cut, against assumption 8: Assertion 2 for each set of connected
/// nodes.

namespace MUSTER_EXPORT muster {

/// Pairs of nodes, the lower first, between which no letter passes.
using Cuts = std::set<std::pair<NodeId, NodeId>>;

/// True if no letter passes between the two nodes.
bool are_cut(const Cuts& cuts, NodeId i, NodeId j);

/// Divides the nodes into sets. The nodes of a set can all communicate with each other and with no
/// other node. Returns none if the cuts do not divide the nodes in this way.
std::optional<std::vector<NodeSet>> parts(const NodeSet& nodes, const Cuts& cuts);

/// Two rivals: nodes that do not hear each other but are connected through other nodes, and each is
/// the highest of the nodes that it hears. The rivals halt the nodes between them in turn, again
/// and again, unless a quorum is required. So nothing is claimed of a set with rivals.
std::optional<std::pair<NodeId, NodeId>> rivals(Standings nodes, const Cuts& cuts);

/// Assertion 2 while links are cut. In each set of connected nodes without rivals, one node is
/// Normal and its own coordinator. All nodes that hear this coordinator are Normal in its group,
/// and no other node works. If the highest node hears fewer than `quorum` nodes, itself included,
/// no node works.
std::optional<Disagreement> assertion_2_in_cuts(Standings nodes, const Cuts& cuts,
                                                std::size_t quorum = 0);

}  // namespace muster
