#pragma once

#include <muster/host/sessions.hpp>

#include <optional>
#include <string>

namespace muster::host {

/// The keys in which the cluster's text of that Hello differs from this node's, with both values,
/// such as "T (100ms at node 1, 50ms at node 2)". The text is only for this node's own log: a
/// refused peer is told no values.
std::string differing_keys(const Self& self, const Hello& hello);

/// Checks wire version, cluster and certificate. Returns the refusal, or none if the two can speak
/// with each other.
std::optional<Refusal> refuse_speech(const Self& self, const Hello& hello,
                                     std::optional<NodeId> proven_by);

}  // namespace muster::host
