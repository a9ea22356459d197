#pragma once

#include <muster/protocol/bully.hpp>
#include <muster/protocol/invitation.hpp>
#include <muster/protocol/step.hpp>
#include <muster/protocol/textbook.hpp>

#include <functional>
#include <string>
#include <variant>

/// One interface to every protocol. Hosts, the lab and the commands use this interface, and know no
/// protocol by name.

namespace MUSTER_EXPORT muster {

/// Everything that a node knows in one life. The alternatives are in the order of ProtocolName.
using Protocol = std::variant<bully::State, invitation::State, textbook::State>;

/// The state of a node that has not recovered yet, for the protocol that `config` names.
Protocol begin(const Config& config);

/// Applies one event to a node: changes `protocol` and returns the actions, in order. `protocol`
/// must be the alternative that `begin` returns for `config`.
///
/// @par Thread safety
/// A pure function: distinct states may be used on distinct threads.
/// @par Exceptions
/// Throws ImpossibleState, a std::logic_error, if the state contradicts itself. Such a
/// contradiction is a defect of Muster. The host then ends the process with exit code 70.
/// @par Example
/// @code
///     muster::Protocol node = muster::begin(config);
///     for (const auto& action : muster::step(config, node, muster::Recovered{safe}))
///       perform(action);  // one after the other, then the next event
/// @endcode
Actions step(const Config& config, Protocol& protocol, const Event& event, Moment at = {});

/// True when the time `at` can change a decision. Journals then contain it.
inline bool reads_clock(const Options& options) {
  return options.quorum == Quorum::majority || options.calm > Duration::zero();
}
inline bool reads_clock(const Config& config) {
  return reads_clock(config.options);
}

/// The part of the state that others may see. `before` is the view before the event, if known.
View view(const Config& config, const Protocol& protocol, const View& before = {});

/// True while a procedure of this node waits for the answer to this call. A host gives up all calls
/// for which this is false.
bool awaits(const Protocol& protocol, CallNumber call);

/// The whole state as a JSON object, as a journal contains it.
std::string state_json(const Protocol& protocol);

/// The part of the state that every protocol has.
const Common& common(const Protocol& protocol);
Common& common(Protocol& protocol);

/// True when this node will still answer that call of another node.
bool owes(const Protocol& protocol, NodeId to, CallNumber call);
/// Calls `visit` with each call that this node will still answer: its caller and its number.
/// `visit` may change the number.
void visit_owed(Protocol& protocol, const std::function<void(NodeId to, CallNumber& call)>& visit);

}  // namespace muster

MUSTER_COMPILED_ONCE(muster::Protocol);
