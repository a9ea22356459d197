#include "option_calm.hpp"

#include <algorithm>
#include <utility>

namespace muster::bully {

// --- One step

// Losses that are an hour old no longer count, and suspensions end.
void CalmOption::step_begins() {
  const Moment now = sight_.now();
  std::erase_if(calm_.unsteady,
                [&](const auto& node) { return node.second.last + calm_memory <= now; });
  for (auto& [node, unsteady] : calm_.unsteady)
    if (unsteady.held && unsteady.held->until <= now) unsteady.held.reset();
}

void CalmOption::step_ends() {
  if (!elects()) calm_.loss.reset();
}

bool CalmOption::elects() const {
  return sight_.runs<SeekingHigher>() || sight_.runs<Ceasing>() || sight_.runs<HaltingLower>() ||
         sight_.runs<HaltingAll>() || sight_.runs<BackingOff>() || sight_.runs<AskingFree>() ||
         sight_.runs<AwaitingMajority>();
}

// --- Suspended nodes

bool CalmOption::is_held(NodeId j) const {
  const auto known = calm_.unsteady.find(j);
  return known != calm_.unsteady.end() && known->second.held;
}

// The least number of nodes that calm leaves at work.
std::size_t CalmOption::least_at_work() const {
  const std::size_t all = sight_.config.nodes.size();
  return has_quorum() ? all / 2 + 1 : (all + 1) / 2;
}

bool CalmOption::enough_are_left_without(NodeId j, const NodeSet& up) const {
  return up.size() - (up.contains(j) ? 1 : 0) + 1 >= least_at_work();
}

bool CalmOption::is_left_out(NodeId j, const NodeSet& up) const {
  return is_held(j) && enough_are_left_without(j, up);
}

Joining CalmOption::judge_joining(NodeId j) const {
  return is_left_out(j, sight_.up()) ? Joining::left_out : Joining::member;
}

// Returns the suspended nodes that have already ceased. Other suspended nodes may still be at work,
// so the coordinator waits for their Joined.
NodeSet CalmOption::take_held_out() {
  NodeSet up = sight_.up();
  NodeSet out;
  for (NodeId j : std::exchange(calm_.ceased, {}))
    if (is_left_out(j, up)) {
      up.erase(j);
      out.insert(j);
    }
  return out;
}

// A suspended node answers No to Check(i). Without a quorum the node may be in a group of its own,
// so it is halted. With a quorum the node cannot work in another group, so it is not halted.
std::optional<Finding> CalmOption::judge_normality(NodeId j, const Result* answer) const {
  const auto* normality = answer ? std::get_if<Normality>(answer) : nullptr;
  const bool says_no = normality && !normality->normal;
  if (!says_no || sight_.member(j) || !is_left_out(j, sight_.up())) return std::nullopt;
  return has_quorum() ? Finding::fine : Finding::halt_alone;
}

// --- Blame for the loss of a group

// The calls to members that have no answer yet. The procedure that waits for them ends with the
// loss, but their answers still show which node is at fault.
std::map<CallNumber, NodeId> CalmOption::calls_to_members() const {
  const NodeSet up = sight_.up();
  std::map<CallNumber, NodeId> calls;
  const auto add = [&](const Calls& more) {
    for (const auto& [call, node] : more)
      if (up.contains(node)) calls.emplace(call, node);
  };
  const Procedure& procedure = sight_.node.procedure;
  if (const auto* wait = std::get_if<Checking>(&procedure)) add(wait->asked);
  if (const auto* wait = std::get_if<Announcing>(&procedure)) {
    add(wait->announced);
    add(wait->questions);
  }
  if (const auto* wait = std::get_if<Reorganizing>(&procedure)) add(wait->questions);
  if (const auto* wait = std::get_if<MakingReady>(&procedure)) {
    add(wait->readied);
    add(wait->questions);
  }
  return calls;
}

// The group is lost because of j, which is alive. It is not known yet whether only j is at fault:
// the other calls of the same round may show it, and so may the Halts. `judge_group` decides at the
// next election point.
//
// With a quorum a No or a refusal is judged at once. No other candidate can have taken j into a
// group that works, so j itself is at fault. A member whose `start` failed is at fault too, and
// then the coordinator does not back off. A silent node is not judged yet, since the network may be
// at fault.
Losing CalmOption::judge_loss(NodeId j, Lost how) {
  const Member* member = sight_.member(j);
  const bool is_dead = sight_.step.proof || !member || member->incarnation != sight_.seen(j);
  const bool is_own_start = how == Lost::start_failed && has_quorum();
  const Losing losing = is_own_start ? Losing::keeps_level : Losing::backs_off;
  if (sight_.node.leaving || is_dead) return losing;
  if (how != Lost::silent && has_quorum()) {
    blame(j);
    return losing;
  }
  Loss loss;
  loss.by = j;
  loss.counter = sight_.node.g->counter;
  loss.joined = !sight_.runs<Announcing>();
  loss.members = sight_.up();
  loss.round = calls_to_members();
  if (how == Lost::silent) loss.silent.insert(j);
  if (how == Lost::start_failed) loss.retry_level = sight_.node.retry_level;
  calm_.loss = std::move(loss);
  return losing;
}

bool CalmOption::differs_by_itself(const Loss& loss) const {
  return loss.members.contains(loss.by) && !loss.silent.contains(loss.by) && loss.by_itself;
}

std::optional<unsigned> CalmOption::level_given_back() const {
  if (!calm_.loss || !differs_by_itself(*calm_.loss)) return std::nullopt;
  return calm_.loss->retry_level;
}

// A node is blamed only if it is known to differ from the others:
// - the one member that was silent while others answered;
// - a member that said No or refused, if no other candidate has taken it since;
// - this coordinator, if it had several members and none answered.
//
// Otherwise the network may be at fault, and suspending a sound node would only cost work.
Group CalmOption::judge_group() {
  if (!calm_.loss) return Group::forms;
  const Loss loss = *std::exchange(calm_.loss, std::nullopt);
  if (differs_by_itself(loss)) blame(loss.by);
  if (!loss.members.contains(loss.by) || !loss.silent.contains(loss.by)) return Group::forms;
  if (loss.members.size() < 2) return Group::forms;
  if (loss.silent.size() == 1) blame(loss.by);
  const bool is_lost_by_all = loss.silent == loss.members;
  return is_lost_by_all && blame_itself(loss.members) ? Group::leave : Group::forms;
}

void CalmOption::blame(NodeId j) {
  Unsteady& unsteady = calm_.unsteady[j];
  count_once_more(unsteady, sight_.now());
  if (unsteady.times < 2 || !enough_are_left_without(j, sight_.up())) return;
  const Duration time = held_after(unsteady.times, holds(sight_.config));
  unsteady.held = Hold{sight_.now() + time, time};
}

// At the second such loss within an hour, this coordinator leaves for a while, if enough other
// nodes can go on without it. Every node is counted as able to go on unless its death is proven.
bool CalmOption::blame_itself(const NodeSet& lost) {
  if (sight_.node.leaving) return false;
  Unsteady& unsteady = calm_.unsteady[sight_.self()];
  count_once_more(unsteady, sight_.now());
  std::size_t others = lost.size();
  for (const auto& [node, known] : calm_.unsteady)
    if (known.held && !lost.contains(node)) ++others;
  return unsteady.times >= 2 && others >= least_at_work();
}

Pausing CalmOption::judge_pause() {
  calm_.loss.reset();
  const bool coordinates = sight_.coordinates() && !sight_.node.leaving;
  return coordinates && blame_itself(sight_.up()) ? Pausing::leave : Pausing::goes_on;
}

// --- Evidence about a loss

// A death is no fault of j, so j no longer counts in the loss.
void CalmOption::has_died(NodeId j) {
  if (!calm_.loss) return;
  calm_.loss->members.erase(j);
  calm_.loss->silent.erase(j);
}

// A process that was restarted may have been repaired, so its losses are forgotten.
void CalmOption::new_life_of(NodeId j) {
  calm_.unsteady.erase(j);
  has_died(j);
}

void CalmOption::call_returned(NodeId by, CallNumber call, const Result* result) {
  if (!calm_.loss) return;
  const auto out = calm_.loss->round.find(call);
  if (out == calm_.loss->round.end() || out->second != by) return;
  calm_.loss->round.erase(out);
  Loss& loss = *calm_.loss;
  if (!result && loss.members.contains(by)) loss.silent.insert(by);
  const auto* normality = result ? std::get_if<Normality>(result) : nullptr;
  const bool both_say_no = normality && !normality->normal && !loss.silent.contains(loss.by);
  if (both_say_no) calm_.loss.reset();  // another candidate may be about to take these nodes
}

void CalmOption::has_halted(NodeId j, const Halted* answer) {
  const bool lost_by = calm_.loss && calm_.loss->by == j;
  if (answer && answer->ceased.already && (is_held(j) || lost_by)) calm_.ceased.insert(j);
  if (answer && lost_by)
    calm_.loss->by_itself = answer->counter < calm_.loss->counter + (calm_.loss->joined ? 1 : 0);
  if (!answer && calm_.loss && calm_.loss->members.contains(j)) calm_.loss->silent.insert(j);
}

}  // namespace muster::bully
