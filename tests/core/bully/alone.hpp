#pragma once

#include "world.hpp"

#include <muster/values/text.hpp>

#include <boost/test/unit_test.hpp>

#include <utility>
#include <vector>

/// One node among others that the test plays itself, letter by letter; and words to read actions
/// with.

namespace muster::test {

inline NodeId id(std::uint32_t node) {
  return NodeId{node};
}

/// The nodes to which a call of that kind is sent, in order.
template <class Call>
std::vector<std::uint32_t> sent(const Actions& actions) {
  std::vector<std::uint32_t> to;
  for (const Action& action : actions)
    if (const auto* send = std::get_if<Send>(&action))
      if (std::holds_alternative<Call>(send->letter.message)) to.push_back(send->letter.to.value);
  return to;
}

/// The first answer of that kind; null where none is given.
template <class Kind>
const Kind* answer(const Actions& actions) {
  for (const Action& action : actions)
    if (const auto* send = std::get_if<Send>(&action))
      if (const auto* what = std::get_if<Answer>(&send->letter.message))
        if (const auto* kind = std::get_if<Kind>(&what->result)) return kind;
  return nullptr;
}

inline bool answers_anything(const Actions& actions) {
  for (const Action& action : actions)
    if (const auto* send = std::get_if<Send>(&action))
      if (is_answer(send->letter)) return true;
  return false;
}

/// The first action of that kind; null where there is none.
template <class Kind>
const Kind* first(const Actions& actions) {
  for (const Action& action : actions)
    if (const auto* kind = std::get_if<Kind>(&action)) return kind;
  return nullptr;
}

inline bool arms(const Actions& actions, Timer timer) {
  for (const Action& action : actions)
    if (const auto* arm = std::get_if<Arm>(&action))
      if (arm->timer == timer) return true;
  return false;
}

/// Node `self` of `nodes`, up; the others are played by the test, each in its life 1 until
/// `restarts`.
class Alone {
 public:
  Alone(std::uint32_t self, std::uint32_t nodes, Repairs repairs = {}, Options options = {})
      : world(nodes, repairs), self_(self) {
    world.claim = false;
    world[self].config.options = options;
    world.recover(self);
  }

  // What happens to the node; each returns its actions.

  const Actions& give(const Event& event) {
    world.give(self_, event);
    return actions();
  }
  /// Another node calls one of its procedures.
  const Actions& called(std::uint32_t by, Message message) {
    return give(Received{{id(by), life(by), id(self_), CallNumber{++call_}, std::move(message)}});
  }
  /// Another node answers the oldest call that it was sent and that is still waited for.
  const Actions& answered(std::uint32_t by, Result result) {
    return give(Received{{id(by), life(by), id(self_), oldest(by), Answer{std::move(result)}}});
  }
  /// That call goes unanswered.
  const Actions& unanswered(std::uint32_t by) { return give(Unanswered{id(by), oldest(by)}); }
  const Actions& expire(Timer timer) {
    BOOST_REQUIRE(world.expire(self_, timer));
    return actions();
  }
  const Actions& end_hook(bool well = true) {
    BOOST_REQUIRE(world.end_hook(self_, well));
    return actions();
  }

  // What others do, as a whole.

  ElectionId election(std::uint32_t by) { return {id(by), life(by), elections_[by]}; }
  Halt new_halt(std::uint32_t by) { return Halt{{id(by), life(by), ++elections_[by]}}; }
  NewCoordinator new_coordinator(std::uint32_t by) {
    group_ = {group_.counter + 100, id(by)};
    return {election(by), own_life(), group_};
  }
  Ready ready(std::uint32_t by, std::string task = "task") {
    return {election(by), own_life(), group_, Definition{std::move(task)}};
  }
  void restarts(std::uint32_t node) { ++lives_[node]; }

