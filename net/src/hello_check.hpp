#pragma once

#include <muster/net/frame.hpp>
#include <muster/net/sessions.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace muster::net {

/// Bytes of somebody else as they may stand in a log: printable, and not longer than a line bears.
std::string presentable(std::string_view bytes, std::size_t most = 120);

/// A canonical text, and whose it is.
struct ClusterText {
  std::string_view text;
  std::string whose;
};

/// The keys in which two differ, with both values: "T (100ms at node 1, 50ms at node 2)".
std::string differing_keys(const ClusterText& left, const ClusterText& right);

/// Whether versions and clusters are such that the two can speak at all; the refusal if not.
std::optional<Refusal> refuse_speech(const Self& self, const Hello& hello);

}  // namespace muster::net
