#pragma once

#include <muster/net/frame.hpp>
#include <muster/net/sessions.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace muster::net {

/// Bytes of somebody else as they may stand in a log: printable, and not longer than a line bears.
std::string presentable(std::string_view bytes, std::size_t most = 120);

/// The keys in which the cluster's text of that Hello differs from one's own, with both values: "T
/// (100ms at node 1, 50ms at node 2)". For one's own log: who is refused is told no value.
std::string differing_keys(const Self& self, const Hello& hello);

/// Whether versions and clusters are such that the two can speak at all; the refusal if not.
std::optional<Refusal> refuse_speech(const Self& self, const Hello& hello);

}  // namespace muster::net
