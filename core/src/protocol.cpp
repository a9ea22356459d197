#include <muster/ensure.hpp>
#include <muster/protocol.hpp>

#include <algorithm>

namespace muster {

namespace {

std::size_t index_of(ProtocolName name) {
  switch (name) {
    case ProtocolName::bully:
      return Protocol(bully::State{}).index();
    case ProtocolName::invitation:
      return Protocol(invitation::State{}).index();
    case ProtocolName::textbook:
      break;
  }
  MUSTER_ENSURE(false);
  return 0;
}

}  // namespace

Protocol begin(const Config& config) {
  Protocol made;
  if (config.protocol == ProtocolName::invitation) made.emplace<invitation::State>();
  return made;
}

Actions step(const Config& config, Protocol& protocol, const Event& event) {
  MUSTER_ENSURE(protocol.index() == index_of(config.protocol));
  return std::visit([&](auto& state) { return step(config, state, event); }, protocol);
}

View view(const Config& config, const Protocol& protocol) {
  return std::visit([&](const auto& state) { return view(config, state); }, protocol);
}

bool awaits(const Protocol& protocol, CallNumber call) {
  return std::visit([&](const auto& state) { return awaits(state, call); }, protocol);
}

const SafeState& safe_state(const Protocol& protocol) {
  return std::visit([](const auto& state) -> const SafeState& { return state.safe; }, protocol);
}

ApplicationSeen application_seen(const Protocol& protocol) {
  return std::visit(
      [](const auto& state) {
        return ApplicationSeen{state.application, state.ticket, state.g};
      },
      protocol);
}

bool is_leaving(const Protocol& protocol) {
  return std::visit([](const auto& state) { return state.leaving.has_value(); }, protocol);
}

bool owes(const Protocol& protocol, NodeId to, CallNumber call) {
  return std::visit(
      [&](const auto& state) {
        return std::any_of(state.owed.begin(), state.owed.end(),
                           [&](const auto& owed) { return owed.to == to && owed.call == call; });
      },
      protocol);
}

}  // namespace muster
