#pragma once

#include <muster/journal.hpp>

#include "apps/cluster/watch.hpp"

#include <optional>
#include <string>

/// Why an election was begun, in the paper's words, from the step in which it was.

namespace muster::apps {

/// True when the node began an election, or began it anew, in this step; `before` is its view
/// before it.
bool begins_election(const View& before, const journal::Step& step);

/// The reason of the election that the node began last, `seen` being what was known before this
/// step.
std::string reason_of(const NodeSeen& seen, const journal::Step& step);

/// The node whose proven failure made this node ask its coordinator, while it asks; none otherwise.
std::optional<NodeId> lost_coordinator(const NodeSeen& seen, const journal::Step& step);

}  // namespace muster::apps
