#include "textbook_turn.hpp"

/// The Bully as textbooks describe it, for comparison with the paper (docs/decisions/textbook.md).
/// It has three messages, Election, Answer and Coordinator. The textbook's Bully has no Halt, so
/// nodes work on under the old view during an election, and nothing keeps two nodes from winning.

namespace muster::textbook {

bool is_more_important(const Config& config, NodeId i, NodeId j) {
  const auto importance = [&](NodeId node) {
    const auto given = config.importance.find(node);
    return std::pair(given == config.importance.end() ? 0 : given->second, node);
  };
  return importance(i) > importance(j);
}

// A node that notices the failure of the coordinator, or recovers, sends Election to all nodes that
// are more important. If no node is more important, this node has won. Until the result is known,
// it works on under the old view.
void TextbookTurn::election() {
  end_procedure();
  state_.s = Status::Election;
  Asking wait;
  for (NodeId j : config_.nodes)
    if (is_more_important(config_, j, config_.self))
      wait.asked.emplace(call(j, Election{}, Bound::answer), j);
  if (wait.asked.empty()) return win();
  state_.procedure = std::move(wait);
}

// A node that receives Election answers, and begins an election itself unless it already holds one.
void TextbookTurn::called(const Letter& letter, const Election&) {
  answer(letter.from, letter.call, Here{});
  if (!electing() && !state_.leaving) election();
}

// An Answer: a more important node takes over, and this node waits for its Coordinator message.
void TextbookTurn::called(const Letter& letter, const Answer&) {
  const auto* probing = std::get_if<Probing>(&state_.procedure);
  if (probing && probing->call == letter.call) return end_procedure();
  const auto* asking = std::get_if<Asking>(&state_.procedure);
  if (!asking || !asking->asked.contains(letter.call)) return;
  state_.procedure = AwaitingCoordinator{};
  rearm_ = true;
}

// The first timeout: no more important node is up.
void TextbookTurn::nobody_answered() {
  win();
}

// The winner is coordinator. Its application computes the task before the winner announces itself.
void TextbookTurn::win() {
  end_procedure();
  state_.c = config_.self;
  state_.g = GroupNumber{++state_.counter, config_.self};
  if (state_.counter > state_.safe.counter_limit) save();
  state_.procedure = Ceasing{};
  cease({StopReason::own_election, std::nullopt});
  if (state_.application == Activity::Idle) reorganize();
}

// Sends Coordinator to all less important nodes. The message is one-way: no node answers it.
void TextbookTurn::announce() {
  for (NodeId j : config_.nodes)
    if (is_more_important(config_, config_.self, j))
      state_.announced.emplace(call(j, Coordinator{*state_.g, *state_.d}, Bound::answer), j);
}

// A Coordinator message is believed, whichever node sends it and however late it comes.
void TextbookTurn::called(const Letter& letter, const Coordinator& call) {
  if (state_.leaving) return;
  end_procedure();
  state_.s = Status::Reorganization;
  state_.c = letter.from;
  state_.g = call.group;
  state_.d = call.definition;
  state_.counter = std::max(state_.counter, call.group.counter);
  state_.procedure = Installing{};
  cease({StopReason::told, letter.from});
  if (state_.application == Activity::Idle) install();
}

}  // namespace muster::textbook
