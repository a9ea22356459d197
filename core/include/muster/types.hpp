#pragma once

#include <muster/compiled_once.hpp>
#include <muster/describe.hpp>
#include <muster/lines.hpp>

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

namespace muster {

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
/// Names a call within one life of its caller, from 1.
using CallNumber = Strong<struct CallNumberKind, std::uint64_t>;
/// Names one call of a hook within a life, from 1; a hook's end under another ticket is an old one.
using Ticket = Strong<struct TicketKind, std::uint64_t>;
/// The 64-bit digest of bytes (hash.hpp), shown as 16 hexadecimal digits.
using Digest = Strong<struct DigestKind, std::uint64_t>;

/// What no incarnation and no group counter is above, whoever says so: they count from 1, and what
/// is added to one never comes to the end of its 64 bits.
inline constexpr std::uint64_t highest_number = std::uint64_t{1} << 62;
template <>
inline constexpr std::uint64_t greatest_of<Incarnation> = highest_number;

/// Bytes that Muster carries and does not read.
struct Bytes {
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
};
MUSTER_DESCRIBE(SafeState, incarnation, counter_limit, assigned, vector, seen);

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
  recovering,     ///< this node becomes a group of its own
  merging,        ///< this coordinator merges groups
  invited,        ///< this node was invited into another group
  told,           ///< another node says that it is coordinator (textbook)
};
MUSTER_DESCRIBE_ENUM(StopReason, own_election, halted, starting_over, paused, leaving,
                     standing_back, recovering, merging, invited, told)

struct StopCause {
  StopReason reason{};
  std::optional<NodeId> by;  ///< the candidate or coordinator: `halted`, `invited`, `told`
};
MUSTER_DESCRIBE(StopCause, reason, by);

/// The switches of docs/decisions/switches.md: each is one departure from the paper's text.
struct Repairs {
  bool start_over_halted = true;
  bool normal_for_me = true;
  bool lost_members = true;
  bool report_refusals = true;
  bool tags = true;
  bool parallel_calls = true;
  bool proofs = true;
  bool stop_beside_halts = true;
  bool save_promises_only = true;
  bool back_off = true;

  /// The paper's text: every switch off.
  static constexpr Repairs none() {
    return {false, false, false, false, false, false, false, false, false, false};
  }
  /// Whether the assertions hold: where no refusal is reported, a Halt has to be answered only when
  /// the application has stopped (docs/findings.md, V9).
  [[nodiscard]] constexpr bool safe() const { return report_refusals || !stop_beside_halts; }
};
MUSTER_DESCRIBE(Repairs, start_over_halted, normal_for_me, lost_members, report_refusals, tags,
                parallel_calls, proofs, stop_beside_halts, save_promises_only, back_off);

namespace invitation {

using muster::operator==;

/// The switches of docs/decisions/invitation.md, each of the Invitation algorithm alone.
struct Repairs {
  /// The paper's own, and no departure from it: off only to see what the safe counter is for.
  bool safe_counter = true;
  bool growing_numbers = true;
  bool reorganization_first = true;
  bool probe_tells_status = true;
  bool ignore_own_group = true;
  bool report_refusals = true;
  bool recheck_probe = true;
  bool lost_members = true;
  bool known_invitees = true;
  bool tags = true;
  bool parallel_calls = true;
  bool proofs = true;
  bool back_off = true;

  /// The paper's text: every switch off but the paper's own.
  static constexpr Repairs none() {
    return {true,  false, false, false, false, false, false,
            false, false, false, false, false, false};
  }
  /// Whether the assertions hold: a node that counts from 0 again gives a new group an old number
  /// (docs/findings.md, I4).
  [[nodiscard]] constexpr bool safe() const { return safe_counter; }
};
MUSTER_DESCRIBE(Repairs, safe_counter, growing_numbers, reorganization_first, probe_tells_status,
                ignore_own_group, report_refusals, recheck_probe, lost_members, known_invitees,
                tags, parallel_calls, proofs, back_off);

}  // namespace invitation

