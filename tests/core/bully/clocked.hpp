#pragma once

#include "core/world/letters.hpp"

#include <muster/protocol/bully.hpp>
#include <muster/protocol/step.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>

namespace muster::test {

using namespace std::chrono_literals;

inline constexpr Duration check = 50ms, T = 100ms, stop_deadline = 1s;
inline constexpr Duration L = check + T + T;

/// A quorum, and clocks without drift.
inline const Options with_quorum{.quorum = Quorum::majority, .clock_drift = {0}};

/// One node. The test plays the other nodes and the clock.
class Clocked {
 public:
  Clocked(std::uint32_t self, std::uint32_t nodes, Options options = with_quorum) {
    for (std::uint32_t i = 1; i <= nodes; ++i) config.nodes.insert(id(i));
    config.self = id(self);
    config.timings.check_every = check;
    config.timings.T = T;
    config.timings.stop_deadline = stop_deadline;
    config.options = options;
    SafeState safe;
    safe.incarnation = {1};
    give(Recovered{safe});
  }

  /// Lets one hour pass, so that every earlier right and grant is over.
  void long_after() { now += 1h; }

  const Actions& give(const Event& event) {
    actions = bully::step(config, state, event, now);
    for (const Action& action : actions)
      if (const auto* send = std::get_if<Send>(&action))
        if (send->bound) out[send->letter.to] = send->letter;
    return actions;
  }
  const Actions& called(std::uint32_t by, Message message, std::optional<ByQuorum> riding = {}) {
    return give(Received{{id(by), {1}, config.self, {++calls}, std::move(message), riding}});
  }
  /// Node `by` answers this node's last call to `by`.
  const Actions& answered(std::uint32_t by, Result result, std::optional<ByQuorum> riding = {}) {
    return give(Received{
        {id(by), {1}, config.self, out.at(id(by)).call, Answer{std::move(result)}, riding}});
  }
  const Actions& unanswered(std::uint32_t by, Unheard how = Unheard::silence) {
    return give(Unanswered{id(by), out.at(id(by)).call, how});
  }
  const Actions& end_hook() {
    switch (state.application) {
      case Activity::Stopping:
        return give(Stopped{state.ticket, Report{}});
      case Activity::Reorganizing:
        return give(Reorganized{state.ticket, Definition{"task"}});
      default:
        return give(Started{state.ticket});
    }
  }

  template <class Kind>
  [[nodiscard]] const Kind* asked() const {
    for (const Action& action : actions)
      if (const auto* found = std::get_if<Kind>(&action)) return found;
    return nullptr;
  }
  template <class Kind>
  [[nodiscard]] std::vector<std::uint32_t> sent() const {
    std::vector<std::uint32_t> to;
    for (const Action& action : actions)
      if (const auto* send = std::get_if<Send>(&action))
        if (std::holds_alternative<Kind>(send->letter.message)) to.push_back(send->letter.to.value);
    std::sort(to.begin(), to.end());
    return to;
  }
  /// The answer of this kind among the last actions, and the quorum's data in its letter. Null if
  /// there is no such answer.
  template <class Kind>
  [[nodiscard]] const Letter* answer() const {
    for (const Action& action : actions)
      if (const auto* send = std::get_if<Send>(&action))
        if (const auto* answer = std::get_if<Answer>(&send->letter.message))
          if (std::holds_alternative<Kind>(answer->result)) return &send->letter;
    return nullptr;
  }

  /// The node joins the group of `c`. Returns the number of the call whose answer carried its
  /// grant.
  CallNumber joins(std::uint32_t c) {
    called(c, Halt{{id(c), {1}, 7}});
    if (state.application == Activity::Stopping) end_hook();
    called(c, NewCoordinator{{id(c), {1}, 7}, {1}, group(c)});
    BOOST_REQUIRE(answer<Joined>());
    return {calls};
  }
  GroupNumber group(std::uint32_t c) const { return {100, id(c)}; }
  void ready(std::uint32_t c, CallNumber heard) {
    called(c, Ready{{id(c), {1}, 7}, {1}, group(c), {"task"}}, ByQuorum{heard, false, false, {}});
  }
  CallNumber asks(std::uint32_t c, CallNumber heard) {
    called(c, AreYouNormal{group(c)}, ByQuorum{heard, false, false, {}});
    return {calls};
  }
  CallNumber works_for(std::uint32_t c) {
    const CallNumber heard = joins(c);
    ready(c, heard);
    end_hook();
    BOOST_REQUIRE(state.s == Status::Normal);
    return {calls};
  }

  /// The highest node at the election point of its own election, in which it has halted the nodes
  /// in `up`.
  void elected_with(const NodeSet& up) {
    for (auto j = config.self.value - 1; runs<bully::AskingFree>(); --j) answered(j, Free{});
    for (auto j = config.self.value - 1; j > 0; --j)
      if (up.contains(id(j)))
        answered(j, Halted{});
      else
        unanswered(j);
    if (state.application == Activity::Stopping) end_hook();
    BOOST_REQUIRE(state.s == Status::Reorganization);
  }
  [[nodiscard]] bool works() const { return state.application == Activity::Working; }
  template <class Procedure>
  [[nodiscard]] bool runs() const {
    return std::holds_alternative<Procedure>(state.procedure);
  }

  Config config;
  bully::State state;
  Moment now = 1h;
  Actions actions;
  std::map<NodeId, Letter> out;  ///< the last call to each node
  std::uint64_t calls = 1000;
};

}  // namespace muster::test
