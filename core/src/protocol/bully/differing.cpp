#include "turn.hpp"

#include <algorithm>

/// Others that differ (docs/decisions/differing.md). The paper has none: all its nodes run the same
/// algorithm (assumption 1).

namespace muster::bully {

// Who is outvoted takes no part: its application ceases, and to whoever calls, it is as one that
// does not answer. A candidate waits, for those that differ may have been the majority until now.
void Turn::happened(const Differing& event) {
  const NodeSet before = std::exchange(state_.met, event).differ;
  const bool another_differs = std::any_of(event.differ.begin(), event.differ.end(),
                                           [&](NodeId j) { return !before.contains(j); });
  if (state_.leaving) return;
  if (outvoted() != runs<Outvoted>() || (another_differs && is_candidate())) {
    stop({StopReason::outvoted, std::nullopt});
    fail();
    take_part_again();
  } else if (runs<Rejoining>() && event.differ.empty()) {
    take_part_again();
  }
}

// Whose election it is that decides about this node.
bool Turn::is_candidate() const {
  const bool halted_by_another = state_.h && state_.h->candidate != config_.self;
  return !works_in_group() && !(state_.s == Status::Election && halted_by_another);
}

// What Recovery(i) goes on with, or waits for.
void Turn::take_part_again() {
  end_procedure();
  if (outvoted()) {
    state_.procedure = Outvoted{};
  } else if (!state_.met.differ.empty()) {
    state_.procedure = Rejoining{};
    actions_.emplace_back(Arm{Timer::rejoin, 0});
  } else {
    begin();
  }
}

void Turn::refuse_to_take_part(const Letter& letter) {
  if (!is_answer(letter)) answer(letter.from, letter.call, Refused{"it is outvoted"});
}

}  // namespace muster::bully
