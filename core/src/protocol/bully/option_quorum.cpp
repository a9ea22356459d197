#include "option_quorum.hpp"

#include <muster/values/ensure.hpp>

#include <algorithm>

namespace muster::bully {

// --- Rights to work, and their end
// ---------------------------------------------------------------------------------------------

// A coordinator from its first Ready on, a member from its `start` on, though that fails.
bool QuorumOption::works_by_right() const {
  if (sight_.node.leaving || !sight_.works_in_group()) return false;
  if (sight_.coordinates()) return sight_.runs<MakingReady>() || sight_.node.s == Status::Normal;
  return sight_.node.application != Activity::Idle && sight_.node.application != Activity::Stopping;
}

// Until when this node may work. With a quorum each right to work has an end.
std::optional<Moment> QuorumOption::right() const {
  if (!works_by_right()) return std::nullopt;
  return grants_.right;
}

// The first question of each step: what is over by now is forgotten before it.
bool QuorumOption::right_is_over() {
  forget_what_is_over();
  return works_by_right() && grants_.right <= sight_.now();
}

// "It works only as long as such a majority grants it": all that was granted is over.
bool QuorumOption::nobody_grants() const {
  return std::all_of(grants_.held.begin(), grants_.held.end(),
                     [this](const auto& grant) { return grant.second <= sight_.now(); });
}

// "The coordinator's right": it works while it holds the grants of a majority, its own included.
Moment QuorumOption::coordinators_right() const {
  std::vector<Moment> ends{always};
  for (const auto& [node, end] : grants_.held) ends.push_back(end);
  if (ends.size() < majority()) return never;
  std::sort(ends.rbegin(), ends.rend());
  return ends[majority() - 1];
}

// It reorganizes when nobody else may be at work any more. Ready goes out only within its right:
// until a majority has granted it, it asks.
Phase QuorumOption::judge_phase(Next next) {
  if (next == Next::reorganize) {
    const auto end = others_cease();
    return !end || *end <= sight_.now() ? Phase::now : Phase::later;
  }
  if (coordinators_right() <= sight_.now()) return Phase::later;
  grants_.right = coordinators_right();
  grants_.readied = true;
  return Phase::now;
}

// "A member's right": `start` begins only within it, and a later Ready is refused.
Readiness QuorumOption::judge_ready() const {
  return sight_.now() < grants_.right ? Readiness::start : Readiness::refuse;
}

// The timer `right`: for what ends first, and for nothing that moves on before it is there.
std::optional<Moment> QuorumOption::next_end() const {
  std::optional<Moment> end;
  const auto at_most = [&](Moment moment) { end = std::min(end.value_or(moment), moment); };
  if (works_by_right() && grants_.right != always) at_most(grants_.right);
  if (const auto* awaiting = std::get_if<AwaitingMajority>(&sight_.node.procedure))
    if (awaiting->free_from) at_most(*awaiting->free_from);
  const auto* announcing = std::get_if<Announcing>(&sight_.node.procedure);
  if (announcing && announcing->announced.empty() && announcing->not_announced.empty())
    if (const auto others = others_cease(); others && sight_.now() < *others) at_most(*others);
  return end;
}

// --- Grants, heard of
// ---------------------------------------------------------------------------------------------

// A member works by the word of its own coordinator alone, in that life.
bool QuorumOption::is_of_own_coordinator(const Letter& letter) const {
  const auto& c = sight_.node.c;
  return sight_.works_in_group() && !sight_.coordinates() && c->candidate == letter.from &&
         c->incarnation == letter.incarnation;
}

// A coordinator says with its next question which grant it has heard: the right that this grant
// gives its member counts from when the member granted it.
void QuorumOption::letter_came() {
  const Letter& letter = *sight_.step.letter;
  if (!letter.by_quorum) return;
  const ByQuorum& riding = *letter.by_quorum;
  if (is_answer(letter)) {
    if (riding.grants) take_grant(letter);
    return;
  }
  if (!is_of_own_coordinator(letter) || !riding.heard) return;
  const auto granted = grants_.granted.find(*riding.heard);
  if (granted == grants_.granted.end()) return;
  const Duration held = held_for(sight_.config.timings, sight_.config.options.clock_drift);
  grants_.right = std::max(grants_.right, granted->second + held);
  grants_.granted.erase(grants_.granted.begin(), std::next(granted));
}

// It is held from when it was asked for.
void QuorumOption::take_grant(const Letter& answer) {
  const auto asked = grants_.asked.find(answer.call);
  if (asked == grants_.asked.end() || asked->second.of != answer.from || !sight_.coordinates())
    return;
  const Duration held = held_for(sight_.config.timings, sight_.config.options.clock_drift);
  Moment& end = grants_.held.try_emplace(answer.from, never).first->second;
  end = std::max(end, asked->second.at + held);
  Heard& heard = grants_.heard[answer.from];
  if (heard.call < answer.call) heard = {answer.call, sight_.now()};
  if (!answer.by_quorum->rights.empty())
    grants_.told[answer.from] = as_told(answer.by_quorum->rights);
  if (sight_.node.s == Status::Normal || sight_.runs<MakingReady>())
    grants_.right = coordinators_right();
}

// --- Grants, given
// ---------------------------------------------------------------------------------------------

// Grants need no letters of their own: they ride on the questions that the paper asks anyway.
std::optional<ByQuorum> QuorumOption::rides_with(const Letter& letter) {
  ByQuorum riding;
  if (const auto* answer = std::get_if<Answer>(&letter.message))
    answer_rides(*answer, letter, riding);
  else
    call_rides(letter, riding);
  if (riding == ByQuorum{}) return std::nullopt;
  return riding;
}

// A call that may bring a grant is remembered with its time.
void QuorumOption::call_rides(const Letter& letter, ByQuorum& riding) {
  const bool asks_for_grant = std::holds_alternative<AreYouNormal>(letter.message) ||
                              std::holds_alternative<NewCoordinator>(letter.message) ||
                              std::holds_alternative<Ready>(letter.message);
  if (!asks_for_grant || !sight_.member(letter.to)) return;
  grants_.asked[letter.call] = {letter.to, sight_.now()};
  const auto heard = grants_.heard.find(letter.to);
  if (heard != grants_.heard.end()) riding.heard = heard->second.call;
}

// "A member that answers a question of its coordinator, NewCoordinator or Ready grants it." Here
// says whether this node has ceased, and whether it awaits a majority. Halted binds it to the
// higher node.
void QuorumOption::answer_rides(const Answer& answer, const Letter& letter, ByQuorum& riding) {
  const Result& result = answer.result;
  const bool joined = std::holds_alternative<Joined>(result);
  const bool normality = std::holds_alternative<Normality>(result);
  const bool here = std::holds_alternative<Here>(result);
  if (here || normality)
    riding.awaits = sight_.runs<AwaitingMajority>() && !sight_.works_in_group();
  riding.ceased = here && has_ceased_for(letter.to);
  if (std::holds_alternative<Halted>(result) && sight_.self() < letter.to)
    grants_.halted = BoundByHalt{letter.to, sight_.now() + granted_for(sight_.config.timings)};
  riding.grants =
      joined || std::holds_alternative<Installed>(result) || (normality && grants_by(letter));
  if (joined) riding.rights = to_tell();
  if (riding.grants) has_granted(letter.call);
}

// The question of the own coordinator, about the own group.
bool QuorumOption::grants_by(const Letter& answer) const {
  const Letter* question = sight_.step.letter;
  if (!question || question->call != answer.call) return false;
  const auto* normal = std::get_if<AreYouNormal>(&question->message);
  return normal && is_of_own_coordinator(*question) && sight_.node.g == normal->group;
}

// From now on, for the coordinator; whom it then still asks may work for as long again.
void QuorumOption::has_granted(CallNumber call) {
  MUSTER_ENSURE(sight_.works_in_group());
  const Moment now = sight_.now();
  const Duration granted = granted_for(sight_.config.timings);
  grants_.granted[call] = now;
  const auto known = std::find_if(
      grants_.rights.begin(), grants_.rights.end(),
      [&](const Rights& rights) { return !rights.own_word && rights.group == sight_.node.g; });
  const Rights rights{sight_.node.g, now + granted, now + 2 * granted};
  if (known == grants_.rights.end())
    remember(rights);
  else
    *known = rights;
}

// A life that has only begun is as good a proof as a machine that refuses: the one before is over.
// Since a majority has been halted by the asker, only an older election that has halted this node
// could still have it work; its own has its election point later than this answer.
bool QuorumOption::has_ceased_for(NodeId asker) const {
  const State& node = sight_.node;
  const bool has_only_begun = node.s == Status::Down && node.application == Activity::Owing;
  const bool by_another =
      node.h && node.h->candidate != asker && node.h->candidate != sight_.self();
  return (has_only_begun || node.application == Activity::Idle) && !sight_.works_in_group() &&
         !by_another;
}

void QuorumOption::step_ends() {
  std::erase_if(grants_.asked,
                [this](const auto& asked) { return !awaits(sight_.node, asked.first); });
}

// --- Asking before halting, and who is outside the group
// ---------------------------------------------------------------------------------------------

// A candidate that hears too few, or only nodes that work for a higher one, halts nobody. A proven
// death needs no question.
Halting QuorumOption::judge_halting() const {
  return grants_.proven ? Halting::at_once : Halting::asks_free;
}

// "It halts nobody until those that are free, with itself, are a majority."
std::optional<Moment> QuorumOption::majority_free_from(const AskingFree& wait) const {
  if (wait.free_from.size() < majority()) return std::nullopt;
  std::vector<Moment> free;
  for (const auto& [node, from] : wait.free_from) free.push_back(from);
  std::sort(free.begin(), free.end());
  return free[majority() - 1];
}

// When no node above the asker has this node's grant, or its answer to a Halt.
Moment QuorumOption::free_from(NodeId asker) const {
  Moment from = sight_.now();
  for (const Rights& rights : grants_.rights)
    if (!rights.own_word && rights.group && asker < rights.group->coordinator)
      from = std::max(from, rights.coordinator);
  if (grants_.halted && asker < grants_.halted->candidate)
    from = std::max(from, grants_.halted->until);
  if (sight_.coordinates() && asker < sight_.self()) from = std::max(from, grants_.right);
  return from;
}

// "It takes more than half of the configured nodes to be a group."
std::optional<Group> QuorumOption::judge_group() const {
  if (sight_.node.up.size() + 1 < majority()) return Group::too_few;
  return std::nullopt;
}

// Whoever is not in S(i).Up is asked whether it is there, and works, until it does not: what proves
// that must be younger than the election point.
NodeSet QuorumOption::others_to_ask() const {
  NodeSet others;
  for (NodeId j : sight_.config.nodes) {
    const bool is_asked = std::any_of(grants_.questions.begin(), grants_.questions.end(),
                                      [&](const auto& asked) { return asked.second == j; });
    if (j != sight_.self() && !sight_.member(j) && !grants_.ceased.contains(j) && !is_asked)
      others.insert(j);
  }
  return others;
}

// "A node that answers that it has ceased, or whose machine refuses, is waited for no longer."
Outsider QuorumOption::judge_outsider(NodeId j) {
  if (!sight_.step.proof && !sight_.is_told(&ByQuorum::ceased)) return Outsider::may_work;
  grants_.ceased.insert(j);
  return Outsider::has_ceased;
}

// --- What answers mean
// ---------------------------------------------------------------------------------------------

// "Here, but I await a majority" counts as silence.
std::optional<Higher> QuorumOption::judge_higher() const {
  if (sight_.is_told(&ByQuorum::awaits)) return Higher::silent;
  return std::nullopt;
}

// The same of the own coordinator: it is in no group, so it is none.
std::optional<Coordinator> QuorumOption::judge_coordinator(const Result* answer) const {
  if (answer && sight_.is_told(&ByQuorum::awaits)) return Coordinator::silent;
  return std::nullopt;
}

// A member that does not grant has left the group.
Membership QuorumOption::judge_member(const Result* answer) const {
  const bool grants =
      answer && std::holds_alternative<Normality>(*answer) && sight_.is_told(&ByQuorum::grants);
  return grants ? Membership::there : Membership::lost;
}

// A higher node that awaits a majority is to be left alone, and a member that is silent has its
// right until that is over: c goes on meanwhile, and asks.
std::optional<Finding> QuorumOption::judge_normality(NodeId j, const Result* answer) const {
  const bool awaits =
      answer && std::holds_alternative<Normality>(*answer) && sight_.is_told(&ByQuorum::awaits);
  if (awaits && sight_.self() < j) return Finding::fine;
  const auto heard = grants_.heard.find(j);
  if (answer || sight_.step.proof || heard == grants_.heard.end()) return std::nullopt;
  const Moment until = heard->second.at + granted_for(sight_.config.timings) +
                       ceases_within(sight_.config.timings, sight_.config.options.clock_drift);
  if (sight_.now() < until) return Finding::spared;
  return std::nullopt;
}

// --- Groups begin and end
// ---------------------------------------------------------------------------------------------

// A new life knows no more of the one before than that it may have granted, just before it ended.
void QuorumOption::life_begins() {
  const Moment end = sight_.now() + 2 * granted_for(sight_.config.timings);
  grants_.rights = {Rights{std::nullopt, end, end}};
}

// Where it has joined, it has ceased.
void QuorumOption::left_out(NodeId j) {
  if (sight_.runs<Announcing>()) grants_.ceased.insert(j);
}

// Its word on the group that ends is kept: while others may go by it, it counts.
void QuorumOption::leaves_group() {
  if (grants_.readied) remember(own_word());
  Grants kept;
  kept.rights = std::move(grants_.rights);
  kept.halted = grants_.halted;
  kept.proven = grants_.proven;
  kept.armed = grants_.armed;
  grants_ = std::move(kept);
}

}  // namespace muster::bully
