#include <muster/protocol/protocol.hpp>
#include <muster/values/ensure.hpp>
#include <muster/values/hash.hpp>
#include <muster/values/json.hpp>
#include <muster/values/text.hpp>

#include <algorithm>

namespace muster {

Protocol begin(const Config& config) {
  switch (config.protocol) {
    case ProtocolName::bully:
      return bully::State{};
    case ProtocolName::invitation:
      return invitation::State{};
    case ProtocolName::textbook:
      break;
  }
  return textbook::State{};
}

Actions step(const Config& config, Protocol& protocol, const Event& event, Moment at) {
  MUSTER_ENSURE(protocol.index() == static_cast<std::size_t>(config.protocol));
  if (auto* bully = std::get_if<bully::State>(&protocol))
    return bully::step(config, *bully, event, at);
  return std::visit([&](auto& state) { return step(config, state, event); }, protocol);
}

View view(const Config& config, const Protocol& protocol, const View& before) {
  return std::visit([&](const auto& state) { return view(config, state, before); }, protocol);
}

bool awaits(const Protocol& protocol, CallNumber call) {
  return std::visit([&](const auto& state) { return awaits(state, call); }, protocol);
}

std::string state_json(const Protocol& protocol) {
  return std::visit([](const auto& state) { return to_json(state); }, protocol);
}

const Common& common(const Protocol& protocol) {
  return std::visit([](const Common& state) -> const Common& { return state; }, protocol);
}

Common& common(Protocol& protocol) {
  return std::visit([](Common& state) -> Common& { return state; }, protocol);
}

bool owes(const Protocol& protocol, NodeId to, CallNumber call) {
  return std::visit(
      [&](const auto& state) {
        if constexpr (requires { state.owed; })
          return std::any_of(state.owed.begin(), state.owed.end(),
                             [&](const auto& owed) { return owed.to == to && owed.call == call; });
        else
          return false;
      },
      protocol);
}

void visit_owed(Protocol& protocol, const std::function<void(NodeId, CallNumber&)>& visit) {
  std::visit(
      [&](auto& state) {
        if constexpr (requires { state.owed; })
          for (auto& owed : state.owed) visit(owed.to, owed.call);
      },
      protocol);
}

std::optional<Digest> digest_of(const std::optional<Definition>& definition,
                                const std::optional<GroupNumber>& group, const View& before) {
  if (!definition || !group) return std::nullopt;
  const bool known = before.definition && before.group == group;
  return known ? *before.definition : digest(definition->data);
}

}  // namespace muster

MUSTER_COMPILE(muster::bully::State);
MUSTER_COMPILE(muster::invitation::State);
MUSTER_COMPILE(muster::textbook::State);
MUSTER_COMPILE(muster::Protocol);
