#include "turn.hpp"

#include <algorithm>

/// Orders of Halts, the paper's and others: where candidates join (docs/options.md), and where the
/// lab has struck out the paper's (6.5).

namespace muster::bully {

// After `last`, or after this node itself.
std::optional<NodeId> Turn::next_to_halt(NodeId last) const {
  const bool descending = halts_descending();
  std::optional<NodeId> next;
  for (NodeId j : config_.nodes) {
    if (j >= config_.self) break;
    if (!halts_to_all() && state_.asked_in_vain.contains(j)) continue;
    if (descending && j < last) next = j;
    if (!descending && !next && (last == config_.self || j > last)) next = j;
  }
  return next;
}

// Where 6.5 is struck out: one round of Halts, or rounds until two in a row are alike (6.5). Where
// a candidate may halt higher nodes, no order has every other candidate halted before those whom it
// may have appointed: rounds of lives, in which whoever was a candidate in the first is none in the
// last. Silence in phase A spares nobody a Halt there: it may be a member (6.19).
void Turn::halt_at_once() {
  if (!runs<HaltingAll>()) halt_all(std::nullopt);
  const auto& wait = std::get<HaltingAll>(state_.procedure);
  if (!wait.halted.empty()) return;
  std::vector<bully::Life> round;
  for (const Member& j : state_.up)
    round.push_back({j.node, rounds_by_node() ? Incarnation{} : j.incarnation});
  std::sort(round.begin(), round.end(),
            [](const auto& left, const auto& right) { return left.node < right.node; });
  const bool enough = wait.before && (!rounds_until_alike() || wait.before == round);
  if (halts_once() || enough) return election_point();
  ++state_.elections;
  state_.h = own_election();
  state_.up.clear();
  halt_all(std::move(round));
  if (std::get<HaltingAll>(state_.procedure).halted.empty()) election_point();
}

void Turn::halt_all(std::optional<std::vector<bully::Life>> before) {
  HaltingAll wait{{}, std::move(before)};
  const Bound bound = joins() && repairs_.stop_beside_halts ? Bound::answer : Bound::stopped;
  for (NodeId j : config_.nodes) {
    if (j < config_.self || state_.aside.standing_back.contains(j))
      wait.halted.emplace(call(j, Halt{own_election()}, bound), j);
  }
  state_.procedure = std::move(wait);
}

}  // namespace muster::bully
