#pragma once

#include "core/world/alone.hpp"

#include <muster/values/text.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>

#include <utility>

namespace muster::test {

/// Both forms of the Bully for data-driven cases: the paper's text, and the protocol as it ships.
inline auto every_form() {
  static const Repairs forms[] = {Repairs::none(), Repairs{}};
  return boost::unit_test::data::make(forms);
}

/// A node that runs the Bully among others that the test plays itself.
class BullyAlone : public Alone {
 public:
  explicit BullyAlone(std::uint32_t self = 3, std::uint32_t nodes = 5, Repairs repairs = {},
                      Options options = {})
      : Alone(self, nodes, like(repairs, std::move(options))) {}

  // Calls and answers that the other nodes send.

  ElectionId election(std::uint32_t by) { return {id(by), life(by), elections_[by]}; }
  Halt new_halt(std::uint32_t by) { return Halt{{id(by), life(by), ++elections_[by]}}; }
  NewCoordinator new_coordinator(std::uint32_t by) {
    group_ = {group_.counter + 100, id(by)};
    return {election(by), own_life(), group_};
  }
  Ready ready(std::uint32_t by, std::string task = "task") {
    return {election(by), own_life(), group_, Definition{std::move(task)}};
  }

  const Actions& failed(std::uint32_t node) { return give(Failed{id(node), {1}}); }
  /// Node `by` halts this node, whose application then stops.
  void halt_by(std::uint32_t by) {
    called(by, new_halt(by));
    stop();
  }
  void reorganization_of(std::uint32_t by) {
    halt_by(by);
    called(by, new_coordinator(by));
    BOOST_REQUIRE_EQUAL(state().s, Status::Reorganization);
  }
  void starting_for(std::uint32_t by) {
    reorganization_of(by);
    called(by, ready(by));
  }
  void normal_member_of(std::uint32_t by) {
    starting_for(by);
    end_hook();
    BOOST_REQUIRE_EQUAL(state().s, Status::Normal);
  }
  /// Runs the node's own election up to the election point. The nodes in `up` answer its Halts.
  void coordinator_elect(const NodeSet& up) {
    if (procedure<bully::Idle>()) election_begins();
    while (procedure<bully::SeekingHigher>()) unanswered(first_asked());
    if (procedure<bully::Ceasing>()) stop();
    while (const auto* halting = procedure<bully::HaltingLower>()) {
      const std::uint32_t node = halting->node.value;
      if (up.contains(halting->node))
        answered(node, Halted{});
      else
        unanswered(node);
    }
    BOOST_REQUIRE_EQUAL(state().s, Status::Reorganization);
  }
  /// Runs the node's own election until the hook `reorganize` is called. The nodes in `up` answer
  /// its calls.
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
  void election_begins() {
    expire(Timer::coordinator);
    BOOST_REQUIRE(!procedure<bully::Idle>());
  }

  // Queries.

  [[nodiscard]] const bully::State& state() const { return node().state(); }
  [[nodiscard]] GroupNumber group() const { return group_; }
  [[nodiscard]] bool armed(Timer timer) const { return node().timers().contains(timer); }
  template <class Wait>
  [[nodiscard]] const Wait* procedure() const {
    return std::get_if<Wait>(&state().procedure);
  }

 private:
  static Config like(Repairs repairs, Options options) {
    Config config;
    config.repairs = repairs;
    config.options = std::move(options);
    return config;
  }
  [[nodiscard]] std::uint32_t first_asked() const {
    return node().calls().begin()->second.letter.to.value;
  }

  GroupNumber group_;
  std::map<std::uint32_t, std::uint64_t> elections_;
};

}  // namespace muster::test
