#pragma once

#include <muster/protocol/protocol.hpp>

#include <cstdint>
#include <optional>

/// What of states and letters decides nothing, as each protocol knows of its own: for the checker,
/// to which two of them that differ only in that are one.

namespace MUSTER_EXPORT muster {

// --- What is dead

/// What is certain of the world of a node, beside its Config. The less is, the less is dead there.
struct Surroundings {
  enum class Order {
    any,
    sent,      ///< letters of one node to another come as they were sent, whichever life sent them
    sessions,  ///< they come in order, from one life to one life
  };
  Order order = Order::any;
  bool once = false;        ///< no letter comes twice
  bool prompt = false;      ///< hooks take no time, and no node pauses
  bool hooks_end = false;   ///< none fails
  bool ranks_only = false;  ///< nobody asks how high group counters are
};

/// Clears what can have no effect any more.
void forget_dead(const Config& config, const Surroundings& surroundings, Protocol& protocol);
void forget_dead(const Config& config, const Surroundings& surroundings, SafeState& safe);
void forget_dead(const Config& config, const Surroundings& surroundings, Letter& letter);

/// A call of which no more is known than to which life it is, as `life_called` says.
Message any_call_to(std::optional<Incarnation> life);

/// When a call does anything but be answered, where `calls_act_by_their_tests`: `on_halted` and
/// `on_joined` where its receiver was halted by the caller, or has joined it; others than the
/// Bully's, whatever.
enum class Acts : std::uint8_t { whatever, halt, on_halted, on_joined, never };
Acts acts(const Message& message);
/// True where a call does nothing but be answered, unless the paper's tests of it hold.
bool calls_act_by_their_tests(const Config& config, const Surroundings& surroundings);

// --- Time, where `step` reads the clock: as seen from now, which is 0

/// So much later: all moments are closer, or over for longer.
void let_pass(Protocol& protocol, Duration time);
/// The timer `right` would have expired by now.
bool right_is_due(const Protocol& protocol);

/// A grant of this member, which may still be told that its coordinator has heard it.
struct Granted {
  ElectionId coordinator;
  CallNumber call;
};
std::vector<Granted> granted(const Protocol& protocol);
/// Nobody will tell it.
void forget_granted(Protocol& protocol, CallNumber call);
/// The last grant of that member that this coordinator has heard of, and tells it.
std::optional<CallNumber> heard(const Protocol& protocol, NodeId member);

/// With calm: it is remembered that it has made the group of this coordinator reorganize, or it may
/// do so.
bool may_be_blamed(const Config& config, const Protocol& protocol, NodeId node);

// --- Numbers that grow for ever

/// Told of each number of which nothing but order and equality is asked, with what it is counted
/// with. It may change them.
class NumberVisitor {
 public:
  virtual ~NumberVisitor() = default;

  virtual void life(NodeId node, Incarnation& life) = 0;
  virtual void election(ElectionId& election) = 0;
  virtual void call(NodeId caller, CallNumber& call) = 0;
  virtual void group(GroupNumber& group) = 0;
  /// A group counter that a letter tells.
  virtual void reported(std::uint64_t& counter) = 0;

  /// From where a node counts on: the elections of one of its lives, its calls, its groups.
  virtual void last_election(NodeId candidate, Incarnation life, std::uint64_t& number) = 0;
  virtual void last_call(NodeId caller, CallNumber& call) = 0;
  virtual void last_counter(NodeId node, std::uint64_t& counter) = 0;

  /// What the application wrote: only it knows which numbers are there.
  virtual void written(Bytes& bytes) = 0;
};

/// Shows `visitor` each number in what the node `self` keeps, or in a letter.
void visit_numbers(NodeId self, Protocol& protocol, NumberVisitor& visitor);
void visit_numbers(NodeId self, SafeState& safe, NumberVisitor& visitor);
void visit_numbers(Letter& letter, NumberVisitor& visitor);

}  // namespace muster
