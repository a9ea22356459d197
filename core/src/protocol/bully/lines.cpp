// The lines that the lab can strike: one predicate for each, under the name of its line. The
// predicate of a line that is struck is always true.

#include "bully_turn.hpp"

namespace muster::bully {

bool BullyTurn::stands(Line line) const {
  return muster::stands(config_.struck, line);
}

// --- Halt(i, j)

bool BullyTurn::leaving_answers() const {
  return stands(Line::leaving_answers);
}

// A Halt is executed only if it is newer than the last one of the same candidate. Otherwise a
// duplicate could arrive after another node's Halt, and bind this node to the old candidate again
// (bully/findings.md, "Late letters and lives").
bool BullyTurn::newer_halts_only(NodeId j, const ElectionId& election) {
  if (!repairs_.tags) return true;
  auto [last, first] = state_.last_halt.try_emplace(j, election);
  if (!first && election <= last->second && stands(Line::newer_halts_only)) return false;
  last->second = election;
  return true;
}

bool BullyTurn::unconditional_halt(NodeId j) const {
  const bool halted_by_a_higher =
      state_.s == Status::Election && state_.h && j < state_.h->candidate;
  return !halted_by_a_higher || stands(Line::unconditional_halt);
}

// --- NewCoordinator(i, j) and Ready(i, j, x)

bool BullyTurn::status_test_of_new_coordinator() const {
  return state_.s == Status::Election || !stands(Line::status_test_of_new_coordinator);
}

bool BullyTurn::h_test(const ElectionId& election) const {
  return elects(state_.h, election) || !stands(Line::h_test);
}

bool BullyTurn::counter_test(std::uint64_t counter) const {
  return counter > state_.counter || !stands(Line::counter_test);
}

bool BullyTurn::status_test_of_ready() const {
  return state_.s == Status::Reorganization || !stands(Line::status_test_of_ready);
}

bool BullyTurn::c_test(const ElectionId& election) const {
  return elects(state_.c, election) || !stands(Line::c_test);
}

bool BullyTurn::life_test(Incarnation receiver) const {
  return !repairs_.tags || receiver == state_.safe.incarnation || !stands(Line::life_test);
}

bool BullyTurn::same_election() const {
  return repairs_.tags && stands(Line::same_election);
}

// --- STOP

bool BullyTurn::stop_ends_election() const {
  const bool elects = runs<SeekingHigher>() || runs<HaltingLower>() || runs<HaltingAll>();
  return !elects || stands(Line::stop_ends_election);
}

bool BullyTurn::stop_refuses_waiting_calls() const {
  return stands(Line::stop_refuses_waiting_calls);
}

// --- Election(i)

bool BullyTurn::halts_one_by_one() const {
  return stands(Line::halts_one_by_one);
}

bool BullyTurn::halts_descending() const {
  return stands(Line::halts_descending);
}

bool BullyTurn::halts_to_all() const {
  return stands(Line::halts_to_all);
}

bool BullyTurn::halts_once() const {
  return !halts_in_rounds() && stands(Line::halts_once);
}

bool BullyTurn::rounds_by_node() const {
  return !halts_in_rounds() && stands(Line::rounds_by_node);
}

bool BullyTurn::rounds_until_alike() const {
  return stands(Line::rounds_until_alike);
}

bool BullyTurn::refusal_starts_over() const {
  return stands(Line::refusal_starts_over);
}

bool BullyTurn::reorganize_after_stops(const Announcing& wait) const {
  return wait.announced.empty() || !stands(Line::reorganize_after_stops);
}

// --- Recovery(i), Timeout(i), failures

bool BullyTurn::safe_counter() const {
  return stands(Line::safe_counter);
}

bool BullyTurn::h_undefined_at_recovery() const {
  return stands(Line::h_undefined_at_recovery);
}

bool BullyTurn::down_at_recovery() const {
  return stands(Line::down_at_recovery);
}

// Timeout(i) of a coordinator that waits for nothing. In the paper such a coordinator calls itself,
// and that call is always answered. So a coordinator-elect that gave up its election stays in
// Reorganization for ever (bully/findings.md, "A coordinator stuck in reorganization";
// docs/findings.md, G4).
bool BullyTurn::self_timeout() const {
  return state_.s == Status::Reorganization && repairs_.start_over_halted &&
         stands(Line::self_timeout);
}

bool BullyTurn::timeout_unless_normal() const {
  return works_in_group() || stands(Line::timeout_unless_normal);
}

bool BullyTurn::failed_spares_no_question() const {
  return stands(Line::failed_spares_no_question);
}

// --- A coordinator that left its group

bool BullyTurn::question_names_group() const {
  return repairs_.left_behind && stands(Line::question_names_group);
}

bool BullyTurn::elsewhere_recovers() const {
  return stands(Line::elsewhere_recovers);
}

bool BullyTurn::second_election_recovers() const {
  return repairs_.left_behind && stands(Line::second_election_recovers);
}

}  // namespace muster::bully
