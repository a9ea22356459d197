#pragma once

#include <muster/net/sessions.hpp>
#include <muster/step.hpp>

/// What a node says of itself: `muster status --json`, and the answer to an observer.

namespace muster::net {

using muster::operator==;

MUSTER_DESCRIBE(Counters, accepted, dialled, refused_hellos, garbage, crowded, sessions, broken,
                letters_in, letters_out, bytes_in, bytes_out, resent, duplicates, dropped);

struct NodeStatus {
  NodeId node;
  Status status{};
  std::optional<NodeId> coordinator;
  std::optional<GroupNumber> group;
  std::optional<NodeId> halted_by;
  std::optional<NodeSet> up;
  Incarnation incarnation;
  std::optional<Digest> definition;
  ProtocolName protocol{};
  Duration as_of{};  ///< CLOCK_MONOTONIC, when this state was reached
  std::string procedure;
  Activity application{};
  std::string progress;             ///< how far the hook that runs says it is
  std::uint64_t journal_dropped{};  ///< lines that could not be written
  std::uint64_t slow_saves{};       ///< commits of this life that took longer than T/2
  Counters counters;
};
MUSTER_DESCRIBE(NodeStatus, node, status, coordinator, group, halted_by, up, incarnation,
                definition, protocol, as_of, procedure, application, progress, journal_dropped,
                slow_saves, counters);

}  // namespace muster::net
