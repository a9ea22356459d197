#include "bully_turn.hpp"

#include <algorithm>

/// The statements that follow each CALL of the paper, when it is answered and ONTIMEOUT.

namespace muster::bully {

void BullyTurn::returned(NodeId by, CallNumber call, const Result* result) {
  if (take_outsider(by, call)) return;
  options_.call_returned(by, call, result);
  const auto is_out = [&](Calls& calls) { return take_out(calls, by, call); };
  if (Calls* questions = this->questions(); questions && is_out(*questions))
    return question_returned(by, result);
  if (auto* wait = std::get_if<SeekingHigher>(&state_.procedure)) {
    if (is_out(wait->asked)) higher_returned(by, result);
  } else if (auto* halting = std::get_if<HaltingLower>(&state_.procedure)) {
    if (halting->call == call && halting->node == by) halt_returned(by, result);
  } else if (auto* all = std::get_if<HaltingAll>(&state_.procedure)) {
    if (is_out(all->halted)) halt_returned(by, result);
  } else if (auto* announcing = std::get_if<Announcing>(&state_.procedure)) {
    if (is_out(announcing->announced)) new_coordinator_returned(by, result);
  } else if (auto* making = std::get_if<MakingReady>(&state_.procedure)) {
    if (is_out(making->readied)) ready_returned(by, result);
  } else if (auto* checking = std::get_if<Checking>(&state_.procedure)) {
    if (is_out(checking->asked)) normal_returned(by, result);
  } else if (auto* probing = std::get_if<Probing>(&state_.procedure)) {
    if (probing->call == call && probing->node == by) probe_returned(by, result);
  } else {
    wait_of_option_returned(by, call, result);
  }
}

// AreYouThere in phase A: answered -> return; timeout -> next j. A node that awaits a majority
// counts as silent. If an outvoted node may still be at work, this node waits for it
// (differing.cpp).
void BullyTurn::higher_returned(NodeId by, const Result* result) {
  if (may_be_at_work(result)) return await_the_outvoted();
  if (!as<Here>(result) || options_.judge_higher() == Higher::silent)
    return ask_higher(side_by_side_);
  state_.answered_by = by;
  end_procedure();
  election_left_to_higher();
}

// Halt: answered -> [[ S.Up := S.Up + {j} ]]; timeout -> next j. The highest counter of all answers
// becomes the floor of the new group's counter.
void BullyTurn::halt_returned(NodeId by, const Result* result) {
  const auto* halted = as<Halted>(result);
  options_.has_halted(by, halted);
  if (halted) {
    state_.counter = std::max(state_.counter, halted->counter);
    state_.up.insert(state_.up.begin(), Member{by, state_.seen[by], {}});
  }
  if (may_be_at_work(result)) return await_the_outvoted();
  halt_next(by);
}

// The node that has left the call unanswered. If the lab has struck the line `halts-to-all`, the
// next election spares it its Halt. In the shipped code no Halt is spared (bully/findings.md, "An
// unanswered call").
NodeSet BullyTurn::in_vain(NodeId by, const Result* result) const {
  return result || halts_to_all() ? NodeSet{} : NodeSet{by};
}

// NewCoordinator: timeout -> Election(i); return. Departs from the paper: a refusal starts over as
// well. A member that was left out instead might still be at work, since only an accepted
// NewCoordinator says that its application has stopped (docs/findings.md, Q6).
void BullyTurn::new_coordinator_returned(NodeId by, const Result* result) {
  const auto* joined = as<Joined>(result);
  if (!joined) options_.judge_loss(by, result ? Lost::refused : Lost::silent);
  if (!joined && (!result || refusal_starts_over())) return start_over(false, in_vain(by, result));
  if (!joined)
    std::erase_if(state_.up, [&](const Member& j) { return j.node == by; });
  else if (options_.judge_joining(by) == Joining::left_out)
    leave_out(by);
  else
    member(by)->holdings = joined->holdings;
  announce();
  reorganize_when_all_stopped();
}

// Ready: timeout -> Election(i); return. Departs from the paper: a refusal starts over as well. If
// calm blames the member for a failed start, the level of `retry` stays as it was.
void BullyTurn::ready_returned(NodeId by, const Result* result) {
  if (!as<Installed>(result)) {
    const unsigned level = state_.retry_level;
    const Losing losing = options_.judge_loss(by, result ? Lost::start_failed : Lost::silent);
    start_over(false, in_vain(by, result));
    if (losing == Losing::keeps_level) state_.retry_level = level;
    return;
  }
  send_ready();
  normal_when_all_ready();
}

// A question to a member while longer calls have no answer yet: timeout -> start over. With a
// quorum the answer may be the grant that phase Y waits for.
void BullyTurn::question_returned(NodeId by, const Result* result) {
  const Membership of_the_paper = as<Here>(result) ? Membership::there : Membership::lost;
  switch (options_.judge_member(result, of_the_paper)) {
    case Membership::ignored:
      return;
    case Membership::lost:
      options_.judge_loss(by, result ? Lost::refused : Lost::silent);
      return start_over(false);
    case Membership::there:
      if (runs<Reorganizing>() && state_.d && state_.application == Activity::Idle) make_ready();
  }
}

// AreYouNormal: "No" -> Election(i); return; timeout -> next j. Departs from the paper: a member
// that does not answer is lost. The definition names the lost member, so the group needs a new
// definition. In the paper a coordinator never notices the death of a member (bully/findings.md,
// "Check does not see dead members").
void BullyTurn::normal_returned(NodeId by, const Result* result) {
  const auto* normality = as<Normality>(result);
  const bool found =
      normality ? !normality->normal : repairs_.lost_members && member(by) != nullptr;
  switch (options_.judge_normality(by, result, found ? Finding::lost : Finding::fine)) {
    case Finding::lost:
      if (member(by)) options_.judge_loss(by, result ? Lost::refused : Lost::silent);
      state_.quiet_checks = 0;
      return election();
    case Finding::spared:
      state_.quiet_checks = 0;
      break;
    case Finding::halt_alone:
      halt_alone(by);
      break;
    case Finding::fine:
      break;
  }
  if (!side_by_side_)
    ask_next_normal();
  else if (std::get<Checking>(state_.procedure).asked.empty())
    end_procedure();
}

// AreYouThere(S.c): timeout -> Election(i). Departs from the paper: if the coordinator has left the
// group, the member recovers (left_behind.cpp, R2). An outvoted coordinator that may be at work is
// asked again in phase A, which waits for it to cease; a silent one is not asked again.
void BullyTurn::probe_returned(NodeId by, const Result* result) {
  const bool is_silent = options_.judge_coordinator(by, result) == Coordinator::silent;
  end_procedure();
  if (is_silent) return election({by});
  if (may_be_at_work(result)) return election();
  if (as<Elsewhere>(result) && elsewhere_recovers()) return recover(StopReason::recovering);
  if (!as<Here>(result)) return election({by});
  if (question_names_group()) coordinator_is_heard();
}

}  // namespace muster::bully
