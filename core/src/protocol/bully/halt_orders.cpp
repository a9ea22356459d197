#include "bully_turn.hpp"

#include <algorithm>

/// Orders of Halts: the paper's, and rounds, where the lab has struck that out (6.5) and where a
/// candidate may halt higher nodes (docs/options.md).

namespace muster::bully {

// After `last`, or after this node itself.
std::optional<NodeId> BullyTurn::next_to_halt(NodeId last) const {
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

// One round of Halts, or rounds until two in a row are alike.
void BullyTurn::halt_at_once() {
  if (!runs<HaltingAll>()) halt_all(std::nullopt);
  const auto& wait = std::get<HaltingAll>(state_.procedure);
  if (!wait.halted.empty()) return;
  std::vector<HaltedLife> round;
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

void BullyTurn::halt_all(std::optional<std::vector<HaltedLife>> before) {
  HaltingAll wait{{}, std::move(before)};
  for (NodeId j : config_.nodes)
    if (halts(j)) wait.halted.emplace(call(j, Halt{own_election()}, halt_bound()), j);
  state_.procedure = std::move(wait);
}

}  // namespace muster::bully
