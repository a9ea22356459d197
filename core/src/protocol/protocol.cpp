#include <muster/protocol/protocol.hpp>
#include <muster/values/ensure.hpp>
#include <muster/values/hash.hpp>
#include <muster/values/json.hpp>
#include <muster/values/text.hpp>

#include <algorithm>

namespace muster {

namespace {

/// The group counter in a letter that its receiver would adopt; 0 if there is none.
struct CounterIn {
  std::uint64_t operator()(const NewCoordinator& call) const { return call.group.counter; }
  std::uint64_t operator()(const invitation::Invitation& call) const { return call.group.counter; }
  std::uint64_t operator()(const textbook::Coordinator& call) const { return call.group.counter; }
  std::uint64_t operator()(const Answer& answer) const { return std::visit(*this, answer.result); }
  std::uint64_t operator()(const Halted& answer) const { return answer.counter; }
  std::uint64_t operator()(const invitation::Coordinating& answer) const { return answer.counter; }
  std::uint64_t operator()(const invitation::Invited& answer) const { return answer.counter; }
  template <class Other>
  std::uint64_t operator()(const Other&) const {
    return 0;
  }
};

/// True if the letter names a counter that no honest node can have reached: counters grow by one
/// with each group. A node that knows no counter yet cannot judge.
bool is_far_ahead(const Common& state, const Letter& letter) {
  return state.counter > 0 &&
         std::visit(CounterIn{}, letter.message) > state.counter + most_groups_ahead;
}

Actions refuse(const Common& state, const Letter& letter) {
  const std::string why = "no group number is so far ahead of " + std::to_string(state.counter);
  return {Send{{letter.to, state.safe.incarnation, letter.from, letter.call, Answer{Refused{why}}},
               std::nullopt}};
}

}  // namespace

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
  const auto* received = std::get_if<Received>(&event);
  if (received && is_far_ahead(common(protocol), received->letter)) {
    const Letter& letter = received->letter;
    if (!is_answer(letter)) return refuse(common(protocol), letter);
    return step(config, protocol, Unanswered{letter.from, letter.call}, at);
  }
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
