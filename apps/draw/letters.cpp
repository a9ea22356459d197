#include "apps/draw/letters.hpp"

#include <algorithm>

namespace muster::apps::drawing {

LetterMatch::Key LetterMatch::key_of(const Letter& letter) {
  return {letter.from, letter.incarnation, letter.to, letter.call, is_answer(letter)};
}

void LetterMatch::sent(const Letter& letter, const Edge& at) {
  under_way_[key_of(letter)].push_back({letter, at, std::nullopt});
}

void LetterMatch::received(const Letter& letter, const Edge& at) {
  const Key key = key_of(letter);
  const auto found = under_way_.find(key);
  if (found == under_way_.end()) {
    const auto before = arrived_.find(key);
    const bool again = before != arrived_.end();
    add({letter, again ? before->second.sent : std::nullopt, at, again});
    return;
  }
  Arrow arrow = std::move(found->second.front());
  found->second.pop_front();
  if (found->second.empty()) under_way_.erase(found);
  arrow.received = at;
  add(arrow);
  if (at.at) arrived_.insert_or_assign(key, std::move(arrow));
}

void LetterMatch::add(Arrow arrow) {
  const bool is_drawn = (arrow.sent && arrow.sent->at) || (arrow.received && arrow.received->at);
  if (is_drawn) arrows_.push_back(std::move(arrow));
}

void LetterMatch::finish() {
  for (auto& [key, arrows] : under_way_)
    for (Arrow& arrow : arrows) add(std::move(arrow));
  under_way_.clear();
  const auto begins = [](const Arrow& arrow) {
    return arrow.sent ? arrow.sent->t : arrow.received->t;
  };
  std::stable_sort(arrows_.begin(), arrows_.end(),
                   [&](const Arrow& a, const Arrow& b) { return begins(a) < begins(b); });
}

}  // namespace muster::apps::drawing
