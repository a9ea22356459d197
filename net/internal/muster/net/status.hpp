#pragma once

#include <muster/detail/values/compiled_once.hpp>
#include <muster/net/sessions.hpp>
#include <muster/net/tls.hpp>
#include <muster/protocol/config.hpp>
#include <muster/protocol/view.hpp>
#include <muster/services.hpp>

#include <map>
#include <optional>
#include <string>

/// What a node says of itself: `muster status --json`, and the answer to an observer.

namespace MUSTER_EXPORT muster {
namespace net {

using muster::operator==;

/// Why a process has no node that takes part, though it lives.
enum class Out {
  stood_back,    ///< hooks failed again and again: it comes back after a while
  stepped_down,  ///< its owner wanted it out for a while
  drained,       ///< its owner wanted it out, until told otherwise
  held_down,     ///< its last lives were too short: the next waits before it listens
  unsteady,      ///< it lost its groups again and again: it comes back after a while
  unproven,      ///< its certificate is over or was taken back: it comes back with another
};
MUSTER_DESCRIBE_ENUM(Out, stood_back, stepped_down, drained, held_down, unsteady, unproven)

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
  Wait procedure{};
  Activity application{};
  Shown shown;                      ///< what its application says that it is
  std::string broken;               ///< what it said is broken, first in this life; empty: nothing
  std::string progress;             ///< how far the hook that runs says it is
  std::uint64_t journal_dropped{};  ///< lines that could not be written
  std::uint64_t slow_saves{};       ///< commits of this life that took longer than T/2
  /// The least T that has room for what waited for longer than T/2 in this life; zero: T itself.
  Duration needed_T{};
  std::optional<Out> out;  ///< the last life is over, and the next has not begun
  /// Nodes that differ, and in what: the keys with both values, where its text was heard.
  std::map<NodeId, std::string> differing;
  /// The wire version of each session.
  std::map<NodeId, std::uint8_t> wire;
  /// Whom this coordinator does not let in yet, and for how long (docs/options/calm.md).
  std::map<NodeId, Duration> held;
  /// How long ago the last letter of its coordinator came; none where it has none, or is it.
  std::optional<Duration> coordinator_heard_ns;
  /// For how long a member that is Normal may hear nothing of its coordinator: longest_silence.
  std::optional<Duration> coordinator_bound_ns;
  /// What began the reorganization that goes on: "coordinator 2 is in another group, 20.3"; empty
  /// in Normal.
  std::string because;
  /// Two coordinators that halt it in turn, as neither hears the other; empty: there are none.
  NodeSet halted_in_turn_by;
  /// How long its certificate still holds; negative: it has ended. None without [tls].
  std::optional<Duration> certificate_ns;
  Counters counters;
};
MUSTER_DESCRIBE(NodeStatus, node, status, coordinator, group, halted_by, up, incarnation,
                definition, protocol, as_of, procedure, application, shown, broken, progress,
                journal_dropped, slow_saves, needed_T, out, differing, wire, held,
                coordinator_heard_ns, coordinator_bound_ns, because, halted_in_turn_by,
                certificate_ns, counters);

/// What a node says of its cluster to its owner.
struct ClusterSeen {
  std::string cluster;                      ///< the canonical text, for an observer
  std::map<NodeId, std::string> addresses;  ///< of all nodes: "host:port"
  std::optional<TlsOptions> tls;            ///< what to prove there, and whom to believe
};
MUSTER_DESCRIBE(ClusterSeen, cluster, addresses, tls);

}  // namespace net
}  // namespace muster

MUSTER_COMPILED_ONCE(muster::net::NodeStatus);
