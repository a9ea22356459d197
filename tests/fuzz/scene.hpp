#pragma once

#include "fuzz/input.hpp"

#include <muster/application.hpp>
#include <muster/host/sessions.hpp>
#include <muster/protocol/misfit.hpp>

#include <string>

/// A cluster of three, and the store with which node 2 begins.

namespace muster::fuzz {

using namespace std::chrono_literals;

inline Config config_from(Input& input) {
  Config config;
  config.self = NodeId{2};
  config.nodes = {NodeId{1}, NodeId{2}, NodeId{3}};
  config.protocol = static_cast<ProtocolName>(input.below(3));
  if (input.one_in(8)) {
    config.repairs = Repairs::none();
    config.invitation_repairs = invitation::Repairs::none();
  }
  Options& options = config.options;
  options.preempt = static_cast<Preempt>(input.below(3));
  if (options.preempt == Preempt::after) options.preempt_after = 1s;
  if (input.one_in(2)) options.quorum = Quorum::majority;
  if (input.one_in(2)) options.resume = Resume::all;
  if (input.one_in(2)) options.settle = 1s;
  if (input.one_in(2)) options.calm = 1s;
  if (misfit(config)) config.options = {};
  if (misfit(config)) config.invitation_repairs = {};
  return config;
}

inline SafeState safe_from(Input& input) {
  SafeState safe;
  safe.incarnation.value = input.one_in(2) ? 1 : 5;
  if (input.one_in(2)) safe.counter_limit = 20;
  if (input.one_in(2)) safe.seen = {{NodeId{3}, Incarnation{4}}};
  if (input.one_in(4)) safe.instances = {{NodeId{3}, Instance{3004}}};
  if (input.one_in(4)) safe.assigned = Assigned{{"no task"}, {3, NodeId{1}}};
  return safe;
}

inline host::SessionConfig session_config(NodeId self, const SafeState& safe) {
  host::SessionConfig config;
  config.self = {self, safe.incarnation, 1111 * self.value, "T=100ms\nname=test\n"};
  for (const NodeId node : {NodeId{1}, NodeId{2}, NodeId{3}})
    if (node != self) config.addresses.emplace(node, "node:" + std::to_string(node.value));
  config.T = 100ms;
  config.limits.unknown_peers = 4;
  config.limits.observers = 2;
  config.limits.queue_bytes = 1000;
  config.limits.queue_letters = 8;
  return config;
}

/// The safe storage of a peer that was started again. Its life is later than every life of which
/// node 2 has heard.
inline SafeState safe_of_another(NodeId node, const host::Sessions& of_two,
                                 Incarnation life_of_two) {
  const auto next = [&](NodeId of) {
    const Incarnation seen = of_two.peers.at(of).seen;
    require(seen.value < highest_number - most_lives_ahead);
    return Incarnation{seen.value + 1};
  };
  const NodeId third{4 - node.value};
  SafeState safe;
  safe.incarnation = next(node);
  safe.seen = {{NodeId{2}, life_of_two}, {third, next(third)}};
  return safe;
}

/// An application whose hooks end as the input decides.
class Answering : public Application {
 public:
  explicit Answering(Input& input) : input_(input) {}
  void stop(StopContext, Done<Report> done) override { end(std::move(done)); }
  void reorganize(Reorganization context, Done<Definition> done) override {
    if (input_.one_in(4)) context.ask(NodeId{3}, Bytes{"how?"}, [](const auto&) {});
    if (input_.one_in(4)) context.give_part(NodeId{1}, Bytes{"part"});
    end(std::move(done));
  }
  void start(Assignment, Done<> done) override { input_.one_in(8) ? done.fail("no") : done(); }
  void answer(Question, Done<Bytes> done) override { end(std::move(done)); }

 private:
  void end(Done<Bytes> done) {
    if (input_.one_in(8))
      done.fail("no");
    else
      done(Bytes{std::string(input_.bytes(4))});
  }
  Input& input_;
};

}  // namespace muster::fuzz
