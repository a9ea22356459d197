#pragma once

#include <muster/claims/assertions.hpp>
#include <muster/journal/journal.hpp>
#include <muster/lab/bounds.hpp>
#include <muster/protocol/canonical.hpp>

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// One node of the checker's world with the state of its host, and the effects of one event. The
/// host is the one of docs/architecture.md, without time.

namespace muster::lab::explored {

using muster::operator==;

/// The content of a definition in the checker: its group, and the life of the coordinator that made
/// it.
struct Task {
  GroupNumber group;
  Incarnation life;
};
Definition write_task(const Task& task);
std::optional<Task> read_task(const Bytes& bytes);

/// A call that a node waits for.
struct OutCall {
  Letter letter;
  std::optional<Incarnation> sent_to;  ///< the life to which the call was sent
  bool given_up = false;               ///< refused, and never sent again
};
MUSTER_DESCRIBE(OutCall, letter, sent_to, given_up);

// --- Items on their way to a node from a peer, in the order in which its host takes them

/// The Hello of a new life proves that the former life is over.
struct NewLife {
  NodeId peer;
  Incarnation life;
};
MUSTER_DESCRIBE(NewLife, peer, life);
/// A session with that life begins.
struct Begins {
  NodeId peer;
  Incarnation life;
};
MUSTER_DESCRIBE(Begins, peer, life);
/// A dial to the peer was refused. The calls that end with this item were made before the dial.
struct Refusal {
  NodeId peer;
};
MUSTER_DESCRIBE(Refusal, peer);

/// A life with another configuration answers at the peer's address. The two nodes cannot talk to
/// each other.
struct Differs {
  NodeId peer;
};
MUSTER_DESCRIBE(Differs, peer);

/// A call of the node `at` will not be answered.
struct NoAnswer {
  NodeId at;
  NodeId by;
  CallNumber call;
  Unheard how = Unheard::silence;
};
MUSTER_DESCRIBE(NoAnswer, at, by, call, how);

using Item = std::variant<Letter, NewLife, Begins, Refusal, NoAnswer, Differs>;

/// A `reorganize` or `start` that runs.
struct Runs {
  Hook hook{};
  Ticket ticket;
  GroupNumber group;
};
MUSTER_DESCRIBE(Runs, hook, ticket, group);
/// A STOP that has not ended.
struct Stops {
  Ticket ticket;
  bool owed{};
};
MUSTER_DESCRIBE(Stops, ticket, owed);

constexpr std::size_t timers = 9;
constexpr std::uint16_t bit(Timer timer) {
  return static_cast<std::uint16_t>(1u << static_cast<unsigned>(timer));
}

/// A node, its safe storage, and the state of its host.
struct Local {
  NodeId node;
  bool up = false;
  bool paused = false;
  bool returns = false;  ///< the node stood back, and its next life begins by itself
  bool other = false;    ///< the node has the second configuration
  SafeState safe;
  std::optional<SafeState> copy;  ///< a copy of an earlier state of `safe`, for a restore
  Protocol state;
  std::map<CallNumber, OutCall> calls;
  /// By node: the life with which this node has a session.
  std::vector<std::optional<Incarnation>> with;
  std::uint16_t timers = 0;  ///< the timers that run, bit by bit in the order of Timer
  std::optional<Runs> runs;
  std::optional<Stops> stops;
  bool stop_owed = false;               ///< by P2
  std::optional<GroupNumber> works;     ///< from the beginning of `start` to the end of `stop`
  Moment right{};                       ///< the end of the node's right to work, counted from now
  bool discounted = false;              ///< the node has paused since, so its work is not judged
  std::optional<GroupNumber> accepted;  ///< the highest group chosen or accepted, in any life
};
MUSTER_DESCRIBE(Local, node, up, paused, returns, other, safe, copy, state, calls, with, timers,
                runs, stops, stop_owed, works, right, discounted, accepted);

// --- Moves of one node, whatever the others do

enum class Op : std::uint8_t {
  take,      ///< the next item from a peer
  expire,    ///< a timer
  end_hook,  ///< the hook that runs, or the STOP, ends
  fail_hook,
  silence,  ///< a call stays unanswered
  refuse,   ///< a dial to a peer was refused
  recover,
  fail,
  pause,
  resume,
  leave,
  meet,        ///< a session with that life of a peer begins
  not_waited,  ///< the caller no longer waits for a call that this node has answered, or will
               ///< answer
  change,      ///< the node's next life has the other configuration
  copy,        ///< the node's safe storage is copied
  restore,     ///< the copy becomes the node's safe storage
};

/// An item for a queue.
struct Put {
  NodeId to;    ///< the owner of the queue
  NodeId from;  ///< the peer from which the item comes
  bool front = false;
  Item item;
  std::optional<Incarnation> life;  ///< the item is dropped unless this life is up
};

/// An assertion that was violated inside a step.
struct Wrong {
  std::string assertion;
  Disagreement disagreement;
};

/// The effects of a move, beside the new state of the node.
struct Effects {
  std::vector<Put> puts;
  std::vector<Wrong> wrong;            ///< in the order in which they occurred
  std::optional<Members> reorganizes;  ///< members that must be stopped, for the check of P4
};

/// The number of a call as it travels. Without sessions, letters of a former life may arrive among
/// those of this one. So the number of a call contains the life, unless a canonical form already
/// marks the calls for which no node waits.
CallNumber on_its_way(const Bounds& bounds, Incarnation caller, CallNumber number);
/// The number of that call at the caller.
CallNumber at_the_caller(CallNumber on_its_way);

/// One tick of all clocks.
inline constexpr Duration one_tick{1};
/// The timings of a world with clocks: a grant lasts two ticks, and a node has ceased one tick
/// after the end of its right.
Timings timings_of_clocks();
/// One tick passes for that node.
void let_pass_tick(Local& node);

/// Gets each line of a journal, for counterexamples.
class Witness {
 public:
  virtual ~Witness() = default;
  virtual void step(const Local& node, const Event& event, const Actions& actions) = 0;
  virtual void performed(const Local& node) = 0;
  virtual void hook(const Local& node, Hook hook, journal::Edge edge, Ticket ticket,
                    const std::optional<GroupNumber>& group, const Members* members) = 0;
  virtual void revoked(const Local& node, const GroupNumber& group) = 0;
  /// The life has ended by itself.
  virtual void on_node_ended(const Local& node, ExitCode code, const std::string& why) = 0;
};

/// The host of one node during one move.
class Host {
 public:
  Host(const Bounds& bounds, const Config& config, Local& node, Witness* witness = nullptr)
      : bounds_(bounds), config_(config), node_(node), witness_(witness) {}

