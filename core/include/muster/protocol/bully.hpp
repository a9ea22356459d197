#pragma once

#include <muster/detail/protocol/node_state.hpp>

#include <map>
#include <string_view>
#include <variant>
#include <vector>

/// The Bully algorithm of the paper (section 3), as docs/decisions says that Muster ships it.

namespace MUSTER_EXPORT muster {
namespace bully {

using muster::operator==;

/// The calls of one wait that are not answered yet.
using Calls = std::map<CallNumber, NodeId>;

// --- Where a procedure waits: one for each CALL of the paper, and our few more
// ------------------------

/// None of this node's procedures runs.
struct Idle {};
MUSTER_DESCRIBE(Idle);

/// Election(i), phase A: AreYouThere to the higher nodes.
struct SeekingHigher {
  Calls asked;
  NodeSet not_asked;  ///< ascending; asked when those before did not answer
};
MUSTER_DESCRIBE(SeekingHigher, asked, not_asked);

/// Election(i), between STOP and the first Halt, where Halts wait for the own stop.
struct Ceasing {};
MUSTER_DESCRIBE(Ceasing);

/// Election(i), phase H: Halt to the lower nodes, one by one, descending (6.5).
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

/// Phase H without 6.5: Halt to all lower nodes at once, in rounds. In the lab, and where a lower
/// node may coordinate a higher one (docs/options.md).
struct HaltingAll {
  Calls halted;
  std::optional<std::vector<HaltedLife>> before;  ///< who answered in the round before
};
MUSTER_DESCRIBE(HaltingAll, halted, before);

/// Election(i), phase C: NewCoordinator to all in S(i).Up, and the own stop.
struct Announcing {
  Calls announced;
  NodeSet not_announced;
  Calls questions;  ///< AreYouThere, while this takes long
};
MUSTER_DESCRIBE(Announcing, announced, not_announced, questions);

/// Election(i): the application computes S(i).d.
struct Reorganizing {
  Calls questions;
};
MUSTER_DESCRIBE(Reorganizing, questions);

/// Election(i), phase Y: Ready to all in S(i).Up, and the own start.
struct MakingReady {
  Calls readied;
  NodeSet not_readied;
  Calls questions;
};
MUSTER_DESCRIBE(MakingReady, readied, not_readied, questions);

/// Check(i): AreYouNormal to all others.
struct Checking {
  Calls asked;
  NodeSet not_asked;
};
MUSTER_DESCRIBE(Checking, asked, not_asked);

/// Timeout(i): AreYouThere to the coordinator.
struct Probing {
  CallNumber call;
  NodeId node;
};
MUSTER_DESCRIBE(Probing, call, node);

/// Waiting on the timer `retry` before Election(i).
struct BackingOff {};
MUSTER_DESCRIBE(BackingOff);

/// AreYouFree to the lower nodes, before they are halted (docs/options/quorum.md).
struct AskingFree {
  Calls asked;
  std::map<NodeId, Moment> free_from;  ///< of who answered, and the node itself
};
MUSTER_DESCRIBE(AskingFree, asked, free_from);

/// Waiting on the timer `retry` or `right` before Election(i), as too few nodes answered the last,
/// or were free.
struct AwaitingMajority {
  NodeSet answered;
  std::optional<Moment> free_from;  ///< when enough of them are
};
MUSTER_DESCRIBE(AwaitingMajority, answered, free_from);

/// Waiting on the timer `settle` before the first Election(i), while some were never heard.
struct Settling {
  Calls asked;
  NodeSet not_heard;
};
MUSTER_DESCRIBE(Settling, asked, not_heard);

/// Taking no part: too many others differ (docs/decisions/differing.md).
struct Outvoted {};
MUSTER_DESCRIBE(Outvoted);

/// Waiting on the timer `rejoin` before Election(i), for those that differ to cease.
struct Rejoining {};
MUSTER_DESCRIBE(Rejoining);

using Procedure = std::variant<Idle, SeekingHigher, Ceasing, HaltingLower, Announcing, Reorganizing,
                               MakingReady, Checking, Probing, BackingOff, HaltingAll,
                               AwaitingMajority, Settling, Outvoted, Rejoining, AskingFree>;

/// A call that this node will answer later.
struct Owed {
  NodeId to;
  CallNumber call;
  Bound until{};  ///< answer: a Halt, when stopped; stopped: a NewCoordinator; started: a Ready
};
MUSTER_DESCRIBE(Owed, to, call, until);

/// A grant that a call has brought its coordinator.
struct Heard {
  CallNumber call;
  Moment at{};  ///< when the answer came
};
MUSTER_DESCRIBE(Heard, call, at);

/// A call that may bring one.
struct Asked {
  NodeId of;
  Moment at{};  ///< when it was sent
};
MUSTER_DESCRIBE(Asked, of, at);

/// To which candidate above it a node has answered Halt, and until when it is bound by that.
struct BoundByHalt {
  NodeId candidate;
  Moment until{};
};
MUSTER_DESCRIBE(BoundByHalt, candidate, until);

/// What quorum = "majority" makes a node remember (docs/options/quorum.md).
struct Grants {
  // In its group.
  Moment right{};  ///< until when it may work
  std::map<CallNumber, Moment>
      granted;                        ///< a member's: when it answered which of its coordinator's
  std::map<CallNumber, Asked> asked;  ///< a coordinator's
  std::map<NodeId, Moment> held;      ///< until when it goes by whose grant
  std::map<NodeId, Heard> heard;
  bool readied = false;  ///< has sent Ready