  /// The node is halted by `by`, and has stopped.
  void halt_by(std::uint32_t by) {
    called(by, new_halt(by));
    stop();
  }
  void reorganization_of(std::uint32_t by) {
    halt_by(by);
    called(by, new_coordinator(by));
    BOOST_REQUIRE_EQUAL(state().s, Status::Reorganization);
  }
  void normal_member_of(std::uint32_t by) {
    reorganization_of(by);
    called(by, ready(by));
    end_hook();
    BOOST_REQUIRE_EQUAL(state().s, Status::Normal);
  }
  /// Its own election goes as far as the election point, the nodes of `up` being halted by it.
  void coordinator_elect(NodeSet up) {
    if (procedure<bully::Idle>()) election_begins();
    while (procedure<bully::SeekingHigher>()) unanswered(first_asked());
    if (procedure<bully::Ceasing>()) stop();
    while (const auto* halting = procedure<bully::HaltingLower>()) {
      const std::uint32_t node = halting->node.value;
      up.contains(halting->node) ? answered(node, Halted{}) : unanswered(node);
    }
    BOOST_REQUIRE_EQUAL(state().s, Status::Reorganization);
  }
  /// And on to the hook `reorganize`.
  void reorganizing(const NodeSet& up) {
    coordinator_elect(up);
    while (const auto* wait = procedure<bully::Announcing>()) {
      if (!wait->announced.empty())
        answered(wait->announced.begin()->second.value, Joined{});
      else
        stop();
    }
    BOOST_REQUIRE(procedure<bully::Reorganizing>());
  }
  void making_ready(const NodeSet& up) {
    reorganizing(up);
    end_hook();
    BOOST_REQUIRE(procedure<bully::MakingReady>());
  }
  void normal_coordinator_of(const NodeSet& up) {
    making_ready(up);
    while (const auto* wait = procedure<bully::MakingReady>()) {
      if (!wait->readied.empty())
        answered(wait->readied.begin()->second.value, Installed{});
      else
        end_hook();
    }
    BOOST_REQUIRE_EQUAL(state().s, Status::Normal);
  }
  /// STOP, where it runs, comes to its end.
  void stop() {
    while (state().application == Activity::Stopping) end_hook();
  }
  void election_begins() {
    expire(Timer::coordinator);
    BOOST_REQUIRE(!procedure<bully::Idle>());
  }

  // Looking.

  [[nodiscard]] const bully::State& state() const { return world[self_].state; }
  [[nodiscard]] const Actions& actions() const { return world.last_actions(); }
  [[nodiscard]] View view() const { return bully::view(world[self_].config, state()); }
  [[nodiscard]] const TestNode& node() const { return world[self_]; }
  [[nodiscard]] Incarnation own_life() const { return world[self_].safe.incarnation; }
  [[nodiscard]] GroupNumber group() const { return group_; }
  template <class Wait>
  [[nodiscard]] const Wait* procedure() const {
    return std::get_if<Wait>(&state().procedure);
  }

  World world;

 private:
  Incarnation life(std::uint32_t node) const {
    const auto at = lives_.find(node);
    return {at == lives_.end() ? 1 : at->second + 1};
  }
  CallNumber oldest(std::uint32_t by) const {
    for (const auto& [number, call] : world[self_].calls)
      if (call.letter.to == id(by)) return number;
    BOOST_FAIL("node " << self_ << " waits for no call to node " << by);
    return {};
  }
  std::uint32_t first_asked() const { return world[self_].calls.begin()->second.letter.to.value; }

  std::uint32_t self_;
  std::uint64_t call_ = 1000;
  GroupNumber group_;
  std::map<std::uint32_t, std::uint64_t> lives_;
  std::map<std::uint32_t, std::uint64_t> elections_;
};

using Nodes = std::vector<std::uint32_t>;

}  // namespace muster::test

// Lists of nodes are printed by name.
BOOST_TEST_SPECIALIZED_COLLECTION_COMPARE(muster::test::Nodes)