  void take(NodeId from, const Item& item);
  void expire(Timer timer);
  void end_hook(bool well);
  void silence(CallNumber call);
  void refuse(NodeId peer);
  void recover();
  void fail();
  void pause();
  void resume();
  void leave();
  void meet(NodeId peer, Incarnation life);
  void not_waited(NodeId by, CallNumber call);
  void change();
  void copy();
  void restore();
  /// The node fails after this number of actions, if there are more.
  void fail_after(unsigned actions) { most_ = actions; }
  /// The number of actions performed.
  [[nodiscard]] std::uint8_t actions() const { return performed_; }
  /// Ends all hooks at once, if hooks are prompt.
  void end_prompt_hooks();

  Effects effects;

 private:
  void take_item(NodeId from, const Letter& letter);
  void take_item(NodeId from, const NewLife& item);
  void take_item(NodeId from, const Begins& item);
  void take_item(NodeId from, const Refusal& item);
  void take_item(NodeId from, const NoAnswer& item);
  void take_item(NodeId from, const Differs& item);
  void session_over(NodeId peer, const std::vector<CallNumber>& unanswered,
                    std::optional<Incarnation> next, Unheard how = Unheard::silence);
  void tell_differing(NodeSet differ);
  void take(const Event& event);
  void perform(const Save& action);
  void perform(const Send& action);
  void perform(const Arm& action);
  void perform(const Disarm& action);
  void perform(const Stop& action);
  void perform(const Reorganize& action);
  void perform(const Start& action);
  void perform(const Right& action) { node_.right = action.until; }
  void perform(const Leave& action);
  void transmit(OutCall& call);
  void accepted(const std::optional<GroupNumber>& before);
  void wrong(const char* assertion, std::string why);
  std::optional<Incarnation>& with(NodeId peer) { return node_.with[peer.value - 1]; }
  [[nodiscard]] bool outlived(const OutCall& call, Incarnation life) const;

  const Bounds& bounds_;
  const Config& config_;
  Local& node_;
  Witness* witness_;
  std::optional<unsigned> most_;
  std::uint8_t performed_ = 0;
};

/// Facts that hold for a node in each world of these bounds.
Surroundings surroundings(const Bounds& bounds);
/// Removes parts that can have no effect any more, and keeps the node's own numbers small.
void forget_dead(const Bounds& bounds, const Config& config, Local& node);
void forget_dead(const Bounds& bounds, const Config& config, Item& item);

}  // namespace muster::lab::explored
