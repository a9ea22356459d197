#pragma once

#include <muster/claims/assertions.hpp>

#include <optional>
#include <set>
#include <utility>
#include <vector>

/// What is asked of a cluster while links are cut, against assumption 8: Assertion 2 for each set
/// of nodes that are connected, and how soon a node that was left behind is at work no more.

namespace MUSTER_EXPORT muster {

/// Pairs of nodes, the lower first, between which nothing passes.
using Cuts = std::set<std::pair<NodeId, NodeId>>;

/// True when nothing passes between the two.
bool are_cut(const Cuts& cuts, NodeId i, NodeId j);

/// Sets of nodes that can all communicate with each other and with nobody else. Empty when the cuts
/// do not divide the nodes so.
std::optional<std::vector<NodeSet>> parts(const NodeSet& nodes, const Cuts& cuts);

/// Two nodes that are connected by others, each the highest of those that it hears. Each halts the
/// nodes between them in turn, and only a quorum ends that: nothing is claimed of such a set.
std::optional<std::pair<NodeId, NodeId>> rivals(Standings nodes, const Cuts& cuts);

/// Assertion 2 while links are cut. Of each set of connected nodes without rivals, one node is
/// Normal and its own coordinator, all that hear it are Normal in its group, and no other node is
/// at work. When the highest hears fewer than `quorum` nodes, itself included, no node is at work.
std::optional<Disagreement> assertion_2_in_cuts(Standings nodes, const Cuts& cuts,
                                                std::size_t quorum = 0);

}  // namespace muster
