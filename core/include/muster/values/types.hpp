#pragma once

#include <muster/detail/values/compiled_once.hpp>
#include <muster/values/describe.hpp>

#include <algorithm>
#include <chrono>
#include <compare>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// The basic values of the protocols: nodes, statuses, numbers and the contents of safe storage.

namespace MUSTER_EXPORT muster {

/// A number of one kind, which the compiler does not convert to a number of another kind.
template <class Kind, class Rep>
struct Strong {
  Rep value{};
  friend constexpr auto operator<=>(const Strong&, const Strong&) = default;
};

/// A node's id, from 1. The id is also the node's priority: of the nodes that are up, the highest
/// becomes coordinator.
using NodeId = Strong<struct NodeIdKind, std::uint32_t>;
/// The number of a node's life, from 1. The number is raised in safe storage before the life sends
/// its first letter.
using Incarnation = Strong<struct IncarnationKind, std::uint64_t>;
/// The process that lives a life, drawn at random when the life begins; 0 if it is not known. A
/// second process with the same incarnation has a copy or an old state of the store.
using Instance = Strong<struct InstanceKind, std::uint64_t>;
/// Names a call within one life of its caller, from 1.
using CallNumber = Strong<struct CallNumberKind, std::uint64_t>;
/// Names one call of a hook within a life, from 1. The end of a hook under an older ticket is
/// ignored.
using Ticket = Strong<struct TicketKind, std::uint64_t>;
/// The 64-bit digest of bytes (hash.hpp), shown as 16 hexadecimal digits.
using Digest = Strong<struct DigestKind, std::uint64_t>;

/// The highest incarnation and the highest group counter that a node accepts from others.
/// Incarnations and counters start from 1, and the limit leaves room to count on within 64 bits.
inline constexpr std::uint64_t highest_number = std::uint64_t{1} << 62;
/// How far a life, or a group counter, may be ahead of the highest one known. A node that claims
/// more does not belong to this cluster, or is faulty.
inline constexpr std::uint64_t most_lives_ahead = std::uint64_t{1} << 20;
inline constexpr std::uint64_t most_groups_ahead = std::uint64_t{1} << 20;
template <>
inline constexpr std::uint64_t greatest_of<Incarnation> = highest_number;

// Older journals do not contain these fields.
template <>
inline constexpr bool left_out_by_default<Instance> = true;
template <>
inline constexpr bool left_out_by_default<std::map<NodeId, Instance>> = true;

/// Bytes that Muster carries and does not interpret. Not an aggregate, because g++ 12 destroys an
/// aggregate twice if it is written in an expression with co_await.
struct Bytes {
  Bytes() = default;
  Bytes(std::string bytes) : data(std::move(bytes)) {}
  std::string data;
  friend auto operator<=>(const Bytes&, const Bytes&) = default;
};

/// S(i).d: the task that a reorganization defines. At most 32 KiB by default.
using Definition = Bytes;
/// The application's report when it has stopped, in its own format. At most 32 KiB by default.
using Report = Bytes;

/// A set of nodes, in ascending order.
class NodeSet {
 public:
  NodeSet() = default;
  NodeSet(std::initializer_list<NodeId> nodes) {
    for (NodeId node : nodes) insert(node);
  }
  void insert(NodeId node) {
    auto at = std::lower_bound(nodes_.begin(), nodes_.end(), node);
    if (at == nodes_.end() || *at != node) nodes_.insert(at, node);
  }
  void erase(NodeId node) {
    auto at = std::lower_bound(nodes_.begin(), nodes_.end(), node);
    if (at != nodes_.end() && *at == node) nodes_.erase(at);
  }
  [[nodiscard]] bool contains(NodeId node) const {
    return std::binary_search(nodes_.begin(), nodes_.end(), node);
  }
  [[nodiscard]] bool empty() const { return nodes_.empty(); }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] auto begin() const { return nodes_.begin(); }
  [[nodiscard]] auto end() const { return nodes_.end(); }
  friend auto operator<=>(const NodeSet&, const NodeSet&) = default;

 private:
  std::vector<NodeId> nodes_;
};

/// S(i).s, the status of a node.
enum class Status { Down, Election, Reorganization, Normal };
MUSTER_DESCRIBE_ENUM(Status, Down, Election, Reorganization, Normal)