  // Of other groups.
  std::vector<Rights> rights;                  ///< that it knows of itself
  std::map<NodeId, std::vector<Rights>> told;  ///< what members of S(i).Up have told
  std::optional<BoundByHalt> halted;

  // A candidate's.
  bool proven = false;  ///< a proven death has caused the election
  Calls questions;      ///< sent after the election point, to who is not in S(i).Up
  NodeSet ceased;       ///< who has answered that it has, or joined and is left out, or is dead

  std::optional<Moment> armed;  ///< the timer `right`
};
MUSTER_DESCRIBE(Grants, right, granted, asked, held, heard, readied, rights, told, halted, proven,
                questions, ceased, armed);

/// What only the options make a node remember (docs/options.md), and others that differ.
struct ByOptions {
  /// The lower coordinator that this node lets coordinate: whose AreYouNormal found it outside its
  /// group, or whose NewCoordinator it has accepted.
  std::optional<NodeId> found_by;
  bool installed = false;  ///< this member knows its task, or this coordinator's all know theirs
  bool preempt_armed = false;
  bool rejoin_armed = false;  ///< no election of its own before that
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

  // The paper's state vector S(i): s, d and g are in Common. d and g as c mean something in
  // Reorganization and Normal alone.
  std::optional<ElectionId> c;  ///< the election that made c coordinator
  std::optional<ElectionId> h;  ///< the election that halted this node last
  Members up;                   ///< S(i).Up, with what its members hold

  // The procedure that runs, and what it owes others.
  Procedure procedure;
  std::vector<Owed> owed;

  // What is remembered of others.
  std::map<NodeId, ElectionId>
      last_halt;  ///< the newest election of each candidate that halted this node
  std::optional<NodeId> answered_by;  ///< whose answer ended the last phase A
  NodeSet asked_in_vain;              ///< whose unanswered question causes the next election
  /// A higher node has ended an election of this node, which is in a group and has not heard its
  /// coordinator since (docs/decisions/left-behind.md).
  bool left_to_higher = false;

  std::uint64_t elections{};

  // Timers.
  bool check_armed = false;
  unsigned retry_level{};
  unsigned quiet_checks{};  ///< Checks in a row that found nothing, up to ten

  ByOptions by_options;
};
MUSTER_DESCRIBE(State, s, c, h, d, up, g, application, ticket, report, failed_hooks,
                failed_in_company, procedure, owed, leaving, left, last_halt, answered_by,
                asked_in_vain, left_to_higher, safe, seen, instances, counter, elections, calls,
                check_armed, coordinator_armed, retry_level, quiet_checks, by_options, met);

/// What one event makes of a node: changes `state` and returns what is to be done, in order.
Actions step(const Config& config, State& state, const Event& event, Moment at = {});

/// What others may see of the state; `before` is what they saw before, where that is known.
View view(const Config& config, const State& state, const View& before = {});

/// True while a procedure of this node waits for the answer to that call; a host forgets the
/// others.
bool awaits(const State& state, CallNumber call);

}  // namespace bully
}  // namespace muster

template <>
inline constexpr bool muster::left_out_in<&muster::bully::State::left_to_higher> = true;

MUSTER_COMPILED_ONCE(muster::bully::State);
