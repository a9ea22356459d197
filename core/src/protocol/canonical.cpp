#include "canonical_of.hpp"
#include "number_walk.hpp"

namespace muster {

// --- Dead parts of a state

void forget_dead(const Config& config, const Surroundings& surroundings, Protocol& protocol) {
  std::visit(
      [&](auto& state) {
        if (surroundings.ranks_only) state.safe.counter_limit = state.counter;
        forget_dead(config, surroundings, state.safe);
        state.report = {};
        if (surroundings.hooks_end) state.failed_hooks = state.failed_in_company = 0;
        forget_dead(config, surroundings, state);
        state.ticket = Ticket{1};  // the hook that runs; an older one has ended
      },
      protocol);
}

void forget_dead(const Config& config, const Surroundings& surroundings, SafeState& safe) {
  safe.assigned.reset();
  if (surroundings.order == Surroundings::Order::sessions) safe.seen.clear();
  if (config.protocol == ProtocolName::bully)
    bully::forget_dead(config, surroundings, safe);
  else
    safe.vector = {};
}

void forget_dead(const Config& config, const Surroundings& surroundings, Letter& letter) {
  if (auto* answer = std::get_if<Answer>(&letter.message))
    if (auto* refused = std::get_if<Refused>(&answer->result)) refused->why.clear();
  if (config.protocol == ProtocolName::bully) bully::forget_dead(config, surroundings, letter);
  if (config.protocol == ProtocolName::invitation)
    invitation::forget_dead(config, surroundings, letter);
}

Message any_call_to(std::optional<Incarnation> life) {
  if (life) return NewCoordinator{{}, *life, {}};
  return AreYouThere{};
}

// --- Time

void let_pass(Protocol& protocol, Duration time) {
  if (auto* state = std::get_if<bully::State>(&protocol)) bully::let_pass(*state, time);
}

bool right_is_due(const Protocol& protocol) {
  const auto* state = std::get_if<bully::State>(&protocol);
  if (!state) return false;
  const auto& armed = state->by_options.grants.armed;
  return armed && *armed <= Moment{};
}

std::vector<Granted> granted(const Protocol& protocol) {
  std::vector<Granted> all;
  if (const auto* state = std::get_if<bully::State>(&protocol))
    for (const auto& [call, at] : state->by_options.grants.granted)
      all.push_back({*state->c, call});
  return all;
}

void forget_granted(Protocol& protocol, CallNumber call) {
  if (auto* state = std::get_if<bully::State>(&protocol))
    state->by_options.grants.granted.erase(call);
}

std::optional<CallNumber> heard(const Protocol& protocol, NodeId member) {
  const auto* state = std::get_if<bully::State>(&protocol);
  if (!state) return std::nullopt;
  const auto& all = state->by_options.grants.heard;
  const auto found = all.find(member);
  return found == all.end() ? std::nullopt : std::optional(found->second.call);
}

bool may_be_blamed(const Config& config, const Protocol& protocol, NodeId node) {
  const auto* state = std::get_if<bully::State>(&protocol);
  if (!state || config.options.calm == Duration::zero()) return false;
  const Calm& calm = state->by_options.calm;
  return calm.unsteady.contains(node) || (calm.loss && calm.loss->members.contains(node)) ||
         std::any_of(state->up.begin(), state->up.end(),
                     [&](const Member& member) { return member.node == node; });
}

// --- Numbers that grow for ever

namespace {

class LetterWalk : public NumberWalk<LetterWalk> {
 public:
  LetterWalk(const Letter& letter, NumberVisitor& visitor)
      : NumberWalk({}, visitor), to_(letter.to) {}
  using NumberWalk::operator();

  void operator()(NewCoordinator& call) {
    (*this)(call.election);
    visit_.life(to_, call.receiver);
    (*this)(call.group);
  }
  void operator()(Ready& call) {
    (*this)(call.election);
    visit_.life(to_, call.receiver);
    (*this)(call.group);
    (*this)(call.definition);
  }
  void operator()(Halted& answer) { visit_.reported(answer.counter); }
  void operator()(invitation::Ready& call) {
    (*this)(call.group);
    if (call.receiver) visit_.life(to_, *call.receiver);
    (*this)(call.definition);
  }
  void operator()(invitation::Coordinating& answer) {
    (*this)(answer.group);
    visit_.reported(answer.counter);
  }
  void operator()(invitation::Invited& answer) { visit_.reported(answer.counter); }

 private:
  NodeId to_;
};

class SafeWalk : public NumberWalk<SafeWalk> {
 public:
  using NumberWalk::NumberWalk;
};

}  // namespace

void visit_numbers(NodeId self, Protocol& protocol, NumberVisitor& visitor) {
  std::visit([&](auto& state) { visit_numbers(self, state, visitor); }, protocol);
}

void visit_numbers(NodeId self, SafeState& safe, NumberVisitor& visitor) {
  SafeWalk walk(self, visitor);
  walk(safe);
}

void visit_numbers(Letter& letter, NumberVisitor& visitor) {
  visitor.life(letter.from, letter.incarnation);
  visitor.call(is_answer(letter) ? letter.to : letter.from, letter.call);
  LetterWalk walk(letter, visitor);
  walk(letter.message);
  if (!letter.by_quorum) return;
  if (auto& heard = letter.by_quorum->heard) visitor.call(letter.from, *heard);
  for (Rights& rights : letter.by_quorum->rights) walk(rights.group);
}

}  // namespace muster
