#include "bully_turn.hpp"

#include <algorithm>

/// The order in which phase H of Election(i) halts the other nodes.
///
/// The paper's order is descending and one by one, and `halt_next` in calls.cpp has the argument
/// for it. This file has the other order, rounds: all Halts go out at once, again and again, until
/// the same lives have answered two rounds in a row. A rival that was a candidate during the first
/// round has itself been halted in that round. In the second round the rival is no candidate, and
/// the nodes that it had taken are halted again. Lives are compared and not nodes, because a node
/// that restarted between the rounds may be a candidate again (docs/findings.md, D2 to D11).
///
/// Rounds are used in two cases. With the option `preempt` a candidate may also halt higher nodes,
/// and then no order is descending for all candidates. The other case is a search of the lab that
/// strikes the paper's order.

namespace muster::bully {

// The next node of the paper's order, after `last`. For the first node, `last` is this node itself.
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

// Sends a round of Halts, or judges the round that has ended.
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