/// The election algorithms that a cluster can run.
enum class ProtocolName {
  bully,       ///< the paper's first (section 3)
  invitation,  ///< the paper's second (section 4)
  textbook,    ///< the Bully as textbooks give it, for comparison (section 7)
};
MUSTER_DESCRIBE_ENUM(ProtocolName, bully, invitation, textbook)

using Duration = std::chrono::nanoseconds;

/// The bounds and periods of a cluster; hosts turn named timers and bounds into them.
struct Timings {
  /// The paper's T: bound on a call; covers two delays, handling and one commit.
  Duration T = std::chrono::milliseconds(100);
  Duration stop_deadline = std::chrono::seconds(2);
  Duration start_deadline = std::chrono::seconds(2);
  Duration reorganize_deadline = std::chrono::seconds(10);
  /// The period of Check(i).
  Duration check_every = std::chrono::milliseconds(50);
  /// How long nothing is heard from the coordinator before Timeout(i).
  Duration coordinator_timeout = std::chrono::milliseconds(150);
};
MUSTER_DESCRIBE(Timings, T, stop_deadline, start_deadline, reorganize_deadline, check_every,
                coordinator_timeout);

/// Whether a higher node that comes back takes over from a coordinator.
enum class Preempt {
  paper,  ///< at once
  never,  ///< it joins, and the coordinator stays
  after,  ///< it joins, and takes over when it has been a member for a while
};
MUSTER_DESCRIBE_ENUM(Preempt, paper, never, after)

/// How many nodes it takes to be a group.
enum class Quorum {
  off,       ///< any, one included
  majority,  ///< more than half of all that are configured
};
MUSTER_DESCRIBE_ENUM(Quorum, off, majority)

/// When a member starts.
enum class Resume {
  ready,  ///< as soon as it knows its task
  all,    ///< when all members know theirs
};
MUSTER_DESCRIBE_ENUM(Resume, ready, all)

/// What leaves the paper, of the Bully alone, and is off as it ships (docs/options.md).
struct Options {
  Preempt preempt = Preempt::paper;
  Duration preempt_after{};  ///< of Preempt::after, as a member of one group
  Quorum quorum = Quorum::off;
  Duration settle{};  ///< how long a node that was never assigned anything waits for others; 0: not
  Resume resume = Resume::ready;
};
MUSTER_DESCRIBE(Options, preempt, preempt_after, quorum, settle, resume);
/// Where none is on they stand in no text: it is the one that was written before there were any.
template <>
inline constexpr bool left_out_by_default<Options> = true;

/// All that `step` may know beside the state: fixed for a life.
struct Config {
  NodeId self;
  /// All nodes of the cluster, `self` included.
  NodeSet nodes;
  Repairs repairs;  ///< of the Bully
  Timings timings;
  ProtocolName protocol = ProtocolName::bully;
  invitation::Repairs invitation_repairs = {};
  /// Of the textbook protocol: who is more important becomes coordinator; 0 where a node has none,
  /// and of equals the higher id.
  std::map<NodeId, std::uint64_t> importance = {};
  /// Lines of the protocol that the lab has taken out; empty on a real node.
  Struck struck = {};
  Options options = {};

  /// True when the protocol is the paper's text without any of our repairs.
  [[nodiscard]] bool literal() const {
    return protocol == ProtocolName::invitation
               ? invitation_repairs == invitation::Repairs::none()
               : protocol == ProtocolName::textbook || repairs == Repairs::none();
  }
};
MUSTER_DESCRIBE(Config, self, nodes, repairs, timings, protocol, invitation_repairs, importance,
                struck, options);

}  // namespace muster

MUSTER_COMPILED_ONCE(muster::SafeState);
MUSTER_ARCHIVED_ONCE(muster::SafeState);
MUSTER_COMPILED_ONCE(muster::Config);
