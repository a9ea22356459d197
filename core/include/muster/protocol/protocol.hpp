#pragma once

#include <muster/protocol/bully.hpp>
#include <muster/protocol/invitation.hpp>
#include <muster/protocol/step.hpp>
#include <muster/protocol/textbook.hpp>

#include <functional>
#include <string>
#include <variant>

/// Whatever protocol a node runs, behind one name: for hosts, lab and commands, which know none by
/// its own.

namespace MUSTER_EXPORT muster {

/// All that a node knows in one life. Which alternative it holds is which protocol the node runs,
/// in the order of ProtocolName.
using Protocol = std::variant<bully::State, invitation::State, textbook::State>;

/// A node that has not recovered yet, of the protocol that `config` names.
Protocol begin(const Config& config);

/// What one event makes of a node: changes `protocol` and returns what is to be done, in order.
/// `protocol` is of the kind that `begin` makes for `config`.
Actions step(const Config& config, Protocol& protocol, const Event& event, Moment at = {});

/// True where `at` decides anything: journals keep it there.
inline bool reads_clock(const Options& options) {
  return options.quorum == Quorum::majority || options.calm > Duration::zero();
}
inline bool reads_clock(const Config& config) {
  return reads_clock(config.options);
}

/// What others may see of it.
View view(const Config& config, const Protocol& protocol, const View& before = {});

/// True while a procedure of this node waits for the answer to that call; a host forgets the
/// others.
bool awaits(const Protocol& protocol, CallNumber call);

/// The whole state as an object of JSON, as it stands in a journal.
std::string state_json(const Protocol& protocol);

/// What every protocol remembers.
const Common& common(const Protocol& protocol);
Common& common(Protocol& protocol);

/// True when that call of another node will still be answered.
bool owes(const Protocol& protocol, NodeId to, CallNumber call);
/// Shows `visit` the number of each such call, with who has called; it may change it.
void visit_owed(Protocol& protocol, const std::function<void(NodeId to, CallNumber& call)>& visit);

}  // namespace muster

MUSTER_COMPILED_ONCE(muster::Protocol);
