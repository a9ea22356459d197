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

/// The status of a node: `muster status --json`, and the answer to an observer.

namespace MUSTER_EXPORT muster {
namespace net {

using muster::operator==;

/// Why a process lives although its node takes no part.
enum class Out {
  stood_back,    ///< hooks failed again and again: it returns after a while
  stepped_down,  ///< its owner wanted it out for a while
  drained,       ///< its owner wanted it out until a further order
  held_down,     ///< its last lives were too short: the next one waits before it listens
  unsteady,      ///< it lost its groups again and again: it returns after a while
  unproven,      ///< its certificate has expired or was revoked: it returns when it has a new one
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
  Shown shown;                      ///< the state that the application shows
  std::string broken;               ///< its first reported fault in this life; empty: none
  std::string progress;             ///< the progress that the running hook reports
  std::uint64_t journal_dropped{};  ///< lines of the journal that were not written
  std::uint64_t slow_saves{};       ///< commits of this life that took longer than T/2
  /// The smallest T that would suffice for the longest wait of this life. Zero: nothing has waited
  /// for longer than T/2, so the present T suffices.
  Duration needed_T{};
  std::optional<Out> out;  ///< set if the last life is over and the next has not begun
  /// The nodes whose configuration differs from this node's. For each: the keys that differ, and
  /// both values if the other node's text is known.
  std::map<NodeId, std::string> differing;
  /// The wire version of each session.
  std::map<NodeId, std::uint8_t> wire;
  /// If this node is the coordinator: the nodes that it keeps out for now, and for how long
  /// (docs/explanation/options/calm.md).
  std::map<NodeId, Duration> held;
  /// The time since the last letter of its coordinator; none if it has no coordinator or is the
  /// coordinator.
  std::optional<Duration> coordinator_heard_ns;
  /// The longest time for which a Normal member can hear nothing from a coordinator that works:
  /// longest_silence.
  std::optional<Duration> coordinator_bound_ns;
  /// The cause of the present reorganization, such as "coordinator 2 is in another group, 20.3".
  /// Empty in Normal.
  std::string because;
  /// Two coordinators that halt this node in turn, as they cannot hear each other. Empty: there are
  /// none.
  NodeSet halted_in_turn_by;
  /// The time until the node's certificate expires; negative: it has expired. None without [tls].
  std::optional<Duration> certificate_ns;
  Counters counters;
};
MUSTER_DESCRIBE(NodeStatus, node, status, coordinator, group, halted_by, up, incarnation,
                definition, protocol, as_of, procedure, application, shown, broken, progress,
                journal_dropped, slow_saves, needed_T, out, differing, wire, held,
                coordinator_heard_ns, coordinator_bound_ns, because, halted_in_turn_by,
                certificate_ns, counters);

/// The part of a cluster's configuration that a node tells its owner.
struct ClusterSeen {
  std::string cluster;                      ///< the canonical text, for an observer
  std::map<NodeId, std::string> addresses;  ///< of all nodes: "host:port"
  std::optional<TlsOptions> tls;  ///< for an observer: its identity, and the authorities to trust
};
MUSTER_DESCRIBE(ClusterSeen, cluster, addresses, tls);

}  // namespace net
}  // namespace muster

MUSTER_COMPILED_ONCE(muster::net::NodeStatus);
