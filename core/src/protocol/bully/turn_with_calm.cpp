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
  return Turn::take(event);
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

// This group is lost by j, unless j is dead, or was. False where this node leaves.
bool TurnWithCalm::stays_without(NodeId j) {
  const Member* member = this->member(j);
  const bool has_died = proof_ || (member && member->incarnation != state_.seen[j]);
  if (config_.options.calm == Duration::zero() || state_.leaving || has_died) return true;
  blame(j, up());
  Unsteady& unsteady = calm_.unsteady[j];
  if (unsteady.times < 2) return true;
  if (j == config_.self || !enough_are_left_without(j)) {
    blame_itself();
  } else {
    const Duration time = held_after(unsteady.times, holds(config_));
    unsteady.held = Hold{now_ + time, time};
  }
  return !state_.leaving;
}

// Too few of them answer this coordinator: of those whose death nobody has proven it is taken that
// they go on.
void TurnWithCalm::has_lost(NodeSet members) {
  if (config_.options.calm == Duration::zero() || state_.leaving) return;
  blame(config_.self, std::move(members));
  blame_itself();
}

void TurnWithCalm::blame(NodeId j, NodeSet for_losing) {
  calm_.lost = std::move(for_losing);
  calm_.blamed = j;
  count_once_more(calm_.unsteady[j], now_);
}

// It leaves for a while, where enough others go on without it.
void TurnWithCalm::blame_itself() {
  Unsteady& unsteady = calm_.unsteady[config_.self];
  if (calm_.blamed != config_.self) count_once_more(unsteady, now_);
  std::size_t others = calm_.lost.size();
  for (const auto& [node, known] : calm_.unsteady)
    if (known.held && !calm_.lost.contains(node)) ++others;
  if (unsteady.times >= 2 && others >= least_at_work()) leave(LeaveCause::unsteady);
}

// More are lost than are left, and none of them is dead: it is rather this node that they have
// lost.
void TurnWithCalm::judge_loss() {
  if (!calm_.blamed) return;
  const NodeId blamed = *calm_.blamed;
  const NodeSet left = up();
  const auto lost = std::count_if(calm_.lost.begin(), calm_.lost.end(),
                                  [&](NodeId j) { return !left.contains(j); });
  if (blamed != config_.self && static_cast<std::size_t>(lost) > left.size() + 1) {
    Unsteady& innocent = calm_.unsteady[blamed];
    innocent.held.reset();
    --innocent.times;
    blame_itself();
  }
  calm_.blamed.reset();
  calm_.lost = {};
}

// It works in no other group while this node can hear it. With a quorum it could not.
void TurnWithCalm::keep_out(NodeId j) {
  if (config_.options.quorum == Quorum::majority) return;
  ++state_.elections;
  call(j, Halt{own_election()}, Bound::answer);
}

// --- Deaths count for nothing
// ---------------------------------------------------------------------------------------------

void TurnWithCalm::happened(const Unanswered& event) {
  if (proof_) calm_.lost.erase(event.by);
  Turn::happened(event);
}

void TurnWithCalm::happened(const Failed& event) {
  calm_.lost.erase(event.node);
  Turn::happened(event);
}

// A process that was started anew may have been mended.
void TurnWithCalm::new_life_of(NodeId node) {
  Turn::new_life_of(node);
  calm_.unsteady.erase(node);
}

// --- Where the paper's procedures go another way
// ---------------------------------------------------------------------------------------------

void TurnWithCalm::happened(const Paused& event) {
  if (coordinates() && !stays_without(config_.self)) return fail();
  Turn::happened(event);
}

void TurnWithCalm::halt_lower() {
  calm_.ceased = {};
  Turn::halt_lower();
}

void TurnWithCalm::halt_returned(NodeId by, const Result* result) {
  const auto* halted = as<Halted>(result);
  if (halted && halted->ceased.already && is_held(by)) calm_.ceased.insert(by);
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
  if (!joined && !stays_without(by)) return;
  if (!joined || !is_left_out(by)) return Turn::new_coordinator_returned(by, result);
  leave_out(by);
  announce();
  reorganize_when_all_stopped();
}

void TurnWithCalm::ready_returned(NodeId by, const Result* result) {
  if (as<Installed>(result) || stays_without(by)) Turn::ready_returned(by, result);
}

void TurnWithCalm::question_returned(NodeId by, const Result* result) {
  if (as<Here>(result) || stays_without(by)) Turn::question_returned(by, result);
}

void TurnWithCalm::normal_returned(NodeId by, const Result* result) {
  static const Result yes = Normality{true};
  const auto* normality = as<Normality>(result);
  const bool is_normal = normality && normality->normal;
  const bool left_out = normality && !is_normal && !member(by) && is_left_out(by);
  if (left_out) keep_out(by);
  if (member(by) && !is_normal && !stays_without(by)) return;
  Turn::normal_returned(by, left_out ? &yes : result);
}

void TurnWithCalm::start_over_without(NodeId j) {
  if (stays_without(j)) start_over(false);
}

}  // namespace muster::bully
