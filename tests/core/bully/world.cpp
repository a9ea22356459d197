#include "world.hpp"

#include "checks.hpp"
#include "journal_text.hpp"

#include <algorithm>
#include <utility>

namespace muster::test {

using muster::operator==;

World::World(std::uint32_t nodes, Repairs repairs, Timings timings) : nodes_(nodes) {
  NodeSet all;
  for (std::uint32_t id = 1; id <= nodes; ++id) all.insert(NodeId{id});
  for (std::uint32_t id = 1; id <= nodes; ++id)
    at(NodeId{id}).config = Config{NodeId{id}, all, repairs, timings};
}

const TestNode& World::operator[](std::uint32_t node) const {
  return at(NodeId{node});
}
TestNode& World::operator[](std::uint32_t node) {
  return at(NodeId{node});
}

// --- One step
// -----------------------------------------------------------------------------------------

void World::take(Node& node, const Event& event) {
  const bully::State before = node.state;
  last_actions_ = bully::step(node.config, node.state, event);
  const Actions actions = last_actions_;
  if (record) journal_.push_back(journal_line(node, event, actions));
  try {
    check_step(node, before, event, actions);
    demand_nothing_wrong(node, node.grammar.step(event, actions));
    for (const Action& action : actions) {
      check_action(*this, node, action);
      std::visit([&](const auto& what) { perform(node, what); }, action);
      ++node.actions;
      if (inject && node.config.self.value == inject->node && node.actions == inject->after) {
        inject.reset();
        if (node.up) fail(node.config.self.value);
      }
      if (!node.up) break;
    }
    if (node.up) {
      std::erase_if(node.calls,
                    [&](const auto& call) { return !bully::awaits(node.state, call.first); });
      check_node(node, before);
      if (node.state.g) node.accepted = node.state.g;
    }
    if (claim) check_world(*this);
  } catch (const Violation& violation) {
    throw Violation(std::string(violation.what()) + "\n  at " + journal_line(node, event, actions));
  }
}

void World::perform(Node& node, const Save& action) {
  node.safe = action.safe;
  demand_nothing_wrong(node, node.grammar.performed());
}

void World::perform(Node& node, const Send& action) {
  const Letter& letter = action.letter;
  if (record) sent_.push_back(letter);
  if (action.bound) {
    const Duration due = now + length_of(*action.bound, node.config.timings);
    OutCall& call = node.calls[letter.call] = {letter, *action.bound, std::nullopt, false, due};
    transmit(node, call);
    return;
  }
  const Node& to = at(letter.to);
  if (to.up && node.peers[letter.to].with == to.safe.incarnation)
    push(at(letter.to), node.config.self, letter);
}

void World::perform(Node& node, const Arm& action) {
  node.timers[action.timer] = now + length_of(action.timer, action.level, node.config.timings);
}

void World::perform(Node& node, const Disarm& action) {
  node.timers.erase(action.timer);
}

void World::perform(Node& node, const Stop& action) {
  TestApplication& application = node.application;
  if (application.permits)
    demand_nothing_wrong(node,
                         node.grammar.permits(journal::PermitsEdge::revoked, *application.permits));
  application.permits.reset();
  application.stopping = action;
  application.order = ++order_;
  if (!application.running) {
    if (action.owed) begin_stop(node);
  } else if (application.running->hook != Hook::stop) {
    application.running->cancelled = true;
  }
}

void World::perform(Node& node, const Reorganize& action) {
  begin_hook(node, {Hook::reorganize, action.ticket, false, action.group, action.members});
}

void World::perform(Node& node, const Start& action) {
  TestApplication& application = node.application;
  application.stop_owed = true;
  application.permits = application.works = action.group;
  application.discounted = false;
  begin_hook(node, {Hook::start, action.ticket, false, action.group, {}});
}

void World::perform(Node& node, const Leave& action) {
  end_life(node);
  if (action.cause == LeaveCause::stood_back) node.returns = now + std::chrono::seconds(1);
}

// --- Lives
// --------------------------------------------------------------------------------------------

bool World::recover(std::uint32_t id) {
  Node& node = (*this)[id];
  if (node.up) return false;
  node.up = true;
  node.paused = node.silent = false;
  node.returns.reset();
  ++node.safe.incarnation.value;
  node.application = {};
  node.grammar = {};
  node.application.began_empty = !node.safe.assigned;
  take(node, Recovered{node.safe});
  return true;
}

bool World::fail(std::uint32_t id, bool silent) {
  Node& node = (*this)[id];
  if (!node.up) return false;
  end_life(node);
  node.silent = silent;
  if (record) say(std::to_string(id) + " fails");
  return true;
}

void World::end_life(Node& node) {
  node.up = node.paused = false;
  node.state = {};
  node.timers.clear();
  node.peers.clear();
  node.calls.clear();
  node.application = {};
}

bool World::pause(std::uint32_t id) {
  Node& node = (*this)[id];
  if (!node.up || node.paused) return false;
  node.paused = true;
  node.application.discounted = true;
  if (record) say(std::to_string(id) + " pauses");
  return true;
}

bool World::resume(std::uint32_t id) {
  Node& node = (*this)[id];
  if (!node.up || !node.paused) return false;
  node.paused = false;
  take(node, Paused{node.config.timings.T});
  return true;
}

bool World::leave(std::uint32_t id) {
  Node& node = (*this)[id];
  if (!node.up || node.paused || node.state.leaving) return false;
  take(node, Leaving{});
  return true;
}

bool World::give(std::uint32_t id, const Event& event) {
  Node& node = (*this)[id];
  if (!node.up || node.paused) return false;
  take(node, event);
  return true;
}

bool World::expire(std::uint32_t id, Timer timer) {
  Node& node = (*this)[id];
  if (!node.up || node.paused || node.timers.erase(timer) == 0) return false;
  take(node, Expired{timer});
  return true;
}

// --- Hooks
// --------------------------------------------------------------------------------------------

void World::begin_hook(Node& node, Running hook) {
  journal::HookEdge edge;
  edge.hook = hook.hook;
  edge.ticket = hook.ticket;
  edge.group = hook.group;
  if (hook.hook == Hook::reorganize) {
    edge.members.emplace();
    for (const Member& member : hook.members)
      edge.members->push_back({member.node, member.incarnation, {}, {}, {}});
  }
  node.application.running = std::move(hook);
  node.application.order = ++order_;
  demand_nothing_wrong(node, node.grammar.hook(edge));
}

std::optional<Running> World::finish_hook(Node& node, journal::Edge end) {
  auto hook = std::exchange(node.application.running, std::nullopt);
  if (!hook) return hook;
  journal::HookEdge edge;
  edge.hook = hook->hook;
  edge.edge = end;
  edge.ticket = hook->ticket;
  edge.group = hook->group;
  demand_nothing_wrong(node, node.grammar.hook(edge));
  return hook;
}

void World::begin_stop(Node& node) {
  TestApplication& application = node.application;
  application.stop_owed = false;
  begin_hook(node, {Hook::stop, application.stopping->ticket, false, application.works, {}});
}

bool World::end_hook(std::uint32_t id, bool well) {
  Node& node = (*this)[id];
  TestApplication& application = node.application;
  if (!node.up || node.paused || (!application.running && !application.stopping)) return false;
  const bool cancelled = application.running && application.running->cancelled;
  const auto hook =
      finish_hook(node, well && !cancelled ? journal::Edge::end : journal::Edge::failed);
  if (hook && !cancelled) {
    take_end_of_hook(node, *hook, well);
  } else if (application.stopping->owed) {
    begin_stop(node);
  } else {
    const Ticket ticket = application.stopping->ticket;
    application.stopping.reset();
    take(node, Stopped{ticket, std::nullopt});
  }
  return true;
}

bool World::end_hook_late(std::uint32_t id) {
  Node& node = (*this)[id];
  const auto& running = node.application.running;
  if (!node.up || node.paused || !running || !running->cancelled) return false;
  const Running hook = *running;
  finish_hook(node, journal::Edge::end);
  take_end_of_hook(node, hook, true);
  return !node.up || end_hook(id);
}

void World::take_end_of_hook(Node& node, const Running& hook, bool well) {
  TestApplication& application = node.application;
  const std::string life = std::to_string(node.config.self.value) + '.' +
                           std::to_string(node.safe.incarnation.value) + '.' +
                           std::to_string(hook.ticket.value);
  if (hook.hook == Hook::stop && !well) {  // a `stop` that fails ends the process
    fail(node.config.self.value);
  } else if (hook.hook == Hook::stop) {
    application.works.reset();
    application.last_report = Report{"holds " + life};
    const Ticket ticket = application.stopping->ticket;
    application.stopping.reset();
    take(node, Stopped{ticket, application.last_report});
  } else if (!well) {
    take(node, HookFailed{hook.ticket, hook.hook, "it failed"});
  } else if (hook.hook == Hook::start) {
    take(node, Started{hook.ticket});
  } else {
    take(node, Reorganized{hook.ticket, Definition{"task " + life}});
  }
}

// --- Looking
// ------------------------------------------------------------------------------------------

std::vector<Standing> World::standings() const {
  std::vector<Standing> all;
  for (const Node& node : nodes_) {
    const auto works = node.application.discounted ? std::nullopt : node.application.works;
    all.push_back(standing(node.config.self, bully::view(node.config, node.state), works));
    all.back().up = node.up && !node.paused;
  }
  return all;
}

bool World::reorganized() const {
  const std::vector<Standing> all = standings();
  if (assertion_2(all)) return false;
  return is_one_group(all) ||
         std::none_of(all.begin(), all.end(), [](const Standing& node) { return node.up; });
}

bool World::quiet() const {
  for (const Node& node : nodes_) {
    if (!node.up || node.paused) continue;
    if (node.application.running || node.application.stopping) return false;
    for (const auto& [number, call] : node.calls)
      if (can_be_answered(node, call)) return false;
    for (const auto& [peer, view] : node.peers)
      if (!view.incoming.empty()) return false;
  }
  return true;
}

}  // namespace muster::test
