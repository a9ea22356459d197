#include "option_quorum.hpp"

#include <muster/values/ensure.hpp>

#include <algorithm>

namespace muster::bully {

// --- Rights to work, and their end

// True if this node works within a right: a coordinator from its first Ready, a member from its
// `start`, even if the start fails.
bool QuorumOption::works_by_right() const {
  if (sight_.node.leaving || !sight_.works_in_group()) return false;
  if (sight_.coordinates()) return sight_.runs<MakingReady>() || sight_.node.s == Status::Normal;
  return sight_.node.application != Activity::Idle && sight_.node.application != Activity::Stopping;
}

// The end of this node's right to work. With a quorum every right has an end.
std::optional<Moment> QuorumOption::right() const {
  if (!works_by_right()) return std::nullopt;
  return grants_.right;
}

// The first question of each step. This question also forgets bounds that can have no effect any
// more.
bool QuorumOption::right_is_over() {
  forget_what_is_over();
  return works_by_right() && grants_.right <= sight_.now();
}

// True if every grant that this coordinator has received is over.
bool QuorumOption::nobody_grants() const {
  return std::all_of(grants_.held.begin(), grants_.held.end(),
                     [this](const auto& grant) { return grant.second <= sight_.now(); });
}

// The coordinator works while it holds the grants of a majority, its own included. So its right
// ends when fewer grants than a majority remain. Its own grant has no end.
Moment QuorumOption::coordinators_right() const {
  std::vector<Moment> ends{always};
  for (const auto& [node, end] : grants_.held) ends.push_back(end);
  if (ends.size() < majority()) return never;
  std::sort(ends.rbegin(), ends.rend());
  return ends[majority() - 1];
}

// The coordinator reorganizes when all nodes outside S(i).Up have ceased. It sends Ready only
// within its right. Until a majority has granted the right, it goes on asking.
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

// A member starts only within its right, and refuses a later Ready.
Readiness QuorumOption::judge_ready() const {
  return sight_.now() < grants_.right ? Readiness::start : Readiness::refuse;
}

// The moment for the timer `right`: the first end of a right, of a wait for free nodes, or of the
// others' work. The timer is not set for a moment that can still change.
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

// --- Grants received

// A member gets its right only from its own coordinator, and only from the life of the coordinator
// that formed the group.
bool QuorumOption::is_of_own_coordinator(const Letter& letter) const {
  const auto& c = sight_.node.c;
  return sight_.works_in_group() && !sight_.coordinates() && c->candidate == letter.from &&
         c->incarnation == letter.incarnation;
}

// An answer may bring a grant. A call of the member's own coordinator names the last grant that the
// coordinator has received. The member's right counts from the moment at which it gave that grant.
// The member then forgets older grants.
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

// Takes the grant that an answer brings. The time for which a grant is held counts from the moment
// of the question.
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

// --- Grants given

// Grants need no letters of their own. Questions and answers of the paper carry them.
std::optional<ByQuorum> QuorumOption::rides_with(const Letter& letter) {
  ByQuorum riding;
  if (const auto* answer = std::get_if<Answer>(&letter.message))
    answer_rides(*answer, letter, riding);
  else
    call_rides(letter, riding);
  if (riding == ByQuorum{}) return std::nullopt;
  return riding;
}

// A call that may bring a grant is remembered with its time. Such a call also names the last grant
// that this coordinator has received from the member.
void QuorumOption::call_rides(const Letter& letter, ByQuorum& riding) {
  const bool asks_for_grant = std::holds_alternative<AreYouNormal>(letter.message) ||
                              std::holds_alternative<NewCoordinator>(letter.message) ||
                              std::holds_alternative<Ready>(letter.message);
  if (!asks_for_grant || !sight_.member(letter.to)) return;
  grants_.asked[letter.call] = {letter.to, sight_.now()};
  const auto heard = grants_.heard.find(letter.to);
  if (heard != grants_.heard.end()) riding.heard = heard->second.call;
}

// Writes the rider of an answer. Joined and Installed contain a grant, and so does a Normality for
// the own coordinator and group. Here says whether this node has ceased, and Here and Normality say
// whether it awaits a majority. Halted binds this node to the higher node, so that during that time
// it is not free for a lower candidate.
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

// True if the answer is to an AreYouNormal of the own coordinator about the own group.
bool QuorumOption::grants_by(const Letter& answer) const {
  const Letter* question = sight_.step.letter;
  if (!question || question->call != answer.call) return false;
  const auto* normal = std::get_if<AreYouNormal>(&question->message);
  return normal && is_of_own_coordinator(*question) && sight_.node.g == normal->group;
}

// This node grants now, so its coordinator can work for another L. Until then the coordinator can
// still ask its other members, and each of these can work for another L after its answer.
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

// True if no group of an older election can make this node work, now or later. Its application is
// idle, or has not started since the life began. (A life that has only begun proves that the one
// before is over, as a machine that refuses does.) It is in no group. And no third node has halted
// this node. The node that asks has halted a majority by now, so only an older election could still
// take this node into a group. If this node holds an election of its own, the election point comes
// after this answer.
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

// --- Asking before halting, and nodes outside the group

// A candidate that hears too few nodes, or only nodes that work for a higher one, halts no node.
// After a proven death no question is needed.
Halting QuorumOption::judge_halting() const {
  return grants_.proven ? Halting::at_once : Halting::asks_free;
}

// The moment from which a majority is free, this node included.
std::optional<Moment> QuorumOption::majority_free_from(const AskingFree& wait) const {
  if (wait.free_from.size() < majority()) return std::nullopt;
  std::vector<Moment> free;
  for (const auto& [node, from] : wait.free_from) free.push_back(from);
  std::sort(free.begin(), free.end());
  return free[majority() - 1];
}

// The moment from which this node is bound to no node above the asker, by a grant or by its answer
// to a Halt, and has no right to work under such a node.
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

// A group has more than half of the configured nodes.
std::optional<Group> QuorumOption::judge_group() const {
  if (sight_.node.up.size() + 1 < majority()) return Group::too_few;
  return std::nullopt;
}

// Each node outside S(i).Up is asked until it says that it has ceased, or its machine refuses.
// Older proofs do not count: after such a proof the node may have restarted and joined another
// group. So only questions sent after the election point count.
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

// The node has ceased if it says so, or if its machine has refused the question. The coordinator
// then no longer waits for that node.
Outsider QuorumOption::judge_outsider(NodeId j) {
  if (!sight_.step.proof && !sight_.is_told(&ByQuorum::ceased)) return Outsider::may_work;
  grants_.ceased.insert(j);
  return Outsider::has_ceased;
}

// --- The meaning of answers

// A higher node that awaits a majority counts as silent: it will form no group now.
std::optional<Higher> QuorumOption::judge_higher() const {
  if (sight_.is_told(&ByQuorum::awaits)) return Higher::silent;
  return std::nullopt;
}

// A coordinator that awaits a majority is in no group, so it coordinates no more.
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

// If a higher node that awaits a majority answers No, this coordinator begins no election. A silent
// member may work until its right is over, so an election now would only wait for that moment.
// Until then the coordinator works on, and asks again.
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

// A new life assumes that the life before granted just before it ended. The coordinator of that
// life can have worked for L after the grant, and the other members for 2 L.
void QuorumOption::life_begins() {
  const Moment end = sight_.now() + 2 * granted_for(sight_.config.timings);
  grants_.rights = {Rights{std::nullopt, end, end}};
}

// A member that is left out after its NewCoordinator was answered has ceased: Joined says so.
void QuorumOption::left_out(NodeId j) {
  if (sight_.runs<Announcing>()) grants_.ceased.insert(j);
}

// When this coordinator leaves its group, it keeps its own bounds on that group, because they are
// better than those that others know.
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
