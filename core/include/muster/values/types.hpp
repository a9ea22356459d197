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

/// The values that the protocols are about: nodes, statuses, numbers, what is in safe storage.

namespace MUSTER_EXPORT muster {

/// A number of one kind that cannot be taken for a number of another kind.
template <class Kind, class Rep>
struct Strong {
  Rep value{};
  friend constexpr auto operator<=>(const Strong&, const Strong&) = default;
};

/// A node's id, from 1. It is its priority: the highest that is up becomes coordinator (section 1).
using NodeId = Strong<struct NodeIdKind, std::uint32_t>;
/// Which life of a node this is, from 1; raised in safe storage before the life's first letter.
using Incarnation = Strong<struct IncarnationKind, std::uint64_t>;
/// Which process lives that life, drawn at random when it begins; 0 where it is not known. Another
/// process with the same incarnation has a copy of the store, or an old state of it.
using Instance = Strong<struct InstanceKind, std::uint64_t>;
/// Names a call within one life of its caller, from 1.
using CallNumber = Strong<struct CallNumberKind, std::uint64_t>;
/// Names one call of a hook within a life, from 1; a hook's end under another ticket is an old one.
using Ticket = Strong<struct TicketKind, std::uint64_t>;
/// The 64-bit digest of bytes (hash.hpp), shown as 16 hexadecimal digits.
using Digest = Strong<struct DigestKind, std::uint64_t>;

/// What no incarnation and no group counter is above, whoever says so: they count from 1, and what
/// is added to one never comes to the end of its 64 bits.
inline constexpr std::uint64_t highest_number = std::uint64_t{1} << 62;
/// No life and no group is so many ahead of what is known of its like: who says so is not of this
/// cluster, or broken.
inline constexpr std::uint64_t most_lives_ahead = std::uint64_t{1} << 20;
inline constexpr std::uint64_t most_groups_ahead = std::uint64_t{1} << 20;
template <>
inline constexpr std::uint64_t greatest_of<Incarnation> = highest_number;

// They came later than the first journals.
template <>
inline constexpr bool left_out_by_default<Instance> = true;
template <>
inline constexpr bool left_out_by_default<std::map<NodeId, Instance>> = true;

/// Bytes that Muster carries and does not read. Not an aggregate: g++ 12 destroys one that is
/// written in an expression with co_await twice.
struct Bytes {
  Bytes() = default;
  Bytes(std::string bytes) : data(std::move(bytes)) {}
  std::string data;
  friend auto operator<=>(const Bytes&, const Bytes&) = default;
};

/// S(i).d: the task that a reorganization defines, at most 32 KiB by default.
using Definition = Bytes;
/// What an application holds when it has stopped, in its own words, at most 32 KiB by default.
using Report = Bytes;

/// A set of nodes, ascending.
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

/// S(i).g: the number of a group, unique for ever and growing along any chain of members; what a
/// resource checks to fence off the past (a fencing token). From the paper's second algorithm.
struct GroupNumber {
  std::uint64_t counter{};
  NodeId coordinator;
  friend auto operator<=>(const GroupNumber&, const GroupNumber&) = default;
};
MUSTER_DESCRIBE(GroupNumber, counter, coordinator);
template <>
inline constexpr std::uint64_t greatest_in<&GroupNumber::counter> = highest_number;

/// One election of one life of a candidate: the tag of its Halt, NewCoordinator and Ready (6.9).
struct ElectionId {
  NodeId candidate;
  Incarnation incarnation;
  std::uint64_t number{};
  friend auto operator<=>(const ElectionId&, const ElectionId&) = default;
};
MUSTER_DESCRIBE(ElectionId, candidate, incarnation, number);

/// What a node was last assigned: a definition and the group that it came with.
struct Assigned {
  Definition definition;
  GroupNumber group;
};
MUSTER_DESCRIBE(Assigned, definition, group);

/// The part of the state vector S(i) that is committed with every save (section 2). S(i).d and
/// S(i).g are what was last assigned.
struct StateVector {
  Status s = Status::Down;
  std::optional<NodeId> c;
  std::optional<NodeId> h;
  NodeSet up;
};
MUSTER_DESCRIBE(StateVector, s, c, h, up);

/// What one commit to safe storage writes.
struct SafeState {
  Incarnation incarnation;
  /// Never below a counter that this node chose or accepted; a restarted node counts from it.
  std::uint64_t counter_limit{};
  std::optional<Assigned> assigned;
  StateVector vector;
  /// The highest incarnation seen of each other node.
  std::map<NodeId, Incarnation> seen;
  /// Of that life, where it is known; the last field, which stores of format 1 have not.
  std::map<NodeId, Instance> instances{};
};
MUSTER_DESCRIBE(SafeState, incarnation, counter_limit, assigned, vector, seen, instances);

/// What a stopped member holds, as it stands in its answer to NewCoordinator.
struct Holdings {
  Report report;
  /// The group and the digest of the definition it was last assigned; none in an empty store.
  std::optional<GroupNumber> group;
  std::optional<Digest> definition;
  /// True when nothing was ever assigned to it: its safe storage was empty.
  bool empty = true;
};
MUSTER_DESCRIBE(Holdings, report, group, definition, empty);

/// One node that takes part in a reorganization, the coordinator included.
struct Member {
  NodeId node;
  Incarnation incarnation;
  Holdings holdings;
};
MUSTER_DESCRIBE(Member, node, incarnation, holdings);
using Members = std::vector<Member>;

/// The application's three hooks.
enum class Hook { stop, reorganize, start };
MUSTER_DESCRIBE_ENUM(Hook, stop, reorganize, start)

/// Why the application is to cease.
enum class StopReason {
  own_election,   ///< this node is a candidate
  halted,         ///< a candidate halted this node
  starting_over,  ///< this coordinator's reorganization could not be finished
  paused,         ///< this node was too slow, by assumption 9 a failure
  leaving,        ///< this node's owner wants it out
  standing_back,  ///< hooks failed again and again
  recovering,     ///< this node begins anew, by its own wish or in a group of its own
  merging,        ///< this coordinator merges groups
  invited,        ///< this node was invited into another group
  told,           ///< another node says that it is coordinator (textbook)
  outvoted,       ///< as many of the others differ from this node as agree with it, or more
  right_over,     ///< no majority grants any more that it works (docs/options/quorum.md)
};
MUSTER_DESCRIBE_ENUM(StopReason, own_election, halted, starting_over, paused, leaving,
                     standing_back, recovering, merging, invited, told, outvoted, right_over)

struct StopCause {
  StopReason reason{};
  std::optional<NodeId> by;  ///< the candidate or coordinator: `halted`, `invited`, `told`
};
MUSTER_DESCRIBE(StopCause, reason, by);

using Duration = std::chrono::nanoseconds;

}  // namespace muster

MUSTER_COMPILED_ONCE(muster::SafeState);
MUSTER_ARCHIVED_ONCE(muster::SafeState);
