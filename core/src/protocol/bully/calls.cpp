#include "bully_turn.hpp"

/// The CALLs of Election(i), and the coordinator's own part in the same phase.

namespace muster::bully {

// Phase A. Departs from the paper: if k has just not answered a question of this node, and so
// caused this election, k is not asked again. The question would be the same, a moment later. If
// this node has heard from k since, it does ask k. Silence may spare a question in this way, but
// never a Halt (bully/findings.md, "An unanswered call").
void BullyTurn::ask_higher(bool all) {
  auto& wait = std::get<SeekingHigher>(state_.procedure);
  while (!wait.not_asked.empty() && (all || wait.asked.empty())) {
    const NodeId j = *wait.not_asked.begin();
    wait.not_asked.erase(j);
    if (side_by_side_ && state_.asked_in_vain.contains(j)) continue;
    wait.asked.emplace(call(j, AreYouThere{}, Bound::answer), j);
  }
  if (!wait.asked.empty()) return;
  if (options_.judge_halting() == Halting::asks_free) return ask_free();
  halt_lower();
}

// Phase H: for j = i-1, ..., 1: call Halt(j, i).
//
// The Halts go out one at a time, and in descending order. When Halt(j, i) leaves, each candidate
// between j and i has answered i's Halt, or is dead. So no NewCoordinator of such a candidate can
// reach j later. If Halts go out in parallel or in ascending order, this argument fails. A
// candidate c may halt j after i has halted it, and take it into its own group before i's Halt
// reaches c. Then the two nodes are in Reorganization under different coordinators, and Assertion 1
// is violated (bully/findings.md, "The order of Halts"; docs/findings.md, P2 and P2b).
//
// Every lower node is halted, even if a call to it has just gone unanswered (docs/findings.md, Q3).
void BullyTurn::halt_next(NodeId last) {
  if (halts_in_rounds() || !halts_one_by_one()) return halt_at_once();
  const auto j = next_to_halt(last);
  if (!j) return election_point();
  state_.procedure = HaltingLower{call(*j, Halt{own_election()}, halt_bound()), *j};
}

// Phase C: for j in S.Up: call NewCoordinator(j, i). The letter names the life of j that was
// halted.
void BullyTurn::announce() {
  auto& wait = std::get<Announcing>(state_.procedure);
  const auto letter_to = [this](NodeId j) {
    return NewCoordinator{*state_.c, member(j)->incarnation, *state_.g};
  };
  call_next(wait.announced, wait.not_announced, letter_to, Bound::stopped);
}

// Phase Y: for j in S.Up: call Ready(j, i, S.d).
void BullyTurn::send_ready() {
  auto& wait = std::get<MakingReady>(state_.procedure);
  const auto letter_to = [this](NodeId j) {
    return Ready{*state_.c, member(j)->incarnation, *state_.g, *state_.d};
  };
  call_next(wait.readied, wait.not_readied, letter_to, Bound::started);
}

// The coordinator's own part of phase Y. In the paper this part follows the last Ready; with
// parallel calls it begins together with the calls.
void BullyTurn::own_ready() {
  if (options_.judge_ready() == Readiness::install) {
    install();
    return normal_when_all_ready();
  }
  if (side_by_side_ || state_.up.empty()) start_own();
}

// The part of Ready(i, j, x) that follows the paper's tests.
void BullyTurn::ready(NodeId j, CallNumber call) {
  switch (options_.judge_ready()) {
    case Readiness::refuse:
      return refuse(j, call, Bound::started, "its right to work is over");
    case Readiness::install:
      install();
      options_.told_task();
      return answer(j, call, Installed{});
    case Readiness::start:
      state_.owed.push_back({j, call, Bound::started});
      start_own();
  }
}

void BullyTurn::start_own() {
  install();
  start_application();
}

void BullyTurn::normal_when_all_ready() {
  const auto* wait = std::get_if<MakingReady>(&state_.procedure);
  if (wait && wait->readied.empty() && wait->not_readied.empty()) all_ready();
}

}  // namespace muster::bully
