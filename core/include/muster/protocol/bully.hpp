#pragma once

#include <muster/detail/protocol/node_state.hpp>

#include <map>
#include <string_view>
#include <variant>
#include <vector>

/// The Bully algorithm of the paper (Section III), as Muster ships it: docs/protocols/bully.

namespace MUSTER_EXPORT muster {
namespace bully {

using muster::operator==;

/// The calls of one wait that are not answered yet, with the called nodes.
using Calls = std::map<CallNumber, NodeId>;

// --- The waits of procedures: one for each CALL of the paper, and a few of ours

/// No procedure of this node runs.
struct Idle {};
MUSTER_DESCRIBE(Idle);

/// Election(i), phase A: AreYouThere was sent to the higher nodes.
struct SeekingHigher {
  Calls asked;
  NodeSet not_asked;  ///< the nodes to ask next, if the nodes in `asked` do not answer; ascending
};
MUSTER_DESCRIBE(SeekingHigher, asked, not_asked);

/// Election(i), between STOP and the first Halt, if Halts wait for this node's own stop.
struct Ceasing {};
MUSTER_DESCRIBE(Ceasing);

/// Election(i), phase H: Halt is sent to the lower nodes, one by one, the highest first. This order
/// halts a rival before the members that the rival may have recruited.
struct HaltingLower {
  CallNumber call;
  NodeId node;
};
MUSTER_DESCRIBE(HaltingLower, call, node);

/// A life that has answered Halt.
struct HaltedLife {
  NodeId node;
  Incarnation incarnation;
};
MUSTER_DESCRIBE(HaltedLife, node, incarnation);

/// Election(i), phase H, with Halts to all nodes at once, in rounds. This phase is used if a lower
/// node may coordinate a higher one (docs/explanation/options.md), and in the lab. In these cases
/// no single order of Halts halts each rival before its members. After two rounds that the same
/// lives have answered, no rival can still be a candidate.
struct HaltingAll {
  Calls halted;
  std::optional<std::vector<HaltedLife>> before;  ///< the lives that answered the round before
};
MUSTER_DESCRIBE(HaltingAll, halted, before);

/// Election(i), phase C: NewCoordinator was sent to all nodes in S(i).Up, and this node stops too.
struct Announcing {
  Calls announced;
  NodeSet not_announced;
  Calls questions;  ///< calls of AreYouThere that show the silent death of a member within T
};
MUSTER_DESCRIBE(Announcing, announced, not_announced, questions);

/// Election(i): the application computes S(i).d.
struct Reorganizing {
  Calls questions;
};
MUSTER_DESCRIBE(Reorganizing, questions);

/// Election(i), phase Y: Ready was sent to all nodes in S(i).Up, and this node starts too.
struct MakingReady {
  Calls readied;
  NodeSet not_readied;
  Calls questions;
};
MUSTER_DESCRIBE(MakingReady, readied, not_readied, questions);

/// Check(i): AreYouNormal was sent to all other nodes.
struct Checking {
  Calls asked;
  NodeSet not_asked;
};
MUSTER_DESCRIBE(Checking, asked, not_asked);

/// Timeout(i): AreYouThere was sent to the coordinator.
struct Probing {
  CallNumber call;
  NodeId node;
};
MUSTER_DESCRIBE(Probing, call, node);

/// Waiting on the timer `retry` before Election(i).
struct BackingOff {};
MUSTER_DESCRIBE(BackingOff);

/// AreYouFree was sent to the lower nodes, before they are halted
/// (docs/explanation/options/quorum.md).
struct AskingFree {
  Calls asked;
  std::map<NodeId, Moment> free_from;  ///< when each node that answered is free; also this node
};
MUSTER_DESCRIBE(AskingFree, asked, free_from);

/// Waiting on the timer `retry` or `right` before Election(i), because too few nodes answered the
/// last election or were free.
struct AwaitingMajority {
  NodeSet answered;
  std::optional<Moment> free_from;  ///< when a majority will be free
};
MUSTER_DESCRIBE(AwaitingMajority, answered, free_from);

/// Waiting on the timer `settle` before the first Election(i), while some nodes were never heard.
struct Settling {
  Calls asked;
  NodeSet not_heard;
};
MUSTER_DESCRIBE(Settling, asked, not_heard);

/// This node takes no part in elections, because too many others differ
/// (docs/decisions/differing.md).
struct Outvoted {};
MUSTER_DESCRIBE(Outvoted);

/// Waiting on the timer `rejoin` before Election(i), until nodes that differ have stopped their
/// work.
struct Rejoining {};
MUSTER_DESCRIBE(Rejoining);

using Procedure = std::variant<Idle, SeekingHigher, Ceasing, HaltingLower, Announcing, Reorganizing,
                               MakingReady, Checking, Probing, BackingOff, HaltingAll,
                               AwaitingMajority, Settling, Outvoted, Rejoining, AskingFree>;

struct Owed {
  NodeId to;
  CallNumber call;
  Bound until{};  ///< tells the kind of the call: `answer`: a Halt; `stopped`: a NewCoordinator;
                  ///< `started`: a Ready
};
MUSTER_DESCRIBE(Owed, to, call, until);

/// The last answer of a member that carried a grant and has reached its coordinator.
struct Heard {
  CallNumber call;
  Moment at{};  ///< when the answer arrived
};
MUSTER_DESCRIBE(Heard, call, at);

/// A call of a coordinator whose answer can bring a grant.
struct Asked {
  NodeId of;
  Moment at{};  ///< when the call was sent
};
MUSTER_DESCRIBE(Asked, of, at);

/// The last higher candidate that a node has answered Halt, and until when the answer binds the
/// node.
struct BoundByHalt {
  NodeId candidate;
  Moment until{};
};
MUSTER_DESCRIBE(BoundByHalt, candidate, until);

/// A node's memory for quorum = "majority" (docs/explanation/options/quorum.md). All moments are by
/// this node's own clock.
///
/// A member remembers when it granted (`granted`). The right of the member counts from that moment,
/// but only once its coordinator has told it that the grant arrived. A coordinator remembers when
/// it asked (`asked`). The time for which it may rely on the grant counts from that moment
/// (`held`). So neither the member nor the coordinator relies on the clock of the other.
struct Grants {
  // In its present group.
  Moment right{};  ///< until when this node may work
  std::map<CallNumber, Moment>
      granted;  ///< of a member: when it answered each call of its coordinator with a grant
  std::map<CallNumber, Asked> asked;  ///< of a coordinator: calls that may bring a grant
  std::map<NodeId, Moment> held;      ///< of a coordinator: until when it may rely on each grant
  std::map<NodeId, Heard> heard;  ///< of a coordinator: the last grant that it received from each
                                  ///< member, and that it reports to that member
  bool readied = false;           ///< of a coordinator: it has sent Ready

