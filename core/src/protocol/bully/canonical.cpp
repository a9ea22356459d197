#include "../canonical_of.hpp"
#include "../number_walk.hpp"

#include <algorithm>
#include <array>

/// What the checker must know of the Bully.

namespace muster::bully {

namespace {

// --- What is dead

using Order = Surroundings::Order;

// In the paper's text, where letters come in the order sent, a life decides only whether a member
// is the one that was halted: nobody is owed anything where hooks are prompt, and what is proven or
// matched by lives is a repair.
bool lives_name_members_only(const Config& config, const Surroundings& surroundings) {
  return surroundings.order == Order::sent && surroundings.prompt && config.options == Options{} &&
         !config.repairs.tags && !config.repairs.proofs;
}

// An election without tags is known by its candidate alone; its life only to proofs.
void forget(const Repairs& repairs, ElectionId& election) {
  if (repairs.tags) return;
  election.number = 0;
  if (!repairs.proofs) election.incarnation = {};
}

bool elects_anew(const Procedure& procedure) {
  return std::holds_alternative<SeekingHigher>(procedure) ||
         std::holds_alternative<BackingOff>(procedure);
}

// Its failure is proven to whom it matters anyhow.
bool waits_for(const State& state, NodeId node) {
  if (state.s == Status::Election) return state.h && state.h->candidate == node;
  return state.s != Status::Down && state.c && state.c->candidate == node;
}

void forget_elections(const Config& config, const Surroundings& surroundings, State& state) {
  const bool tags = config.repairs.tags;
  if (state.s != Status::Election && stands(config.struck, Line::status_test_of_new_coordinator) &&
      stands(config.struck, Line::h_undefined_at_recovery))
    state.h.reset();
  if (state.h) forget(config.repairs, *state.h);
  if (state.c) forget(config.repairs, *state.c);
  // In sessions the elections of one life ascend.
  const bool ascend = surroundings.order == Order::sessions && surroundings.once;
  if (!tags) state.elections = 0;
  if (!tags || ascend) state.last_halt.clear();
}

void forget_lives(Letter& letter) {
  const auto* answer = std::get_if<Answer>(&letter.message);
  if (!answer || !std::holds_alternative<Halted>(answer->result)) letter.incarnation = {};
  if (auto* call = std::get_if<NewCoordinator>(&letter.message)) call->receiver = {};
  if (auto* call = std::get_if<Ready>(&letter.message)) call->receiver = {};
}

}  // namespace

void forget_dead(const Config& config, const Surroundings& surroundings, State& state) {
  const Repairs& repairs = config.repairs;
  if (lives_name_members_only(config, surroundings)) state.seen.clear();
  for (Member& member : state.up) member.holdings = {};
  const bool in_vain =
      repairs.parallel_calls && std::holds_alternative<SeekingHigher>(state.procedure);
  if (!in_vain && stands(config.struck, Line::halts_to_all)) state.asked_in_vain = {};
  if (!repairs.proofs || state.leaving || elects_anew(state.procedure) ||
      (state.answered_by && waits_for(state, *state.answered_by)))
    state.answered_by.reset();
  forget_elections(config, surroundings, state);
  forget_counts(repairs.back_off, state.retry_level, state.quiet_checks);
}

void forget_dead(const Config& config, const Surroundings& surroundings, SafeState& safe) {
  const auto h = safe.vector.h;
  safe.vector = {};
  if (!stands(config.struck, Line::h_undefined_at_recovery)) safe.vector.h = h;
  if (lives_name_members_only(config, surroundings)) safe.seen.clear();
}

void forget_dead(const Config& config, const Surroundings& surroundings, Letter& letter) {
  const Repairs& repairs = config.repairs;
  if (lives_name_members_only(config, surroundings)) forget_lives(letter);
  if (auto* halt = std::get_if<Halt>(&letter.message)) forget(repairs, halt->election);
  if (auto* call = std::get_if<NewCoordinator>(&letter.message)) forget(repairs, call->election);
  if (auto* call = std::get_if<Ready>(&letter.message)) forget(repairs, call->election);
  if (auto* call = std::get_if<AreYouNormal>(&letter.message); call && !repairs.normal_for_me)
    call->group = {};
  auto* answer = std::get_if<Answer>(&letter.message);
  if (!answer) return;
  if (auto* halted = std::get_if<Halted>(&answer->result); halted) {
    if (surroundings.ranks_only) halted->counter = 0;
    if (config.options.calm == Duration::zero()) halted->ceased = {};
  }
  if (auto* joined = std::get_if<Joined>(&answer->result)) joined->holdings = {};
}

// --- Time

namespace {

/// Moments that come closer, and of which none is earlier than what can still matter.
class Passing {
 public:
  Passing(const Config& config, Duration time)
      : time_(time),
        granted_(granted_for(config.timings)),
        ceasing_(ceases_within(config.timings, config.options.clock_drift)) {}

