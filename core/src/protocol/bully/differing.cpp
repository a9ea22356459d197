#include "bully_turn.hpp"

#include <algorithm>

/// Others that differ (docs/decisions/differing.md). The paper has none: all its nodes run the same
/// algorithm (assumption 1).

namespace muster::bully {

// Who is outvoted takes no part: its application ceases, and to whoever calls, it is as one that
// does not answer. Who is in no group waits before an election of its own, for those that differ
// may have been the majority until now, and at work.
void BullyTurn::happened(const Differing& event) {
  const NodeSet before = std::exchange(state_.met, event).differ;
  const bool another_differs = std::any_of(event.differ.begin(), event.differ.end(),
                                           [&](NodeId j) { return !before.contains(j); });
  if (state_.leaving) return;
  const bool in_danger = another_differs && !works_in_group();
  if (outvoted() != runs<Outvoted>() || (in_danger && is_candidate())) {
    stop({outvoted() ? StopReason::outvoted : StopReason::own_election, std::nullopt});
    fail();
    rejoined();
    take_part_again();
  } else if (in_danger && !outvoted()) {
    await_their_end();
  } else if (event.differ.empty() && state_.by_options.rejoin_armed) {
    may_rejoin();
  }
}

// Whoever would form a group without an outvoted node waits for it as for those that differ.
void BullyTurn::await_the_outvoted() {
  stop({StopReason::own_election, std::nullopt});
  fail();
  await_their_end();
  state_.procedure = Rejoining{};
}

bool BullyTurn::may_be_at_work(const Result* result) {
  const auto* refused = as<Refused>(result);
  return refused && refused->at_work.yet;
}

// Whose election it is that decides about this node.
bool BullyTurn::is_candidate() const {
  const bool halted_by_another = state_.h && state_.h->candidate != config_.self;
  return !works_in_group() && !(state_.s == Status::Election && halted_by_another);
}

// What Recovery(i) goes on with, or waits for.
void BullyTurn::take_part_again() {
  end_procedure();
  if (outvoted()) {
    state_.procedure = Outvoted{};
  } else if (state_.met.differ.empty()) {
    begin();
  } else {
    await_their_end();
    state_.procedure = Rejoining{};
  }
}

void BullyTurn::await_their_end() {
  actions_.emplace_back(Arm{Timer::rejoin, 0});
  state_.by_options.rejoin_armed = true;
}

// A Halt ends the wait for an election of its own, and not what it is for: whoever sent it may fail
// before it has waited itself.
bool BullyTurn::waits_to_rejoin() {
  if (!state_.by_options.rejoin_armed) return false;
  state_.procedure = Rejoining{};
  return true;
}

void BullyTurn::may_rejoin() {
  const bool waits = runs<Rejoining>();
  rejoined();
  if (waits) begin();
}

// Who is taken into a group has a coordinator that has waited.
void BullyTurn::rejoined() {
  if (runs<Rejoining>()) state_.procedure = Idle{};
  if (std::exchange(state_.by_options.rejoin_armed, false))
    actions_.emplace_back(Disarm{Timer::rejoin});
}

}  // namespace muster::bully
