#pragma once

#include "apps/draw/chart.hpp"

#include <deque>
#include <map>
#include <tuple>

namespace muster::apps::drawing {

/// Finds for each letter that was received the one that was sent.
class LetterMatch {
 public:
  /// Adds an arrow to `arrows` if one of its ends is drawn.
  explicit LetterMatch(std::vector<Arrow>& arrows) : arrows_(arrows) {}

  void sent(const Letter& letter, const Edge& at);
  void received(const Letter& letter, const Edge& at);

  /// Treats all letters that have not arrived as lost. Orders the arrows by their beginnings.
  void finish();

 private:
  /// Call numbers start again in each life. An answer has the call number of its question.
  using Key = std::tuple<NodeId, Incarnation, NodeId, CallNumber, bool>;
  static Key key_of(const Letter& letter);
  void add(Arrow arrow);

  std::vector<Arrow>& arrows_;
  std::map<Key, std::deque<Arrow>> under_way_;
  std::map<Key, Arrow> arrived_;  ///< the last arrival, if drawn: the letter can come again
};

}  // namespace muster::apps::drawing
