#pragma once

#include <muster/host/sessions.hpp>

#include <optional>
#include <string>

namespace muster::host {

/// The keys in which the cluster's text of that Hello differs from one's own, with both values: "T
/// (100ms at node 1, 50ms at node 2)". For one's own log: who is refused is told no value.
std::string differing_keys(const Self& self, const Hello& hello);

/// Whether versions and clusters are such that the two can speak at all; the refusal if not.
std::optional<Refusal> refuse_speech(const Self& self, const Hello& hello,
                                     std::optional<NodeId> proven_by);

}  // namespace muster::host
