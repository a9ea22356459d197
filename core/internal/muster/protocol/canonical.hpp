#pragma once

#include <muster/protocol/protocol.hpp>

#include <cstdint>
#include <optional>

/// The parts of states and letters that cannot influence any later decision. Each protocol knows
/// such parts of its own states and letters. The checker treats two states as one if they differ
/// only in such parts.

namespace MUSTER_EXPORT muster {

// --- Dead parts

/// Facts that are certain about the world of a node, in addition to its Config. The fewer facts are
/// certain, the fewer parts are dead.
struct Surroundings {
  enum class Order {
    any,   ///< letters may overtake each other
    sent,  ///< letters from one node to another arrive in their order, even from different lives
    sessions,  ///< letters arrive in their order, from one life to one life
  };
  Order order = Order::any;
  bool once = false;        ///< no letter arrives twice
  bool prompt = false;      ///< hooks take no time, and no node pauses
  bool hooks_end = false;   ///< no hook fails
  bool ranks_only = false;  ///< only the order of group counters matters, not their size
};

/// Clears the parts that can have no effect any more.
void forget_dead(const Config& config, const Surroundings& surroundings, Protocol& protocol);
void forget_dead(const Config& config, const Surroundings& surroundings, SafeState& safe);
void forget_dead(const Config& config, const Surroundings& surroundings, Letter& letter);

/// Stands for any call that is for this life, as `life_called` returns it. No other fact about the
/// call is known.
Message any_call_to(std::optional<Incarnation> life);

/// The condition under which a call has an effect besides its answer, provided that
/// `calls_act_by_their_tests`. `on_halted`: only if the caller has halted the receiver.
/// `on_joined`: only if the receiver has joined the caller. `whatever`: in any case, as for all
/// calls of protocols other than the Bully.
enum class Acts : std::uint8_t { whatever, halt, on_halted, on_joined, never };
Acts acts(const Message& message);
/// True if a call changes a node only if the paper's tests of that call hold.
bool calls_act_by_their_tests(const Config& config, const Surroundings& surroundings);

// --- Time, if `step` reads the clock: moments relative to now, which is 0

/// Lets time pass: makes every moment in the state earlier by `time`.
void let_pass(Protocol& protocol, Duration time);
/// True if the timer `right` would have expired by now.
bool right_is_due(const Protocol& protocol);

/// A grant that this member has given, and that its coordinator can still report as received.
struct Granted {
  ElectionId coordinator;
  CallNumber call;
};
std::vector<Granted> granted(const Protocol& protocol);
/// Forgets a grant of this member that its coordinator will never report as received.
void forget_granted(Protocol& protocol, CallNumber call);
/// The last grant of that member that this coordinator has received and reports to the member.
std::optional<CallNumber> heard(const Protocol& protocol, NodeId member);

/// With the option calm: true if this coordinator remembers that the node made its group
/// reorganize, or may still blame the node for that.
bool may_be_blamed(const Config& config, const Protocol& protocol, NodeId node);

// --- Numbers that grow without end

/// Visits every number of which only order and equality matter, together with the node that counts
/// it. The visitor may change the numbers. The checker renumbers states in this way.
class NumberVisitor {
 public:
  virtual ~NumberVisitor() = default;

  virtual void life(NodeId node, Incarnation& life) = 0;
  virtual void election(ElectionId& election) = 0;
  virtual void call(NodeId caller, CallNumber& call) = 0;
  virtual void group(GroupNumber& group) = 0;
  /// A group counter that a letter reports.
  virtual void reported(std::uint64_t& counter) = 0;

  /// The last number in use, from which a node counts on. A node has one such number for the
  /// elections of each life, one for calls and one for groups.
  virtual void last_election(NodeId candidate, Incarnation life, std::uint64_t& number) = 0;
  virtual void last_call(NodeId caller, CallNumber& call) = 0;
  virtual void last_counter(NodeId node, std::uint64_t& counter) = 0;

  /// Bytes of the application. Only the application knows the numbers in these bytes.
  virtual void written(Bytes& bytes) = 0;
};

/// Calls `visitor` for each number in the state of the node `self`, or in a letter.
void visit_numbers(NodeId self, Protocol& protocol, NumberVisitor& visitor);
void visit_numbers(NodeId self, SafeState& safe, NumberVisitor& visitor);
void visit_numbers(Letter& letter, NumberVisitor& visitor);

}  // namespace muster
