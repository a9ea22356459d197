#include "../canonical_of.hpp"
#include "../number_walk.hpp"

#include <algorithm>
#include <array>

/// The checker makes states of the Bully equal that behave alike. `forget_dead` removes everything
/// that can have no effect any more. `visit_numbers` finds the numbers that grow for ever.

namespace muster::bully {

namespace {

// --- Dead parts of a state

using Order = Surroundings::Order;

// True if a member's life is used only to tell whether it is the life that was halted. This is so
// for the paper's text, if letters arrive in the order sent and hooks are prompt. Proofs and tags
// are repairs, and no call waits for a hook to end.
bool lives_name_members_only(const Config& config, const Surroundings& surroundings) {
  return surroundings.order == Order::sent && surroundings.prompt && config.options == Options{} &&
         !config.repairs.tags && !config.repairs.proofs;
}

// Without tags an election is known by its candidate alone. The candidate's life is needed only for
// proofs.
void forget(const Repairs& repairs, ElectionId& election) {
  if (repairs.tags) return;
  election.number = 0;
  if (!repairs.proofs) election.incarnation = {};
}

bool elects_again(const Procedure& procedure) {
  return std::holds_alternative<SeekingHigher>(procedure) ||
         std::holds_alternative<BackingOff>(procedure);
}

// True if the failure of `node` starts Timeout(i) in any case, so that `answered_by` adds nothing.
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
  // In sessions the numbers of one life's elections arrive in ascending order, so no late Halt has
  // to be recognized.
  const bool ascend = surroundings.order == Order::sessions && surroundings.once;
  if (!tags) state.elections = 0;
  if (!tags || ascend) state.last_halt.clear();
}

// --- Moments, as seen from now

/// For how long a moment can still have an effect after it has passed.
struct Lasting {
  Duration granted{};
  Duration ceasing{};
};

Lasting lasting(const Config& config) {
  return {granted_for(config.timings), ceases_within(config.timings, config.options.clock_drift)};
}

/// Stands for a moment that has no effect after it has passed.
constexpr Duration no_longer{-1};

Duration matters(const Rights& rights, const Lasting& lasts) {
  return rights.own_word ? lasts.ceasing + 2 * lasts.granted : lasts.ceasing;
}

template <class Visit>
void visit_moments(const Lasting& lasts, Rights& rights, Visit visit) {
  visit(rights.coordinator, matters(rights, lasts));
  if (!rights.own_word) visit(rights.others, lasts.ceasing);
  for (auto& [node, end] : rights.members) visit(end, matters(rights, lasts));
}

/// Visits each moment, with the time for which it can still have an effect after it has passed.
template <class Visit>
void visit_moments(const Lasting& lasts, State& state, Visit visit) {
  Grants& grants = state.by_options.grants;
  visit(grants.right, no_longer);
  for (auto& [call, at] : grants.granted) visit(at, lasts.granted);
  for (auto& [call, asked] : grants.asked) visit(asked.at, lasts.granted);
  for (auto& [node, end] : grants.held) visit(end, no_longer);
  // In the bounds that this coordinator itself tells, a member's right ends this much later than
  // its answer.
  for (auto& [node, heard] : grants.heard) visit(heard.at, 3 * lasts.granted + lasts.ceasing);
  for (Rights& rights : grants.rights) visit_moments(lasts, rights, visit);
  for (auto& [node, told] : grants.told)
    for (Rights& rights : told) visit_moments(lasts, rights, visit);
  if (grants.halted) visit(grants.halted->until, no_longer);
  if (grants.armed) visit(*grants.armed, no_longer);
  if (auto* asking = std::get_if<AskingFree>(&state.procedure))
    for (auto& [node, from] : asking->free_from) visit(from, no_longer);
  if (auto* awaiting = std::get_if<AwaitingMajority>(&state.procedure))
    if (awaiting->free_from) visit(*awaiting->free_from, no_longer);
  // Calm remembers losses for an hour, and the checker never lets an hour pass.
  for (auto& [node, unsteady] : state.by_options.calm.unsteady)
    if (unsteady.held) visit(unsteady.held->until, no_longer);
}

bool is_over(Rights rights, const Lasting& lasts) {
  bool over = true;
  visit_moments(lasts, rights,
                [&](Moment end, Duration matters) { over = over && end < -matters; });
  return over;
}

// Moves a moment that has long passed to the earliest time that can still have an effect.
void forget_how_long(Moment& moment, Duration matters) {
  moment = std::max(moment, -matters - Duration(1));
}

void forget_what_is_over(const Lasting& lasts, std::vector<Rights>& all) {
  for (Rights& rights : all) visit_moments(lasts, rights, forget_how_long);
  std::erase_if(all, [&](const Rights& rights) { return is_over(rights, lasts); });
}

void forget_what_is_over(const Config& config, State& state) {
  const Lasting lasts = lasting(config);
  visit_moments(lasts, state, forget_how_long);
  Grants& grants = state.by_options.grants;
  std::erase_if(grants.granted, [&](const auto& known) { return known.second <= -lasts.granted; });
  std::erase_if(grants.held, [](const auto& known) { return known.second <= Moment{}; });
  forget_what_is_over(lasts, grants.rights);
  for (auto& [node, told] : grants.told) forget_what_is_over(lasts, told);
  if (grants.halted && grants.halted->until <= Moment{}) grants.halted.reset();
  for (auto& [node, unsteady] : state.by_options.calm.unsteady)
    if (unsteady.held && unsteady.held->until <= Moment{}) unsteady.held.reset();
}

// The bounds that others have told, and the set of nodes that have ceased, are used only before
// `reorganize`. Whether a death was proven is used only before the first Halt.
void forget_grants(State& state) {
  Grants& grants = state.by_options.grants;
  if (!std::holds_alternative<Announcing>(state.procedure)) {
    grants.told.clear();
    grants.ceased = {};
  }
  if (!std::holds_alternative<SeekingHigher>(state.procedure)) grants.proven = false;
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
  if (!repairs.proofs || state.leaving || elects_again(state.procedure) ||
      (state.answered_by && waits_for(state, *state.answered_by)))
    state.answered_by.reset();
  forget_elections(config, surroundings, state);
  forget_what_is_over(config, state);
  forget_grants(state);
  auto& loss = state.by_options.calm.loss;
  if (loss && surroundings.ranks_only) loss->counter = 0;
  // The next Check must know whether the Check that runs was quiet.
  const bool quiet = state.left_to_higher && state.quiet_checks > 0;
  forget_counts(repairs.back_off, state.retry_level, state.quiet_checks);
  if (quiet) state.quiet_checks = std::max(state.quiet_checks, 1U);
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
  if (letter.by_quorum) forget_what_is_over(lasting(config), letter.by_quorum->rights);
  auto* answer = std::get_if<Answer>(&letter.message);
  if (!answer) return;
  if (auto* halted = std::get_if<Halted>(&answer->result); halted) {
    if (surroundings.ranks_only) halted->counter = 0;
    if (config.options.calm == Duration::zero()) halted->ceased = {};
  }
  if (auto* joined = std::get_if<Joined>(&answer->result)) joined->holdings = {};
  if (auto* elsewhere = std::get_if<Elsewhere>(&answer->result)) elsewhere->group.reset();
}

void let_pass(State& state, Duration time) {
  visit_moments({}, state, [time](Moment& moment, Duration) {
    if (moment != Moment::min() && moment != Moment::max()) moment -= time;
  });
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

  void operator()(Loss& loss) {
    visit_.reported(loss.counter);
    (*this)(loss.round);
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
