#include "checks.hpp"
#include "world.hpp"

#include <utility>

/// One life, and the actions of its driver.

namespace muster::test {

namespace {

host::SessionConfig session_config(const TestNode& node, std::uint64_t instance) {
  host::SessionConfig config;
  config.self = {node.config.self, node.safe.incarnation, instance, node.cluster};
  for (NodeId other : node.config.nodes)
    if (other != node.config.self) config.addresses.emplace(other, std::string());
  config.T = node.config.timings.T;
  return config;
}

SafeState found(const World& world, SafeState safe) {
  if (world.volatile_counter) safe.counter_limit = 0;
  return safe;
}

}  // namespace

Life::Life(World& world, TestNode& node, std::uint64_t instance)
    : world_(&world),
      node_(node),
      config_(session_config(node, instance)),
      host_(node.config, found(world, node.safe), node.config.timings.T / 2,
            HookRunner::Limits{node.config.timings}, *this, *this) {
  sessions = host::Sessions::begin(config_, node.safe);
}

void Life::begin() {
  take(host::Greet{});
  host_.begin();
}

void Life::end(End how) {
  if (end_) return;
  end_ = how;
  host_.end();
}

Duration Life::clock() const {
  return world_->now + node_.ahead;
}

void Life::work() {
  do {
    host_.turn();
    if (violation_) throw Violation(*violation_);
    while (!soon_.empty() && !end_) {
      const auto first = std::move(soon_.front());
      soon_.pop_front();
      first();
    }
    if (!saving_ || end_) continue;
    node_.safe = *std::exchange(saving_, std::nullopt);
    action_performed();
    host_.saved();
  } while ((saving_ || !soon_.empty()) && !end_);
}

void Life::expire(Timer timer) {
  const Armed armed = timers.extract(timer).mapped();
  host_.expired(timer, armed.arming);
}

// Exceptions must not pass through the host, so the life stores a violation and throws it later.
void Life::judge(const std::function<void()>& check) {
  if (violation_) return;
  try {
    check();
  } catch (const Violation& violation) {
    violation_ = violation;
  }
}

// --- Actions for the host

void Life::send(const Letter& letter, std::optional<Duration> bound) {
  judge([&] { check_letter(node_, letter); });
  world_->sent(letter);
  take(host::SendLetter{letter, bound});
}

void Life::save(const SafeState& safe) {
  judge([&] { check_save(node_, safe); });
  saving_ = safe;
}

void Life::save_performed() {
  judge([&] { demand_nothing_wrong(node_, node_.application.grammar.performed()); });
}

void Life::left(LeaveCause cause) {
  judge([&] { check_leave(node_); });
  end(cause == LeaveCause::stood_back ? End::stood_back : End::left);
}

void Life::stepped(const Event& event, const Actions& actions, const View&) {
  world_->stepped(node_, event, actions);
  if (violation_) return;
  node_.last_event = event;
  node_.last_actions = actions;
  judge([&] {
    check_step(node_, before_, event, actions);
    demand_nothing_wrong(node_, node_.application.grammar.step(event, actions));
  });
}

void Life::action_performed() {
  ++node_.actions;
  if (world_->fails_now(node_)) end(End::failed);
}

// --- Actions for the hooks

void Life::call(std::optional<Hook> hook, Call, Ended on_ended) {
  if (hook) node_.application.running->on_ended = std::move(on_ended);
}

void Life::end_hook(Outcome outcome) {
  Running ran = *std::exchange(node_.application.running, std::nullopt);
  if (ran.hook == Hook::stop && outcome) node_.application.last_report = *outcome;
  ran.on_ended(std::move(outcome));
}

void Life::request_stop(std::stop_source) {
  if (node_.application.running) node_.application.running->cancelled = true;
}

void Life::grant(GroupNumber group) {
  node_.application.permits = group;
}

std::optional<GroupNumber> Life::revoke(std::function<void()> returned) {
  const auto group = std::exchange(node_.application.permits, std::nullopt);
  if (group) soon_.push_back(std::move(returned));
  return group;
}

void Life::note(Hook hook, journal::Edge edge, std::optional<GroupNumber> group, Ticket ticket,
                const Members* members) {
  TestApplication& application = node_.application;
  if (edge == journal::Edge::begin) {
    if (members) judge([&] { check_reorganize(*world_, node_, *members); });
    if (hook == Hook::start) {
      judge([&] { check_start(node_, *group); });
      application.works = group;
      application.discounted = false;
    }
    application.running = Running{hook, ticket, {}, false, world_->next_order()};
  } else if (hook == Hook::stop && edge == journal::Edge::end) {
    application.works.reset();
  }
  judge([&] {
    demand_nothing_wrong(node_, application.grammar.hook(
                                    journal::hook_edge({}, hook, edge, group, ticket, members)));
  });
}

void Life::note(journal::PermitsEdge edge, GroupNumber group) {
  judge([&] { demand_nothing_wrong(node_, node_.application.grammar.permits(edge, group)); });
}

// --- Actions for the sessions

void Life::take(host::SessionInput input) {
  host::SessionOutputs outputs;
  sessions.take(config_, clock(), std::move(input), outputs);
  for (host::SessionOutput& output : outputs)
    std::visit([this](auto& one) { perform(one); }, output);
}

void Life::perform(const host::Dial& dial) {
  dials[dial.node] = world_->next_order();
}

void Life::perform(host::Write& write) {
  world_->write(node_.config.self, write.connection, std::move(write.frame));
}

void Life::perform(const host::Close& close) {
  world_->close(node_.config.self, close.connection);
}

// In this world each dial is accepted at once. So the listener has nothing to read, and only
// connections can have something.
void Life::perform(const host::Drain& drain) {
  for (host::ConnectionId connection : drain.connections)
    while (world_->read(node_, connection)) continue;
  take(host::Drained{});
}

void Life::perform(const host::OutlivedBy&) {
  throw Violation(name(node_) + ": it is told that it is outlived");
}

}  // namespace muster::test
