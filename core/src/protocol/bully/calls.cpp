#include "bully_turn.hpp"

/// The CALLs of Election(i), and the own part of each.

namespace muster::bully {

// A node whose own question has just gone unanswered is not asked again, unless it was heard since.
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

// Phase H: for j = i-1, ..., 1: call Halt(j, i). Descending and one at a time: in parallel, or
// ascending, a lower candidate's NewCoordinator may follow its Halt at a node that i has halted
// already (6.5). Every lower node is halted anew, whatever is known of it (6.19).
void BullyTurn::halt_next(NodeId last) {
  if (halts_in_rounds() || !halts_one_by_one()) return halt_at_once();
  const auto j = next_to_halt(last);
  if (!j) return election_point();
  state_.procedure = HaltingLower{call(*j, Halt{own_election()}, halt_bound()), *j};
}

// Phase C: for j in S.Up: call NewCoordinator(j, i).
void BullyTurn::announce() {
  auto& wait = std::get<Announcing>(state_.procedure);
  const auto letter_to = [this](NodeId j) {
    return NewCoordinator{*state_.c, member(j)->incarnation, *state_.g};
  };
  call_next(wait.announced, wait.not_announced, letter_to, Bound::stopped);
}

void BullyTurn::send_ready() {
  auto& wait = std::get<MakingReady>(state_.procedure);
  const auto letter_to = [this](NodeId j) {
    return Ready{*state_.c, member(j)->incarnation, *state_.g, *state_.d};
  };
  call_next(wait.readied, wait.not_readied, letter_to, Bound::started);
}

void BullyTurn::own_ready() {
  if (options_.judge_ready() == Readiness::install) {
    install();
    return normal_when_all_ready();
  }
  if (side_by_side_ || state_.up.empty()) start_own();
}

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
