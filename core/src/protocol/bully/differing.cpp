#include "bully_turn.hpp"

#include <algorithm>

/// Nodes that differ from this node in their configuration or wire version, or are not the node
/// that they should be (docs/decisions/differing.md). The paper has no such nodes: all its nodes
/// run the same algorithm (assumption 1).

namespace muster::bully {

// A node that is outvoted by nodes that differ takes no part. The node's application ceases, and
// the node refuses every call. A node that is not outvoted, but is in no group, waits before an
// election of its own. The reason is that the nodes that differ may have been the majority until
// now, and may still be at work.
void BullyTurn::on_event(const Differing& event) {
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

// An outvoted node has refused a call and may still be at work. A candidate that formed a group now
// would work beside that node. So this candidate stops, and waits as long as it would wait for
// nodes that differ.
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

// True if this node's own election decides its group, and not the election of another candidate
// that has halted it.
bool BullyTurn::is_candidate() const {
  const bool halted_by_another = state_.h && state_.h->candidate != config_.self;
  return !works_in_group() && !(state_.s == Status::Election && halted_by_another);
}

// Goes on as Recovery(i) does. If this node is outvoted, it first waits until it is not. If nodes
// that differ can still be at work, it first waits until they have ceased.
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

// True if an election has to wait for nodes that differ to cease. A Halt ends the wait, but not the
// reason for it: the node that sent the Halt may fail before it has waited itself. So after a Halt
// the timer goes on, and an election that begins before it expires waits again (docs/findings.md,
// row V11).
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

// The wait is over. A node that is taken into a group need not wait, because its coordinator has
// waited already.
void BullyTurn::rejoined() {
  if (runs<Rejoining>()) state_.procedure = Idle{};
  if (std::exchange(state_.by_options.rejoin_armed, false))
    actions_.emplace_back(Disarm{Timer::rejoin});
}

}  // namespace muster::bully