  void operator()(State& state) const {
    Grants& grants = state.by_options.grants;
    until(grants.right);
    for (auto& [call, at] : grants.granted) closer(at, granted_);
    for (auto& [call, asked] : grants.asked) closer(asked.at, granted_);
    for (auto& [node, end] : grants.held) until(end);
    for (auto& [node, heard] : grants.heard) closer(heard.at, granted_ + ceasing_);
    known(grants.rights);
    for (auto& [node, told] : grants.told) known(told);
    if (grants.halted) until(grants.halted->until);
    if (grants.halted && grants.halted->until <= Moment{}) grants.halted.reset();
    if (grants.armed) until(*grants.armed);
    if (auto* asking = std::get_if<AskingFree>(&state.procedure))
      for (auto& [node, from] : asking->free_from) until(from);
    if (auto* awaiting = std::get_if<AwaitingMajority>(&state.procedure))
      if (awaiting->free_from) until(*awaiting->free_from);
    // An hour never passes.
    for (auto& [node, unsteady] : state.by_options.calm.unsteady) {
      if (!unsteady.held) continue;
      until(unsteady.held->until);
      if (unsteady.held->until <= Moment{}) unsteady.held.reset();
    }
  }

 private:
  void closer(Moment& moment, Duration matters) const {
    if (moment == Moment::max()) return;
    moment = std::max(moment - time_, -matters - Duration(1));
  }
  void until(Moment& end) const { closer(end, Duration(-1)); }  // it is over, or not
  void known(std::vector<Rights>& all) const {
    std::erase_if(all, [this](Rights& rights) {
      const Duration matters = ceasing_ + (rights.own_word ? 2 * granted_ : Duration{});
      closer(rights.coordinator, matters);
      if (!rights.own_word) closer(rights.others, ceasing_);
      bool over = rights.coordinator < -matters && (rights.own_word || rights.others < -ceasing_);
      for (auto& [node, end] : rights.members) {
        closer(end, ceasing_);
        over = over && end < -ceasing_;
      }
      return over;
    });
  }

  Duration time_, granted_, ceasing_;
};

}  // namespace

void let_pass(const Config& config, State& state, Duration time) {
  Passing(config, time)(state);
}

// --- Numbers that grow for ever

namespace {

class Walk : public NumberWalk<Walk> {
 public:
  Walk(NodeId self, const State& state, NumberVisitor& visitor)
      : NumberWalk(self, visitor), coordinator_(state.c ? state.c->candidate : self) {}
  using NumberWalk::operator();

  void operator()(Grants& grants) {
    renumber(coordinator_, grants.granted);
    renumber(self_, grants.asked);
    for (auto& [node, heard] : grants.heard) visit_.call(self_, heard.call);
    for (Rights& rights : grants.rights) (*this)(rights.group);
    for (auto& [node, told] : grants.told)
      for (Rights& rights : told) (*this)(rights.group);
    (*this)(grants.questions);
  }

  void operator()(HaltedLife& life) { visit_.life(life.node, life.incarnation); }
  void operator()(Owed& owed) { visit_.call(owed.to, owed.call); }
  void operator()(HaltingLower& wait) { visit_.call(self_, wait.call); }
  void operator()(Probing& wait) { visit_.call(self_, wait.call); }

 private:
  template <class Value>
  void renumber(NodeId caller, std::map<CallNumber, Value>& calls) {
    std::map<CallNumber, Value> changed;
    for (auto& [number, value] : calls) {
      CallNumber call = number;
      visit_.call(caller, call);
      changed.emplace(call, std::move(value));
    }
    calls = std::move(changed);
  }

  NodeId coordinator_;
};

}  // namespace

void visit_numbers(NodeId self, State& state, NumberVisitor& visitor) {
  const Incarnation life = state.safe.incarnation;  // as it is before it is changed
  Walk(self, state, visitor).state(state);
  visitor.last_election(self, life, state.elections);
}

}  // namespace muster::bully

namespace muster {

// --- Calls that act by the paper's tests of them

Acts acts(const Message& message) {
  if (std::holds_alternative<Halt>(message)) return Acts::halt;
  if (std::holds_alternative<NewCoordinator>(message)) return Acts::on_halted;
  if (std::holds_alternative<Ready>(message)) return Acts::on_joined;
  const bool question =
      std::holds_alternative<AreYouThere>(message) || std::holds_alternative<AreYouNormal>(message);
  return question ? Acts::never : Acts::whatever;
}

bool calls_act_by_their_tests(const Config& config, const Surroundings& surroundings) {
  constexpr std::array tests = {Line::h_test, Line::c_test, Line::status_test_of_new_coordinator,
                                Line::status_test_of_ready, Line::h_undefined_at_recovery};
  return config.protocol == ProtocolName::bully &&
         bully::lives_name_members_only(config, surroundings) && !config.repairs.parallel_calls &&
         std::all_of(tests.begin(), tests.end(),
                     [&](Line line) { return stands(config.struck, line); });
}

}  // namespace muster
