#pragma once

#include "letters.hpp"
#include "world.hpp"

#include <utility>

namespace muster::test {

/// One node among others that the test plays letter by letter. Each other node is in its first life
/// until the test calls `restarts` for it.
class Alone {
 public:
  Alone(std::uint32_t self, std::uint32_t nodes, const Config& like)
      : world(nodes, like), self_(self) {
    world.claim = false;
    for (std::uint32_t node = 1; node <= nodes; ++node) world[node].silent = true;
    world.recover(self);
  }

  // Events of the node. Each function returns the actions that the node performs in response.

  const Actions& give(const Event& event) {
    world.give(self_, event);
    return actions();
  }
  /// The actions that `step` would return now for that event. The event does not go through the
  /// host, and the node's state does not change.
  [[nodiscard]] Actions would(const Event& event) const {
    Protocol after = node().protocol();
    return step(node().config, after, event);
  }
  /// Another node calls one of this node's procedures.
  const Actions& called(std::uint32_t by, Message message) {
    return give(Received{{id(by), life(by), id(self_), CallNumber{++call_}, std::move(message)}});
  }
  /// Another node answers the oldest call to that node for which this node still waits.
  const Actions& answered(std::uint32_t by, Result result) {
    return give(Received{{id(by), life(by), id(self_), oldest(by), Answer{std::move(result)}}});
  }
  /// The oldest call to that node becomes unanswered.
  const Actions& unanswered(std::uint32_t by) { return give(Unanswered{id(by), oldest(by)}); }
  const Actions& expire(Timer timer) {
    BOOST_REQUIRE(world.expire(self_, timer));
    return actions();
  }
  const Actions& end_hook(bool well = true) {
    BOOST_REQUIRE(world.end_hook(self_, well));
    return actions();
  }
  /// Ends STOP if it is running.
  void stop() {
    while (common(node().protocol()).application == Activity::Stopping) end_hook();
  }
  /// Ends all running hooks.
  void end_hooks() {
    while (world.end_hook(self_)) continue;
  }
  void restarts(std::uint32_t node) { ++lives_[node]; }

  // Queries.

  [[nodiscard]] const Actions& actions() const { return node().last_actions; }
  [[nodiscard]] View view() const { return world.view(self_); }
  [[nodiscard]] const TestNode& node() const { return world[self_]; }
  [[nodiscard]] Incarnation own_life() const { return node().safe.incarnation; }

  World world;

 protected:
  [[nodiscard]] Incarnation life(std::uint32_t node) const {
    const auto at = lives_.find(node);
    return {at == lives_.end() ? 1 : at->second + 1};
  }

 private:
  [[nodiscard]] CallNumber oldest(std::uint32_t by) const {
    for (const auto& [number, call] : node().calls())
      if (call.letter.to == id(by)) return number;
    BOOST_FAIL("node " << self_ << " waits for no call to node " << by);
    return {};
  }

  std::uint32_t self_;
  std::uint64_t call_ = 1000;
  std::map<std::uint32_t, std::uint64_t> lives_;
};

}  // namespace muster::test
