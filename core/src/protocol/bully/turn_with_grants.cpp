#include "turn_with_grants.hpp"

#include <muster/values/ensure.hpp>

#include <algorithm>

namespace muster::bully {

// --- One step: what has ended by now comes first, whatever has happened
// ---------------------------------------------------------------------------------------------

Actions TurnWithGrants::take(const Event& event) {
  if (state_.left) return {};
  new_life_ = std::holds_alternative<Recovered>(event);
  forget_what_is_over();
  if (works_by_right() && grants_.right <= now_) {
    // If some still grant it, the network may differ rather than this node.
    const bool nobody_grants =
        std::all_of(grants_.held.begin(), grants_.held.end(),
                    [this](const auto& grant) { return grant.second <= now_; });
    const bool differs = coordinates() && nobody_grants;
    const NodeSet lost = up();
    lose_right();
    if (differs) blame_itself(lost);
    if (state_.left) return std::move(actions_);
    if (!state_.leaving && !std::holds_alternative<Paused>(event)) election({});
  }
  const Moment right = grants_.right;
  Actions actions = TurnWithCalm::take(event);
  for (Action& action : actions)
    if (auto* send = std::get_if<Send>(&action)) let_ride(send->letter);
  std::erase_if(grants_.asked,
                [this](const auto& asked) { return !bully::awaits(state_, asked.first); });
  const bool starts = std::any_of(actions.begin(), actions.end(), [](const Action& action) {
    return std::holds_alternative<Start>(action);
  });
  if (starts || (works_by_right() && grants_.right != right))
    actions.insert(actions.begin(), Right{grants_.right});
  return actions;
}

// --- Rights to work, and their end
// ---------------------------------------------------------------------------------------------

// A coordinator from its first Ready on, a member from its `start` on, though that fails.
bool TurnWithGrants::works_by_right() const {
  if (state_.leaving || !works_in_group()) return false;
  if (coordinates()) return runs<MakingReady>() || state_.s == Status::Normal;
  return state_.application != Activity::Idle && state_.application != Activity::Stopping;
}

// As long as it holds the grants of a majority, its own included.
Moment TurnWithGrants::coordinators_right() const {
  std::vector<Moment> ends{always};
  for (const auto& [node, end] : grants_.held) ends.push_back(end);
  if (ends.size() < majority()) return never;
  std::sort(ends.rbegin(), ends.rend());
  return ends[majority() - 1];
}

// Permits are void. STOP has been due since then, and so is what it leads to.
void TurnWithGrants::lose_right() {
  const Moment deadline = grants_.right + config_.timings.stop_deadline;
  state_.s = Status::Election;
  state_.h.reset();
  state_.answered_by.reset();
  forget_group();
  stop({StopReason::right_over, std::nullopt});
  for (Action& action : actions_)
    if (auto* stop = std::get_if<Stop>(&action)) stop->by.at = deadline;
}

// --- Grants, given and heard of
// ---------------------------------------------------------------------------------------------

void TurnWithGrants::happened(const Received& event) {
  take_in(event.letter);
  Turn::happened(event);
}

void TurnWithGrants::take_in(const Letter& letter) {
  if (!letter.by_quorum) return;
  const ByQuorum& riding = *letter.by_quorum;
  if (is_answer(letter)) {
    says_it_awaits_ = riding.awaits;
    says_it_grants_ = riding.grants;
    says_it_ceased_ = riding.ceased;
    if (riding.grants) take_grant(letter);
    return;
  }
  const bool own_coordinator = works_in_group() && !coordinates() &&
                               state_.c->candidate == letter.from &&
                               state_.c->incarnation == letter.incarnation;
  if (!own_coordinator || !riding.heard) return;
  const auto granted = grants_.granted.find(*riding.heard);
  if (granted == grants_.granted.end()) return;
  const Duration held = held_for(config_.timings, config_.options.clock_drift);
  grants_.right = std::max(grants_.right, granted->second + held);
  grants_.granted.erase(grants_.granted.begin(), std::next(granted));
}

// It is held from when it was asked for.
void TurnWithGrants::take_grant(const Letter& answer) {
  const auto asked = grants_.asked.find(answer.call);
  if (asked == grants_.asked.end() || asked->second.of != answer.from || !coordinates()) return;
  const Duration held = held_for(config_.timings, config_.options.clock_drift);
  Moment& end = grants_.held.try_emplace(answer.from, never).first->second;
  end = std::max(end, asked->second.at + held);
  Heard& heard = grants_.heard[answer.from];
  if (heard.call < answer.call) heard = {answer.call, now_};
  if (!answer.by_quorum->rights.empty())
    grants_.told[answer.from] = as_told(answer.by_quorum->rights);
  if (state_.s == Status::Normal || runs<MakingReady>()) grants_.right = coordinators_right();
}

void TurnWithGrants::let_ride(Letter& letter) {
  ByQuorum riding;
  if (const auto* answer = std::get_if<Answer>(&letter.message))
    answer_rides(*answer, letter, riding);
  else
    call_rides(letter, riding);
  if (riding != ByQuorum{}) letter.by_quorum = std::move(riding);
}

void TurnWithGrants::call_rides(const Letter& letter, ByQuorum& riding) {
  const bool asks_for_grant = std::holds_alternative<AreYouNormal>(letter.message) ||
                              std::holds_alternative<NewCoordinator>(letter.message) ||
                              std::holds_alternative<Ready>(letter.message);
  if (!asks_for_grant || !member(letter.to)) return;
  grants_.asked[letter.call] = {letter.to, now_};
  const auto heard = grants_.heard.find(letter.to);
  if (heard != grants_.heard.end()) riding.heard = heard->second.call;
}

void TurnWithGrants::answer_rides(const Answer& answer, const Letter& letter, ByQuorum& riding) {
  const Result& result = answer.result;
  const bool joined = std::holds_alternative<Joined>(result);
  const bool normality = std::holds_alternative<Normality>(result);
  const bool here = std::holds_alternative<Here>(result);
  if (here || normality) riding.awaits = runs<AwaitingMajority>() && !works_in_group();
  riding.ceased = here && has_ceased_for(letter.to);
  if (std::holds_alternative<Halted>(result) && config_.self < letter.to)
    grants_.halted = BoundByHalt{letter.to, now_ + granted_for(config_.timings)};
  riding.grants =
      joined || std::holds_alternative<Installed>(result) || (normality && granted_ == letter.call);
  if (joined) riding.rights = to_tell();
  if (riding.grants) has_granted(letter.call);
}

// From now on, for the coordinator; whom it then still asks may work for as long again.
void TurnWithGrants::has_granted(CallNumber call) {
  MUSTER_ENSURE(works_in_group());
  const Duration granted = granted_for(config_.timings);
  grants_.granted[call] = now_;
  const auto known = std::find_if(
      grants_.rights.begin(), grants_.rights.end(),
      [&](const Rights& rights) { return !rights.own_word && rights.group == state_.g; });
  const Rights rights{state_.g, now_ + granted, now_ + 2 * granted};
  if (known == grants_.rights.end())
    remember(rights);
  else
    *known = rights;
}

// --- Asking before halting, and awaiting a majority
// ---------------------------------------------------------------------------------------------

void TurnWithGrants::election(NodeSet asked_in_vain) {
  grants_.proven = proof_;
  Turn::election(std::move(asked_in_vain));
}

// Who hears too few, or only such as work for a higher node, halts nobody.
void TurnWithGrants::halt_lower() {
  if (grants_.proven) return TurnWithCalm::halt_lower();
  state_.answered_by.reset();
  AskingFree wait;
  wait.free_from[config_.self] = free_from(config_.self);
  for (NodeId j : config_.nodes)
    if (halts(j)) wait.asked.emplace(call(j, AreYouFree{}, Bound::answer), j);
  state_.procedure = std::move(wait);
  halt_when_enough_are_free();
}

void TurnWithGrants::halt_when_enough_are_free() {
  const auto& wait = std::get<AskingFree>(state_.procedure);
  std::vector<Moment> free;
  NodeSet answered;
  for (const auto& [node, from] : wait.free_from) {
    free.push_back(from);
    answered.insert(node);
  }
  std::sort(free.begin(), free.end());
  const bool enough = free.size() >= majority();
  if (enough && free[majority() - 1] <= now_) return TurnWithCalm::halt_lower();
  if (!wait.asked.empty()) return;
  await_majority(std::move(answered), enough ? std::optional(free[majority() - 1]) : std::nullopt);
}

// When no node above the asker has this node's grant, or its answer to a Halt.
Moment TurnWithGrants::free_from(NodeId asker) const {
  Moment from = now_;
  for (const Rights& rights : grants_.rights)
    if (!rights.own_word && rights.group && asker < rights.group->coordinator)
      from = std::max(from, rights.coordinator);
  if (grants_.halted && asker < grants_.halted->candidate)
    from = std::max(from, grants_.halted->until);
  if (coordinates() && asker < config_.self) from = std::max(from, grants_.right);
  return from;
}

// Too few nodes answered, or were free. Whoever was halted stays stopped, in Election. To others
// this node is as one that is down, and so it is in no group, nor will be by an older Halt.
void TurnWithGrants::await_majority(NodeSet answered, std::optional<Moment> free_from) {
  end_procedure();
  if (!works_by_right()) {
    if (works_in_group()) state_.s = Status::Election;
    state_.h.reset();
    refuse_waiting_calls();
    forget_group();
  }
  state_.procedure = AwaitingMajority{std::move(answered), free_from};
  if (free_from) return;
  const unsigned level = state_.retry_level;
  if (repairs_.back_off) state_.retry_level = std::min(level + 1, highest_level);
  actions_.emplace_back(Arm{Timer::retry, level > 0 ? level - 1 : 0});
}

bool TurnWithGrants::awaits(const Result* result) const {
  return result && says_it_awaits_;
}

// --- Where the paper's procedures go another way
// ---------------------------------------------------------------------------------------------

// A new life knows no more of the one before than that it may have granted, just before it ended.
void TurnWithGrants::begin() {
  const Moment end = now_ + 2 * granted_for(config_.timings);
  if (new_life_) grants_.rights = {Rights{std::nullopt, end, end}};
  election({});
}

void TurnWithGrants::election_point() {
  if (state_.up.size() + 1 < majority()) return await_majority(up(), std::nullopt);
  TurnWithCalm::election_point();
  ask_others();
}

void TurnWithGrants::ask_members() {
  Turn::ask_members();
  if (runs<Announcing>()) ask_others();
}

// Whoever is not in S(i).Up is asked whether it is there, and works, until it does not: what proves
// that must be younger than the election point.
void TurnWithGrants::ask_others() {
  for (NodeId j : config_.nodes)
    if (j != config_.self && !member(j) && !grants_.ceased.contains(j) &&
        !asks(grants_.questions, j))
      grants_.questions.emplace(call(j, AreYouThere{}, Bound::answer), j);
}

// A life that has only begun is as good a proof as a machine that refuses: the one before is over.
// Since a majority has been halted by the asker, only an older election that has halted this node
// could still have it work; its own has its election point later than this answer.
bool TurnWithGrants::has_ceased_for(NodeId asker) const {
  const bool has_only_begun = state_.s == Status::Down && state_.application == Activity::Owing;
  const bool by_another =
      state_.h && state_.h->candidate != asker && state_.h->candidate != config_.self;
  return (has_only_begun || state_.application == Activity::Idle) && !works_in_group() &&
         !by_another;
}

// Where it has joined, it has ceased.
void TurnWithGrants::leave_out(NodeId j) {
  if (runs<Announcing>()) grants_.ceased.insert(j);
  TurnWithCalm::leave_out(j);
}

// Only within its right: until a majority has granted it, it asks.
void TurnWithGrants::make_ready() {
  if (coordinators_right() <= now_) return;
  grants_.right = coordinators_right();
  grants_.readied = true;
  Turn::make_ready();
}

void TurnWithGrants::ready(NodeId coordinator, CallNumber call) {
  if (now_ < grants_.right) return Turn::ready(coordinator, call);
  refuse(coordinator, call, Bound::started, "its right to work is over");
}

void TurnWithGrants::called(const Letter& letter, const AreYouThere& call) {
  Turn::called(letter, call);
  const auto* wait = std::get_if<AwaitingMajority>(&state_.procedure);
  if (wait && letter.from < config_.self && !wait->answered.contains(letter.from)) election({});
}

void TurnWithGrants::called(const Letter& letter, const AreYouNormal& call) {
  if (works_in_group() && !coordinates() && state_.c->candidate == letter.from &&
      state_.c->incarnation == letter.incarnation && state_.g == call.group)
    granted_ = letter.call;
  Turn::called(letter, call);
}

void TurnWithGrants::called(const Letter& letter, const AreYouFree&) {
  answer(letter.from, letter.call, Free{free_from(letter.from) - now_});
}

void TurnWithGrants::returned(NodeId by, CallNumber call, const Result* result) {
  if (take_out(grants_.questions, by, call)) {
    if (!proof_ && !says_it_ceased_) return;
    grants_.ceased.insert(by);
    return reorganize_when_all_stopped();
  }
  auto* wait = std::get_if<AskingFree>(&state_.procedure);
  if (!wait || !take_out(wait->asked, by, call)) return TurnWithCalm::returned(by, call, result);
  if (const auto* free = as<Free>(result))
    wait->free_from[by] = now_ + std::min(free->after, granted_for(config_.timings));
  halt_when_enough_are_free();
}

// "Here, but I await a majority" counts as silence.
void TurnWithGrants::higher_returned(NodeId by, const Result* result) {
  Turn::higher_returned(by, awaits(result) ? nullptr : result);
}

void TurnWithGrants::probe_returned(NodeId by, const Result* result) {
  Turn::probe_returned(by, awaits(result) ? nullptr : result);
}

// A member that does not grant has left the group.
void TurnWithGrants::question_returned(NodeId by, const Result* result) {
  if (!as<Normality>(result) || !says_it_grants_) return start_over_without(by, result);
  if (runs<Reorganizing>() && state_.d && state_.application == Activity::Idle) make_ready();
}

// A higher node that awaits a majority is to be left alone, and a member that is silent has its
// right until that is over: c goes on meanwhile, and asks.
void TurnWithGrants::normal_returned(NodeId by, const Result* result) {
  static const Result yes = Normality{true};
  const auto heard = grants_.heard.find(by);
  const auto* normality = as<Normality>(result);
  const bool left_alone = normality && awaits(result) && config_.self < by;
  const bool within_its_right =
      !result && !proof_ && heard != grants_.heard.end() &&
      now_ < heard->second.at + granted_for(config_.timings) +
                 ceases_within(config_.timings, config_.options.clock_drift);
  if (within_its_right) state_.quiet_checks = 0;
  TurnWithCalm::normal_returned(by, left_alone || within_its_right ? &yes : result);
}

void TurnWithGrants::happened(const Expired& event) {
  const auto* awaiting = std::get_if<AwaitingMajority>(&state_.procedure);
  if (event.timer == Timer::right) {
    grants_.armed.reset();
    if (awaiting && awaiting->free_from && *awaiting->free_from <= now_) return election({});
    reorganize_when_all_stopped();
  } else if (event.timer == Timer::retry && awaiting) {
    state_.procedure = Idle{};
    election({});
  } else {
    Turn::happened(event);
  }
}

void TurnWithGrants::end_procedure() {
  const auto* awaiting = std::get_if<AwaitingMajority>(&state_.procedure);
  if (awaiting && !awaiting->free_from) actions_.emplace_back(Disarm{Timer::retry});
  Turn::end_procedure();
}

void TurnWithGrants::forget_group() {
  if (grants_.readied) remember(own_word());
  Grants kept;
  kept.rights = std::move(grants_.rights);
  kept.halted = grants_.halted;
  kept.proven = grants_.proven;
  kept.armed = grants_.armed;
  grants_ = std::move(kept);
  Turn::forget_group();
}

// --- The timer `right`: for what ends first, and for nothing that moves on before it is there
// ---------------------------------------------------------------------------------------------

std::optional<Moment> TurnWithGrants::next_end() const {
  std::optional<Moment> end;
  const auto at_most = [&](Moment moment) { end = std::min(end.value_or(moment), moment); };
  if (works_by_right() && grants_.right != always) at_most(grants_.right);
  if (const auto* awaiting = std::get_if<AwaitingMajority>(&state_.procedure))
    if (awaiting->free_from) at_most(*awaiting->free_from);
  const auto* announcing = std::get_if<Announcing>(&state_.procedure);
  if (announcing && announcing->announced.empty() && announcing->not_announced.empty())
    if (const auto others = others_cease(); others && now_ < *others) at_most(*others);
  return end;
}

void TurnWithGrants::set_timers() {
  Turn::set_timers();
  const auto end = next_end();
  if (state_.left || !end || (grants_.armed && *grants_.armed <= *end)) return;
  grants_.armed = end;
  arm(Timer::right, *end - now_);
}

}  // namespace muster::bully
