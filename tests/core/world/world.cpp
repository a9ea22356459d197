#include "world.hpp"

#include "checks.hpp"
#include "journal_text.hpp"

#include <muster/values/text.hpp>

#include <algorithm>

/// Faults of the nodes, and queries about them.

namespace muster::test {

using muster::operator==;

Config of_bully(Repairs repairs) {
  Config config;
  config.repairs = repairs;
  return config;
}

Config of_invitation(invitation::Repairs repairs) {
  Config config;
  config.protocol = ProtocolName::invitation;
  config.invitation_repairs = repairs;
  return config;
}

Repairs without(bool Repairs::*repair) {
  Repairs repairs;
  repairs.*repair = false;
  if (repair == &Repairs::report_refusals) repairs.stop_beside_halts = false;
  return repairs;
}

const Protocol& TestNode::protocol() const {
  static const std::map<ProtocolName, Protocol> none = [] {
    std::map<ProtocolName, Protocol> made;
    for (ProtocolName name :
         {ProtocolName::bully, ProtocolName::invitation, ProtocolName::textbook}) {
      Config of_it;
      of_it.protocol = name;
      made.emplace(name, begin(of_it));
    }
    return made;
  }();
  return life ? life->protocol() : none.at(config.protocol);
}

const host::Calls& TestNode::calls() const {
  static const host::Calls none;
  return life ? life->sessions.calls : none;
}

const std::map<Timer, Armed>& TestNode::timers() const {
  static const std::map<Timer, Armed> none;
  return life ? life->timers : none;
}

World::World(std::uint32_t nodes, Config like) : nodes_(nodes) {
  for (std::uint32_t id = 1; id <= nodes; ++id) like.nodes.insert(NodeId{id});
  for (std::uint32_t id = 1; id <= nodes; ++id) {
    like.self = NodeId{id};
    (*this)[id].config = like;
  }
}

World::World(std::uint32_t nodes, Repairs repairs) : World(nodes, of_bully(repairs)) {}

World::World(World&& other) noexcept
    : record(other.record),
      claim(other.claim),
      volatile_counter(other.volatile_counter),
      inject(other.inject),
      now(other.now),
      settled_at(other.settled_at),
      nodes_(std::move(other.nodes_)),
      connections_(std::move(other.connections_)),
      last_connection_(other.last_connection_),
      lives_(other.lives_),
      order_(other.order_),
      steps_(other.steps_),
      cuts_(std::move(other.cuts_)),
      sent_(std::move(other.sent_)),
      journal_(std::move(other.journal_)) {
  for (TestNode& node : nodes_)
    if (node.life) node.life->is_in(*this);
}

World settled(std::uint32_t nodes, Config like) {
  World world(nodes, std::move(like));
  for (std::uint32_t i = 1; i <= nodes; ++i) world.recover(i);
  if (!world.settle()) throw Violation("the nodes never come together");
  return world;
}

World settled(std::uint32_t nodes, Repairs repairs) {
  return settled(nodes, of_bully(repairs));
}

// --- One step

// Lets the present life of the node do all its work, and ends the life if that work demands it.
void World::work(TestNode& node) {
  try {
    node.life->work();
    if (node.life->how_it_ended()) end_life(node, *node.life->how_it_ended());
    if (node.up()) check_node(*this, node);
    if (claim) check_world(*this);
  } catch (const Violation& violation) {
    throw Violation(std::string(violation.what()) + "\n  at " +
                    journal_line(node, node.last_event, node.last_actions));
  }
}

void World::stepped(const TestNode& node, const Event& event, const Actions& actions) {
  ++steps_;
  if (record) say(journal_line(node, event, actions));
}

void World::sent(const Letter& letter) {
  if (record) sent_.push_back(letter);
}

bool World::fails_now(const TestNode& node) {
  const bool fails =
      inject && node.config.self.value == inject->node && node.actions == inject->after;
  if (fails) inject.reset();
  return fails;
}

bool World::give(std::uint32_t id, const Event& event) {
  TestNode& node = (*this)[id];
  if (!node.up() || node.paused) return false;
  node.life->put(event);
  work(node);
  return true;
}

// --- Lives

bool World::recover(std::uint32_t id) {
  TestNode& node = (*this)[id];
  if (node.up()) return false;
  node.silent = false;
  node.returns.reset();
  ++node.safe.incarnation.value;
  node.application = {};
  node.life = std::make_unique<Life>(*this, node, ++lives_);
  node.life->begin();
  work(node);
  return true;
}

bool World::fail(std::uint32_t id, bool silent) {
  TestNode& node = (*this)[id];
  if (!node.up()) return false;
  node.silent = silent;
  end_life(node, Life::End::failed);
  return true;
}

void World::end_life(TestNode& node, Life::End how) {
  const NodeId self = node.config.self;
  node.life->end(how);
  node.life.reset();
  node.paused = false;
  node.application = {};
  for (auto& [number, connection] : connections_)
    for (std::size_t side : {0U, 1U}) {
      Connection::Side& mine = connection.sides[side];
      if (mine.node != self || !std::exchange(mine.open, false)) continue;
      mine.coming.clear();
      Connection::Side& other = connection.sides[1 - side];
      if (other.open && !node.silent) other.coming.push_back({std::nullopt, next_order()});
    }
  if (how == Life::End::failed && record) say(to_text(self) + " fails");
  if (how == Life::End::stood_back) node.returns = now + std::chrono::seconds(1);
}

bool World::pause(std::uint32_t id) {
  TestNode& node = (*this)[id];
  if (!node.up() || node.paused) return false;
  node.paused = true;
  node.application.discounted = true;
  if (record) say(std::to_string(id) + " pauses");
  return true;
}

bool World::resume(std::uint32_t id, bool notices) {
  TestNode& node = (*this)[id];
  if (!node.up() || !node.paused) return false;
  node.paused = false;
  if (notices)
    node.life->was_paused_for(node.config.timings.T);
  else
    node.application.discounted = false;
  work(node);
  return true;
}

bool World::leave(std::uint32_t id) {
  TestNode& node = (*this)[id];
  return node.up() && !common(node.protocol()).leaving && give(id, Leaving{});
}

bool World::differ(std::uint32_t id) {
  TestNode& node = (*this)[id];
  if (node.up()) return false;
  node.cluster = node.cluster.empty() ? "T=another\n" : "";
  return true;
}

bool World::expire(std::uint32_t id, Timer timer) {
  TestNode& node = (*this)[id];
  if (node.paused || !node.timers().contains(timer)) return false;
  node.life->expire(timer);
  work(node);
  return true;
}

// --- Hooks

namespace {

HookHost::Outcome outcome_of(const TestNode& node, bool well) {
  const Running& hook = *node.application.running;
  if (!well) return {boost::system::in_place_error, "it failed"};
  return Bytes{(hook.hook == Hook::stop ? "holds " : "task ") + to_text(node.config.self) + '.' +
               to_text(node.safe.incarnation) + '.' + to_text(hook.ticket)};
}

}  // namespace

bool World::end_hook(std::uint32_t id, bool well) {
  TestNode& node = (*this)[id];
  const auto& running = node.application.running;
  if (!node.up() || node.paused || !running) return false;
  node.life->end_hook(outcome_of(node, well && !running->cancelled));
  work(node);
  return true;
}

bool World::end_hook_late(std::uint32_t id) {
  TestNode& node = (*this)[id];
  const auto& running = node.application.running;
  if (!node.up() || node.paused || !running || !running->cancelled) return false;
  node.life->end_hook(outcome_of(node, true));
  work(node);
  end_hook(id);
  return true;
}

// --- Queries

const TestNode& World::operator[](std::uint32_t node) const {
  return at(NodeId{node});
}
TestNode& World::operator[](std::uint32_t node) {
  return at(NodeId{node});
}

View World::view(std::uint32_t id) const {
  return muster::view((*this)[id].config, (*this)[id].protocol());
}

std::vector<Standing> World::standings() const {
  std::vector<Standing> all;
  for (const TestNode& node : nodes_) {
    const auto works = node.application.discounted ? std::nullopt : node.application.works;
    all.push_back(standing(node.config.self, view(node.config.self.value), works));
    all.back().up = node.up() && !node.paused;
  }
  return all;
}

bool World::are_one_group(const std::vector<NodeSet>& parts) const {
  const auto all = standings();
  return std::none_of(parts.begin(), parts.end(),
                      [&](const NodeSet& part) { return assertion_4(all, part).has_value(); });
}

}  // namespace muster::test