  // About other groups.
  std::vector<Rights> rights;                  ///< the rights of all groups that this node knows of
  std::map<NodeId, std::vector<Rights>> told;  ///< the rights that each member of S(i).Up has told
  std::optional<BoundByHalt> halted;

  // The election of a candidate.
  bool proven = false;  ///< the election was caused by a proven death
  Calls questions;      ///< sent after the election point to nodes outside S(i).Up
  NodeSet ceased;       ///< nodes outside S(i).Up that have stopped their work, or are dead

  std::optional<Moment> armed;  ///< the moment at which the timer `right` expires
};
MUSTER_DESCRIBE(Grants, right, granted, asked, held, heard, readied, rights, told, halted, proven,
                questions, ceased, armed);

/// A node's memory for the options (docs/explanation/options.md), and for nodes that differ.
struct ByOptions {
  /// The lower coordinator that this node accepts. That coordinator has asked AreYouNormal and has
  /// found this node outside its group, or this node has accepted its NewCoordinator.
  std::optional<NodeId> found_by;
  bool installed = false;  ///< a member knows its task; of a coordinator, all members do
  bool preempt_armed = false;
  bool rejoin_armed = false;  ///< the timer `rejoin` runs; until it expires this node begins no
                              ///< election
  Grants grants = {};
  Calm calm = {};
};
MUSTER_DESCRIBE(ByOptions, found_by, installed, preempt_armed, rejoin_armed, grants, calm);

}  // namespace bully
}  // namespace muster

template <>
inline constexpr bool muster::left_out_by_default<muster::bully::ByOptions> = true;
template <>
inline constexpr bool muster::left_out_by_default<muster::bully::Grants> = true;

namespace MUSTER_EXPORT muster {
namespace bully {

/// Everything that a node knows in one life. A node that has not recovered yet has a State{}.
struct State : Common {
  using Base = Common;

  // The paper's state vector S(i); s, d and g are in Common. The fields c, d and g have a meaning
  // only in Reorganization and Normal.
  std::optional<ElectionId> c;  ///< the election by which c became coordinator
  std::optional<ElectionId> h;  ///< the election that last halted this node
  Members up;                   ///< S(i).Up, with the holdings of each member

  // The procedure that runs, and the calls that this node will answer.
  Procedure procedure;
  std::vector<Owed> owed;

  // About other nodes.
  std::map<NodeId, ElectionId>
      last_halt;  ///< by candidate: the newest of its elections that halted this node
  std::optional<NodeId> answered_by;  ///< the higher node that ended the last phase A
  NodeSet asked_in_vain;  ///< nodes that left a question unanswered and so cause the next election
  /// While this node was in a group, a higher node has ended an election of this node, and this
  /// node has not heard its coordinator since (docs/decisions/left-behind.md).
  bool left_to_higher = false;

  std::uint64_t elections{};

  // Timers.
  bool check_armed = false;
  unsigned retry_level{};
  unsigned quiet_checks{};  ///< Checks in a row that found nothing; counted up to ten

  ByOptions by_options;
};
MUSTER_DESCRIBE(State, s, c, h, d, up, g, application, ticket, report, failed_hooks,
                failed_in_company, procedure, owed, leaving, left, last_halt, answered_by,
                asked_in_vain, left_to_higher, safe, seen, instances, counter, elections, calls,
                check_armed, coordinator_armed, retry_level, quiet_checks, by_options, met);

/// Applies one event to a node: changes `state` and returns the actions, in order. `at` is the time
/// of the event by the node's clock; only the options read it.
///
/// @par Exceptions
/// Throws ImpossibleState, a std::logic_error, if the state contradicts itself. Such a
/// contradiction is a defect of Muster.
/// @par Example
/// @code
///     muster::bully::State node;
///     muster::SafeState safe;
///     safe.incarnation = muster::Incarnation{1};  // durable before the first step
///     for (const muster::Action& action :
///          muster::bully::step(config, node, muster::Recovered{safe}))
///       perform(action);
/// @endcode
Actions step(const Config& config, State& state, const Event& event, Moment at = {});

/// The part of the state that others may see. `before` is the view before the event, if known.
View view(const Config& config, const State& state, const View& before = {});

/// True while a procedure of this node waits for the answer to this call. A host gives up all calls
/// for which this is false.
bool awaits(const State& state, CallNumber call);

}  // namespace bully
}  // namespace muster

template <>
inline constexpr bool muster::left_out_in<&muster::bully::State::left_to_higher> = true;

MUSTER_COMPILED_ONCE(muster::bully::State);
