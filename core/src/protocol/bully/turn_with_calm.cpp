#include "turn_with_calm.hpp"

#include <algorithm>

namespace muster::bully {

namespace {

bool is_proof(const Event& event) {
  const auto* unanswered = std::get_if<Unanswered>(&event);
  return std::holds_alternative<Failed>(event) ||
         (unanswered && unanswered->how == Unheard::refused);
}

}  // namespace

Actions TurnWithCalm::take(const Event& event) {
  if (state_.left) return {};
  proof_ = is_proof(event);
  forget_what_was_long_ago();
  Actions actions = Turn::take(event);
  if (!elects()) calm_.loss.reset();
  return actions;
}

// --- Whom this node holds, and for what
// ---------------------------------------------------------------------------------------------

void TurnWithCalm::forget_what_was_long_ago() {
  std::erase_if(calm_.unsteady,
                [&](const auto& node) { return node.second.last + calm_memory <= now_; });
  for (auto& [node, unsteady] : calm_.unsteady)
    if (unsteady.held && unsteady.held->until <= now_) unsteady.held.reset();
}

bool TurnWithCalm::is_held(NodeId j) const {
  const auto known = calm_.unsteady.find(j);
  return known != calm_.unsteady.end() && known->second.held;
}

// Fewer are not left at work for the sake of calm.
std::size_t TurnWithCalm::least_at_work() const {
  const std::size_t all = config_.nodes.size();
  return config_.options.quorum == Quorum::majority ? all / 2 + 1 : (all + 1) / 2;
}

bool TurnWithCalm::enough_are_left_without(NodeId j) const {
  const auto left = std::count_if(state_.up.begin(), state_.up.end(),
                                  [&](const Member& member) { return member.node != j; });
  return static_cast<std::size_t>(left) + 1 >= least_at_work();
}

bool TurnWithCalm::is_left_out(NodeId j) const {
  return is_held(j) && enough_are_left_without(j);
}

void TurnWithCalm::leave_out(NodeId j) {
  std::erase_if(state_.up, [&](const Member& member) { return member.node == j; });
}

// --- Who is to blame for a group that was lost
// ---------------------------------------------------------------------------------------------

bool TurnWithCalm::elects() const {
  return runs<SeekingHigher>() || runs<Ceasing>() || runs<HaltingLower>() || runs<HaltingAll>() ||
         runs<BackingOff>() || runs<AskingFree>() || runs<AwaitingMajority>();
}

// The procedure that runs may wait for these calls, and ends now.
std::map<CallNumber, NodeId> TurnWithCalm::calls_to_members() const {
  std::map<CallNumber, NodeId> calls;
  const auto add = [&](const Calls& more) {
    for (const auto& [call, node] : more)
      if (up().contains(node)) calls.emplace(call, node);
  };
  if (const auto* wait = std::get_if<Checking>(&state_.procedure)) add(wait->asked);
  if (const auto* wait = std::get_if<Announcing>(&state_.procedure)) {
    add(wait->announced);
    add(wait->questions);
  }
  if (const auto* wait = std::get_if<Reorganizing>(&state_.procedure)) add(wait->questions);
  if (const auto* wait = std::get_if<MakingReady>(&state_.procedure)) {
    add(wait->readied);
    add(wait->questions);
  }
  return calls;
}

// This coordinator's group is lost: j is silent, or has said No or refused, and nobody knows yet
// whether it alone differs. The other calls of the same round may tell, and so may the Halts.
void TurnWithCalm::loses(NodeId j, const Result* result) {
  const Member* member = this->member(j);
  const bool is_dead = proof_ || !member || member->incarnation != state_.seen[j];
  if (!is_on() || state_.leaving || is_dead) return;
  // With a quorum no other candidate can have taken it into a group that works: it differs. Of
  // silence that is not known.
  if (result && config_.options.quorum == Quorum::majority) return blame(j);
  Loss loss;
  loss.by = j;
  loss.counter = state_.g->counter;
  loss.joined = !runs<Announcing>();
  loss.members = up();
  loss.round = calls_to_members();
  if (!result) loss.silent.insert(j);
  calm_.loss = std::move(loss);
}

// A node is blamed only if it is known to differ from the others: the one member that was silent
// while the others answered; the member that said No or refused, though no other candidate has
// taken it; this coordinator, if none of several members answered. Otherwise the network may be at
// fault, and a sound node that is held for it works less than without calm.
void TurnWithCalm::judge_loss() {
  if (!calm_.loss) return;
  const Loss loss = std::move(*calm_.loss);
  calm_.loss.reset();
  if (!loss.members.contains(loss.by)) return;
  if (!loss.silent.contains(loss.by)) {
    if (!loss.by_itself) return;
    if (loss.retry_level) state_.retry_level = *loss.retry_level;
    blame(loss.by);
  } else if (loss.members.size() > 1) {
    if (loss.silent.size() == 1) blame(loss.by);
    if (loss.silent == loss.members) blame_itself(loss.members);
  }
}

void TurnWithCalm::blame(NodeId j) {
  Unsteady& unsteady = calm_.unsteady[j];
  count_once_more(unsteady, now_);
  if (unsteady.times < 2 || !enough_are_left_without(j)) return;
  const Duration time = held_after(unsteady.times, holds(config_));
  unsteady.held = Hold{now_ + time, time};
}

// The second time it leaves for a while, where enough others go on without it: of those whose death
// nobody has proven it is taken that they do.
void TurnWithCalm::blame_itself(const NodeSet& lost) {
  if (!is_on() || state_.leaving) return;
  Unsteady& unsteady = calm_.unsteady[config_.self];
  count_once_more(unsteady, now_);
  std::size_t others = lost.size();
  for (const auto& [node, known] : calm_.unsteady)
    if (known.held && !lost.contains(node)) ++others;
  if (unsteady.times >= 2 && others >= least_at_work()) leave(LeaveCause::unsteady);
}

// It works in no other group while this node can hear it. With a quorum it could not.
void TurnWithCalm::keep_out(NodeId j) {
  if (config_.options.quorum == Quorum::majority) return;
  ++state_.elections;
  call(j, Halt{own_election()}, Bound::answer);
}

// --- Deaths count for nothing
// ---------------------------------------------------------------------------------------------

void TurnWithCalm::has_died(NodeId j) {
  if (!calm_.loss) return;
  calm_.loss->members.erase(j);
  calm_.loss->silent.erase(j);
}

void TurnWithCalm::happened(const Unanswered& event) {
  if (proof_) has_died(event.by);
  Turn::happened(event);
}

void TurnWithCalm::happened(const Failed& event) {
  has_died(event.node);
  Turn::happened(event);
}

// A process that was restarted may have been repaired.
void TurnWithCalm::new_life_of(NodeId node) {
  Turn::new_life_of(node);
  calm_.unsteady.erase(node);
  has_died(node);
}

// --- Where the paper's procedures go another way
// ---------------------------------------------------------------------------------------------

void TurnWithCalm::happened(const Paused& event) {
  calm_.loss.reset();
  if (coordinates() && !state_.leaving) {
    blame_itself(up());
    if (state_.leaving) return fail();
  }
  Turn::happened(event);
}

void TurnWithCalm::returned(NodeId by, CallNumber call, const Result* result) {
  if (!calm_.loss || !take_out(calm_.loss->round, by, call))
    return Turn::returned(by, call, result);
  Loss& loss = *calm_.loss;
  if (!result && loss.members.contains(by)) loss.silent.insert(by);
  const auto* normality = as<Normality>(result);
  const bool both_say_no = normality && !normality->normal && !loss.silent.contains(loss.by);
  if (both_say_no) calm_.loss.reset();  // another candidate may be about to take them
}

void TurnWithCalm::halt_lower() {
  calm_.ceased = {};
  Turn::halt_lower();
}

void TurnWithCalm::halt_returned(NodeId by, const Result* result) {
  const auto* halted = as<Halted>(result);
  const bool lost_by = calm_.loss && calm_.loss->by == by;
  if (halted && halted->ceased.already && (is_held(by) || lost_by)) calm_.ceased.insert(by);
  if (halted && lost_by)
    calm_.loss->by_itself = halted->counter < calm_.loss->counter + (calm_.loss->joined ? 1 : 0);
  if (!halted && calm_.loss && calm_.loss->members.contains(by)) calm_.loss->silent.insert(by);
  Turn::halt_returned(by, result);
}

// Whose application has ceased need not be waited for.
void TurnWithCalm::election_point() {
  judge_loss();
  if (state_.leaving) return;
  for (NodeId j : std::exchange(calm_.ceased, {}))
    if (is_left_out(j)) leave_out(j);
  Turn::election_point();
}

void TurnWithCalm::new_coordinator_returned(NodeId by, const Result* result) {
  const bool joined = as<Joined>(result);
  if (!joined) loses(by, result);
  if (!joined || !is_left_out(by)) return Turn::new_coordinator_returned(by, result);
  leave_out(by);
  announce();
  reorganize_when_all_stopped();
}

// Unless another candidate has taken it, its `start` has failed, and the others do not back off.
void TurnWithCalm::ready_returned(NodeId by, const Result* result) {
  const bool refused = result && !as<Installed>(result);
  const unsigned before = state_.retry_level;
  if (!as<Installed>(result)) loses(by, result);
  if (refused && calm_.loss) calm_.loss->retry_level = before;
  Turn::ready_returned(by, result);
  // With a quorum it was blamed at once.
  if (refused && is_on() && config_.options.quorum == Quorum::majority) state_.retry_level = before;
}

void TurnWithCalm::question_returned(NodeId by, const Result* result) {
  if (!as<Here>(result)) loses(by, result);
  Turn::question_returned(by, result);
}

void TurnWithCalm::normal_returned(NodeId by, const Result* result) {
  static const Result yes = Normality{true};
  const auto* normality = as<Normality>(result);
  const bool is_normal = normality && normality->normal;
  const bool left_out = normality && !is_normal && !member(by) && is_left_out(by);
  if (left_out) keep_out(by);
  if (member(by) && !is_normal) loses(by, result);
  Turn::normal_returned(by, left_out ? &yes : result);
}

void TurnWithCalm::start_over_without(NodeId j, const Result* result) {
  loses(j, result);
  start_over(false);
}

}  // namespace muster::bully