/// S(i).g: the number of a group, from the paper's second algorithm. No two groups have the same
/// number, and a node always joins a group with a higher number than its last one. So a resource
/// can use the number as a fencing token: the resource refuses every number below the highest that
/// it has seen.
struct GroupNumber {
  std::uint64_t counter{};
  NodeId coordinator;
  friend auto operator<=>(const GroupNumber&, const GroupNumber&) = default;
};
MUSTER_DESCRIBE(GroupNumber, counter, coordinator);
template <>
inline constexpr std::uint64_t greatest_in<&GroupNumber::counter> = highest_number;

/// One election of one life of a candidate. The candidate's Halt, NewCoordinator and Ready contain
/// it, so that receivers recognize letters of an older election or life.
struct ElectionId {
  NodeId candidate;
  Incarnation incarnation;
  std::uint64_t number{};
  friend auto operator<=>(const ElectionId&, const ElectionId&) = default;
};
MUSTER_DESCRIBE(ElectionId, candidate, incarnation, number);

/// A node's last assignment: a definition and the group that it came with.
struct Assigned {
  Definition definition;
  GroupNumber group;
};
MUSTER_DESCRIBE(Assigned, definition, group);

/// The part of the state vector S(i) that each save writes. S(i).d and S(i).g are those of the last
/// assignment.
struct StateVector {
  Status s = Status::Down;
  std::optional<NodeId> c;
  std::optional<NodeId> h;
  NodeSet up;
};
MUSTER_DESCRIBE(StateVector, s, c, h, up);

/// The contents of safe storage, written in one commit.
struct SafeState {
  Incarnation incarnation;
  /// At least as high as every group counter that this node chose or accepted. A restarted node
  /// counts on from this number.
  std::uint64_t counter_limit{};
  std::optional<Assigned> assigned;
  StateVector vector;
  /// The highest incarnation seen of each other node.
  std::map<NodeId, Incarnation> seen;
  /// The instance of the life in `seen`, if known. This must stay the last field, because stores of
  /// format 1 do not have it.
  std::map<NodeId, Instance> instances{};
};
MUSTER_DESCRIBE(SafeState, incarnation, counter_limit, assigned, vector, seen, instances);

/// The holdings of a stopped member, as its answer to NewCoordinator tells them.
struct Holdings {
  Report report;
  /// The group of the member's last assignment, and the digest of its definition. None if the
  /// member's store was empty.
  std::optional<GroupNumber> group;
  std::optional<Digest> definition;
  /// True when the member never had an assignment: its safe storage was empty.
  bool empty = true;
};
MUSTER_DESCRIBE(Holdings, report, group, definition, empty);

/// One member of a group during its reorganization. The coordinator is one too.
struct Member {
  NodeId node;
  Incarnation incarnation;
  Holdings holdings;
};
MUSTER_DESCRIBE(Member, node, incarnation, holdings);
using Members = std::vector<Member>;

enum class Hook { stop, reorganize, start };
MUSTER_DESCRIBE_ENUM(Hook, stop, reorganize, start)

/// Why the application must stop its work.
enum class StopReason {
  own_election,   ///< this node is a candidate
  halted,         ///< a candidate halted this node
  starting_over,  ///< this coordinator's reorganization could not be finished
  paused,         ///< this node was too slow; by assumption 9 it has failed
  leaving,        ///< this node's owner wants it to leave
  standing_back,  ///< hooks failed again and again
  recovering,     ///< this node runs Recovery: its owner or application asked, or it forms its own
                  ///< group
  merging,        ///< this coordinator merges groups
  invited,        ///< this node was invited into another group
  told,           ///< another node says that it is coordinator (textbook protocol)
  outvoted,       ///< more of the other nodes differ from this node than agree with it
  right_over,     ///< no majority grants this node's work any more
                  ///< (docs/explanation/options/quorum.md)
};
MUSTER_DESCRIBE_ENUM(StopReason, own_election, halted, starting_over, paused, leaving,
                     standing_back, recovering, merging, invited, told, outvoted, right_over)

struct StopCause {
  StopReason reason{};
  std::optional<NodeId> by;  ///< the candidate or coordinator, for `halted`, `invited` and `told`
};
MUSTER_DESCRIBE(StopCause, reason, by);

/// A length of time, in nanoseconds.
using Duration = std::chrono::nanoseconds;

}  // namespace muster

MUSTER_COMPILED_ONCE(muster::SafeState);
MUSTER_ARCHIVED_ONCE(muster::SafeState);
