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

/// One node of the checker's world with what its host keeps for it, and what one happening makes of
/// it: design of hosts as in docs/architecture.md, without time.

namespace muster::lab::explored {

using muster::operator==;

/// What a definition says in the checker: who defined it, in which life, for which group.
struct Task {
  GroupNumber group;
  Incarnation life;
};
Definition write_task(const Task& task);
std::optional<Task> read_task(const Bytes& bytes);

/// A call that a node waits for.
struct OutCall {
  Letter letter;
  std::optional<Incarnation> sent_to;  ///< the life to which it was transmitted
  bool given_up = false;               ///< refused: never transmitted again
};
MUSTER_DESCRIBE(OutCall, letter, sent_to, given_up);

// --- What is on its way to a node from a peer, in the order in which its host takes it

/// Hello of a new life proves that the old one is over.
struct NewLife {
  NodeId peer;
  Incarnation life;
};
MUSTER_DESCRIBE(NewLife, peer, life);
/// The session with that life begins.
struct Begins {
  NodeId peer;
  Incarnation life;
};
MUSTER_DESCRIBE(Begins, peer, life);
/// A connection was refused, after those calls to the peer were made that are given up.
struct Refusal {
  NodeId peer;
};
MUSTER_DESCRIBE(Refusal, peer);

/// Another life answers there, with another configuration: neither of the two can be spoken with.
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

/// A node, its safe storage, and what its host keeps.
struct Local {
  NodeId node;
  bool up = false;
  bool paused = false;
  bool returns = false;  ///< it stood back: a new life begins by itself
  bool other = false;    ///< its configuration is not the first
  SafeState safe;
  std::optional<SafeState> copy;  ///< of an earlier state of it, to be put back
  Protocol state;
  std::map<CallNumber, OutCall> calls;
  std::vector<std::optional<Incarnation>> with;  ///< the life of each node that a session joins
  std::uint16_t timers = 0;                      ///< that run: bit by bit in the order of Timer
  std::optional<Runs> runs;
  std::optional<Stops> stops;
  bool stop_owed = false;               ///< by P2
  std::optional<GroupNumber> works;     ///< from the beginning of `start` to the end of `stop`
  Moment right{};                       ///< until when it may work, as seen from now
  bool discounted = false;              ///< it paused since: what it works for does not count
  std::optional<GroupNumber> accepted;  ///< the highest group chosen or accepted, in any life
};
MUSTER_DESCRIBE(Local, node, up, paused, returns, other, safe, copy, state, calls, with, timers,
                runs, stops, stop_owed, works, right, discounted, accepted);

// --- What can happen to one node, whatever the others do

enum class Op : std::uint8_t {
  take,      ///< the next item from a peer
  expire,    ///< a timer
  end_hook,  ///< the hook that runs ends, or STOP
  fail_hook,
  silence,  ///< a call stays unanswered
  refuse,   ///< a connection to a peer was refused
  recover,
  fail,
  pause,
  resume,
  leave,
  meet,        ///< a session with that life of a peer begins
  not_waited,  ///< a call that it has answered or will matters to its caller no more
  change,      ///< its next life has another configuration
  copy,        ///< its safe storage is copied
  restore,     ///< and put back
};

/// Something sent or put into a queue.
struct Put {
  NodeId to;    ///< whose queue
  NodeId from;  ///< of what comes from whom
  bool front = false;
  Item item;
  std::optional<Incarnation> life;  ///< only to that life, if it is up
};

/// An assertion that does not hold inside one step.
struct Wrong {
  std::string assertion;
  Disagreement disagreement;
};

/// What came of it, beside the new state of the node.
struct Effects {
  std::vector<Put> puts;
  std::vector<Wrong> wrong;            ///< in the order in which it came
  std::optional<Members> reorganizes;  ///< P4 has to be looked at: these have to be stopped
};

/// The number of a call as it travels. Without sessions a letter of a former life may come among
/// those of this one: there the life is in it, unless a canonical form tells the calls that nobody
/// waits for from the others.
CallNumber on_its_way(const Bounds& bounds, Incarnation caller, CallNumber number);
/// The number that it has at the caller.
CallNumber at_the_caller(CallNumber on_its_way);

/// One tick of all clocks.
inline constexpr Duration one_tick{1};
/// The times of a world with clocks: a grant lasts two ticks, and who has lost its right has ceased
/// one tick later.
Timings timings_of_clocks();
/// A tick passes for that node.
void let_pass_tick(Local& node);

/// Told of every line that a journal would have; for counterexamples.
class Witness {
 public:
  virtual ~Witness() = default;
  virtual void step(const Local& node, const Event& event, const Actions& actions) = 0;
  virtual void performed(const Local& node) = 0;
  virtual void hook(const Local& node, Hook hook, journal::Edge edge, Ticket ticket,
                    const std::optional<GroupNumber>& group, const Members* members) = 0;
  virtual void revoked(const Local& node, const GroupNumber& group) = 0;
  /// Its life has ended by itself.
  virtual void ended(const Local& node, ExitCode code, const std::string& why) = 0;
};

/// The host of one node while one thing happens to it.
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
  /// It fails when it has performed so many actions, if there are more.
  void fail_after(unsigned actions) { most_ = actions; }
  /// How many were performed.
  [[nodiscard]] std::uint8_t actions() const { return performed_; }
  /// Where hooks are prompt: they end at once.
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
  void tell_who_differs(NodeSet differ);
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

/// What is certain of a node in that world.
Surroundings surroundings(const Bounds& bounds);
/// Clears what can have no effect any more, and keeps numbers that only this node has small.
void forget_dead(const Bounds& bounds, const Config& config, Local& node);
void forget_dead(const Bounds& bounds, const Config& config, Item& item);

}  // namespace muster::lab::explored
