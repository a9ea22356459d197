#include "sight.hpp"

#include <algorithm>

namespace muster::bully {

Context context_of(const Event& event, Moment now) {
  Context context{now};
  const auto* unanswered = std::get_if<Unanswered>(&event);
  context.proof =
      std::holds_alternative<Failed>(event) || (unanswered && unanswered->how == Unheard::refused);
  if (const auto* received = std::get_if<Received>(&event)) {
    context.letter = &received->letter;
    if (received->letter.by_quorum && is_answer(received->letter))
      context.said = &*received->letter.by_quorum;
  }
  return context;
}

bool works_in_group(const State& node) {
  return node.s == Status::Reorganization || node.s == Status::Normal;
}

bool coordinates(const State& node, NodeId self) {
  return node.c && node.c->candidate == self;
}

NodeSet Sight::up() const {
  NodeSet nodes;
  for (const Member& j : node.up) nodes.insert(j.node);
  return nodes;
}

Incarnation Sight::seen(NodeId j) const {
  const auto at = node.seen.find(j);
  return at == node.seen.end() ? Incarnation{} : at->second;
}

const Member* Sight::member(NodeId j) const {
  const auto at = std::find_if(node.up.begin(), node.up.end(),
                               [&](const Member& each) { return each.node == j; });
  return at == node.up.end() ? nullptr : &*at;
}

}  // namespace muster::bully
