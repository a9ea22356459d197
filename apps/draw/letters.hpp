#pragma once

#include "apps/draw/chart.hpp"

#include <deque>
#include <map>
#include <tuple>

namespace muster::apps::drawing {

/// Joins each letter that was received to the one that was sent.
class LetterMatch {
 public:
  /// Arrows of which an end is drawn are added to `arrows`.
  explicit LetterMatch(std::vector<Arrow>& arrows) : arrows_(arrows) {}

  void sent(const Letter& letter, const Edge& at);
  void received(const Letter& letter, const Edge& at);

  /// What has not arrived by now never will. Orders the arrows by their beginnings.
  void finish();

 private:
  /// Call numbers begin anew in each life, and an answer carries its caller's.
  using Key = std::tuple<NodeId, Incarnation, NodeId, CallNumber, bool>;
  static Key key_of(const Letter& letter);
  void add(Arrow arrow);

  std::vector<Arrow>& arrows_;
  std::map<Key, std::deque<Arrow>> under_way_;
  std::map<Key, Arrow> arrived_;  ///< the last one, where it is drawn: it may arrive again
};

}  // namespace muster::apps::drawing
