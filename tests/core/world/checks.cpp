#include "checks.hpp"

#include <muster/values/text.hpp>

#include <algorithm>

namespace muster::test {

using muster::operator==;

namespace {

void demand(bool holds, const TestNode& node, const std::string& what) {
  if (!holds) throw Violation(name(node) + ": " + what);
}

// The switches of the Bully; null for another protocol.
const Repairs* bully_of(const TestNode& node) {
  return node.config.protocol == ProtocolName::bully ? &node.config.repairs : nullptr;
}

bool ceased(const TestNode& node) {
  const TestApplication& application = node.application;
  return !application.works && application.grammar.has_ceased();
}

}  // namespace

std::string name(const TestNode& node) {
  return "node " + to_text(node.config.self);
}

void demand_nothing_wrong(const TestNode& node, const HookGrammar::Wrong& wrong) {
  demand(!wrong, node, wrong ? "hook grammar: " + *wrong : "");
}

// --- A step

namespace {

std::optional<Ticket> ticket_of_end(const Event& event) {
  if (const auto* stopped = std::get_if<Stopped>(&event)) return stopped->ticket;
  if (const auto* reorganized = std::get_if<Reorganized>(&event)) return reorganized->ticket;
  if (const auto* started = std::get_if<Started>(&event)) return started->ticket;
  if (const auto* failed = std::get_if<HookFailed>(&event)) return failed->ticket;
  return std::nullopt;
}

Bound bound_of(const TestNode& node, const Letter& letter) {
  const Repairs* bully = bully_of(node);
  if (std::holds_alternative<NewCoordinator>(letter.message) ||
      (std::holds_alternative<Halt>(letter.message) && bully && !bully->stop_beside_halts))
    return Bound::stopped;
  return std::holds_alternative<Ready>(letter.message) ? Bound::started : Bound::answer;
}

void check_bounds(const TestNode& node, const Actions& actions) {
  for (const Action& action : actions) {
    if (const auto* send = std::get_if<Send>(&action)) {
      demand(send->bound.has_value() == !is_answer(send->letter), node,
             "a call without bound, or a bounded answer");
      if (send->bound && bully_of(node))
        demand(*send->bound == bound_of(node, send->letter), node, "a call with the wrong bound");
    }
    if (const auto* arm = std::get_if<Arm>(&action); arm && bully_of(node))
      demand(arm->level == 0 || (arm->timer == Timer::retry && arm->level <= 3) ||
                 arm->timer == Timer::preempt || arm->timer == Timer::settle ||
                 arm->timer == Timer::rejoin || arm->timer == Timer::right,
             node, "a timer with a level that it cannot have");
  }
}

}  // namespace

void check_step(const TestNode& node, const Protocol& before, const Event& event,
                const Actions& actions) {
  const Common& was = common(before);
  if (const auto ticket = ticket_of_end(event); ticket && *ticket != was.ticket)
    demand(actions.empty() && before == node.protocol(), node,
           "P7: the end of an old hook has an effect");
  if (std::holds_alternative<Recovered>(event))
    for (const Action& action : actions)
      demand(!std::holds_alternative<Start>(action), node,
             "P6: a restarted node resumes by itself");
  if (was.leaving &&
      (std::holds_alternative<Failed>(event) || std::holds_alternative<Expired>(event) ||
       std::holds_alternative<Paused>(event)))
    demand(actions.empty(), node, "a leaving node acts on what it must ignore");
  check_bounds(node, actions);
}

// --- An action

namespace {

void check_answer(const TestNode& node, const Result& answer, const Repairs& repairs) {
  const TestApplication& application = node.application;
  const bully::State& state = node.state();
  // With report_refusals off, an answer to NewCoordinator or Ready promises nothing
  // (docs/protocols/bully/findings.md, "A quick restart").
  const bool promises = repairs.report_refusals;
  if (std::holds_alternative<Halted>(answer)) {
    demand(!application.permits, node, "P1: Halt is answered while permits are valid");
    if (!repairs.stop_beside_halts)
      demand(ceased(node), node, "Halt is answered before the application has ceased");
  } else if (promises && std::holds_alternative<Joined>(answer)) {
    demand(ceased(node), node, "NewCoordinator is answered before the application has ceased");
    demand(state.g && state.g->counter <= node.safe.counter_limit, node,
           "P8: NewCoordinator is answered before its counter is within the durable limit");
  } else if (state.by_options.installed && state.s == Status::Reorganization) {
    demand(node.safe.assigned && node.safe.assigned->group == state.g, node,
           "the first Ready is answered before its definition is durable");
  } else if (promises && std::holds_alternative<Installed>(answer)) {
    demand(state.s == Status::Normal, node, "Ready is answered before the node is Normal");
    demand(application.works && !application.running, node,
           "Ready is answered before the application has started");
    demand(node.safe.assigned && node.safe.assigned->group == application.works, node,
           "P8: Ready is answered before its definition is durable");
  }
}

void check_halt(const TestNode& node, const Letter& letter, const Repairs& repairs) {
  const ElectionId& election = std::get<Halt>(letter.message).election;
  demand(!node.application.permits, node, "P1: a Halt is sent while own permits are valid");
  demand(election.candidate == node.config.self && election.incarnation == node.safe.incarnation,
         node, "a Halt of another candidate or life");
  if (!repairs.stop_beside_halts)
    demand(ceased(node), node, "a Halt is sent before the node itself is stopped");
  demand(letter.to < node.config.self || node.config.options.preempt != Preempt::paper, node,
         "a Halt to a higher node");
}

}  // namespace

void check_letter(const TestNode& node, const Letter& letter) {
  demand(letter.from == node.config.self && letter.to != node.config.self &&
             node.config.nodes.contains(letter.to),
         node, "a letter from or to the wrong node");
  demand(letter.incarnation == node.safe.incarnation, node,
         "a letter of a life that is not durable");
  const Repairs* bully = bully_of(node);
  if (!bully) return;
  if (const auto* answer = std::get_if<Answer>(&letter.message))
    check_answer(node, answer->result, *bully);
  if (std::holds_alternative<Halt>(letter.message)) check_halt(node, letter, *bully);
  std::optional<GroupNumber> group;
  if (const auto* call = std::get_if<NewCoordinator>(&letter.message)) group = call->group;
  if (const auto* call = std::get_if<Ready>(&letter.message)) group = call->group;
  if (group)
    demand(group->coordinator == node.config.self && group->counter <= node.safe.counter_limit,
           node, "a group number is given away before it is within the durable limit");
}

void check_save(const TestNode& node, const SafeState& safe) {
  const SafeState& old = node.safe;
  demand(safe.incarnation == old.incarnation, node, "a Save changes the incarnation");
  demand(safe.counter_limit >= old.counter_limit, node, "a Save lowers the counter limit");
  if (!bully_of(node)) return;
  demand(safe.counter_limit >= node.state().counter, node,
         "a Save whose limit is below a counter that was chosen or accepted");
  if (old.assigned)
    demand(safe.assigned && safe.assigned->group >= old.assigned->group, node,
           "group-grows: what is assigned goes back");
  for (const auto& [other, life] : old.seen) {
    const auto seen = safe.seen.find(other);
    demand(seen != safe.seen.end() && seen->second >= life, node,
           "a Save forgets a life seen of another node");
  }
}

namespace {

void check_member(const TestNode& node, const TestNode& other, const Member& member) {
  const std::string who = name(other);
  demand(!other.application.works || other.application.discounted, node,
         "P4: reorganize while " + who + " works");
  if (other.safe.incarnation != member.incarnation) return;
  demand(ceased(other), node, "P4: reorganize before " + who + " is stopped");
  demand(member.holdings.report == other.application.last_report, node,
         "P4: not the report of " + who);
  const auto& assigned = other.safe.assigned;
  demand(member.holdings.group.has_value() == assigned.has_value() &&
             (!assigned || *member.holdings.group == assigned->group),
         node, "P4: not what " + who + " was last assigned");
  demand(member.holdings.definition.has_value() == assigned.has_value(), node,
         "P4: no digest of what " + who + " was last assigned");
}

}  // namespace

void check_reorganize(const World& world, const TestNode& node, const Members& members) {
  if (!bully_of(node)) return;
  demand(ceased(node), node, "P4: reorganize before the node itself is stopped");
  demand(node.state().s == Status::Reorganization, node, "reorganize outside Reorganization");
  demand(std::is_sorted(members.begin(), members.end(),
                        [](const Member& a, const Member& b) { return a.node < b.node; }),
         node, "P4: members are not in order");
  NodeSet given;
  for (const Member& member : members) given.insert(member.node);
  NodeSet expected = {node.config.self};
  for (const Member& member : node.state().up) expected.insert(member.node);
  demand(given == expected, node, "P4: the members are not S(i).Up and the node itself");
  for (const Member& member : members) {
    const TestNode& other = world[member.node.value];
    // A member that is down or paused has failed since it answered.
    if (other.up() && !other.paused) check_member(node, other, member);
  }
}

void check_start(const TestNode& node, GroupNumber group) {
  demand(ceased(node), node, "P2: start before the stop of the previous task");
  demand(node.safe.assigned && node.safe.assigned->group == group, node,
         "P5: start of a definition that is not durable");
  if (bully_of(node))
    demand(node.state().g == group, node, "start for another group than the node's");
}

void check_leave(const TestNode& node) {
  demand(ceased(node) && !node.application.running, node,
         "the node leaves before its application has ceased");
}

// --- A node

namespace {

// All calls for which the procedure of a Bully waits.
bully::Calls awaited(const bully::State& state) {
  bully::Calls calls;
  const auto add = [&](const bully::Calls& more) { calls.insert(more.begin(), more.end()); };
  if (const auto* wait = std::get_if<bully::SeekingHigher>(&state.procedure)) {
    add(wait->asked);
  } else if (const auto* halting = std::get_if<bully::HaltingLower>(&state.procedure)) {
    calls.emplace(halting->call, halting->node);
  } else if (const auto* announcing = std::get_if<bully::Announcing>(&state.procedure)) {
    add(announcing->announced);
    add(announcing->questions);
  } else if (const auto* reorganizing = std::get_if<bully::Reorganizing>(&state.procedure)) {
    add(reorganizing->questions);
  } else if (const auto* making = std::get_if<bully::MakingReady>(&state.procedure)) {
    add(making->readied);
    add(making->questions);
  } else if (const auto* checking = std::get_if<bully::Checking>(&state.procedure)) {
    add(checking->asked);
  } else if (const auto* probing = std::get_if<bully::Probing>(&state.procedure)) {
    calls.emplace(probing->call, probing->node);
  } else if (const auto* all = std::get_if<bully::HaltingAll>(&state.procedure)) {
    add(all->halted);
  } else if (const auto* settling = std::get_if<bully::Settling>(&state.procedure)) {
    add(settling->asked);
  } else if (const auto* asking = std::get_if<bully::AskingFree>(&state.procedure)) {
    add(asking->asked);
  }
  add(state.by_options.grants.questions);
  return calls;
}

void check_bully(const TestNode& node, const View& view) {
  const bully::State& state = node.state();
  const bool works = state.s == Status::Reorganization || state.s == Status::Normal;
  demand(works == state.c.has_value() && works == state.g.has_value(), node,
         "a coordinator or a group outside Reorganization and Normal, or none inside");
  demand(view.status == state.s && view.coordinator.has_value() == works, node,
         "the view is not the state's");
  for (const auto& [call, to] : awaited(state)) {
    const auto out = node.calls().find(call);
    demand(out != node.calls().end() && out->second.letter.to == to, node,
           "waits for call " + to_text(call) + ", which can neither be answered nor fail");
  }
  demand(node.calls().size() == awaited(state).size(), node,
         "awaits a call that its procedure does not wait for");
  if (state.leaving) return;
  const auto armed = [&](Timer timer) { return node.timers().contains(timer); };
  const bool coordinates = works && state.c->candidate == node.config.self;
  if (state.s == Status::Normal && coordinates &&
      (view.procedure == Wait::Idle || view.procedure == Wait::Checking))
    demand(armed(Timer::check), node, "a Normal coordinator will never Check");
  if (view.procedure == Wait::BackingOff) demand(armed(Timer::retry), node, "backs off for ever");
  demand(state.check_armed == armed(Timer::check) &&
             state.coordinator_armed == armed(Timer::coordinator),
         node, "the state is wrong about which timers are armed");
}

// The Bully, and the Invitation algorithm as it ships. The textbook protocol has no group numbers
// that grow.
bool numbers_grow(const TestNode& node) {
  const invitation::Repairs& repairs = node.config.invitation_repairs;
  return bully_of(node) || (node.config.protocol == ProtocolName::invitation &&
                            repairs.growing_numbers && repairs.safe_counter);
}

void check_group(TestNode& node, const std::optional<GroupNumber>& group) {
  if (!group || group == node.accepted) return;
  if (const auto verdict = group_grows(node.config.self, node.accepted, *group))
    demand(false, node, "group-grows: " + verdict->why);
  demand(group->counter <= node.safe.counter_limit, node, "a counter beyond the durable limit");
}

}  // namespace

void check_node(const World& world, TestNode& node) {
  const View view = muster::view(node.config, node.protocol());
  const Common& known = common(node.protocol());
  const auto& timers = node.timers();
  for (const auto& [number, call] : node.calls())
    demand(awaits(node.protocol(), number), node, "a call that nobody awaits");
  // A coordinator of the textbook protocol waits for no event of its own.
  const bool rests = node.config.protocol == ProtocolName::textbook &&
                     view.status == Status::Normal && view.coordinator == node.config.self;
  const bool outvoted = view.procedure == Wait::Outvoted;  // awaits a report of its sessions
  demand(rests || outvoted || !timers.empty() || !node.calls().empty() || node.application.running,
         node, "nothing will ever happen to it again: " + to_text(view));
  if (known.leaving) demand(timers.empty(), node, "a leaving node has a timer");
  if (view.procedure == Wait::Idle && !known.leaving && !rests)
    demand(timers.contains(Timer::coordinator) || timers.contains(Timer::check), node,
           "no procedure runs, and no timer: " + to_text(view));
  if (bully_of(node)) check_bully(node, view);
  if (numbers_grow(node) && !world.volatile_counter) check_group(node, known.g);
  if (known.g) node.accepted = std::max(node.accepted, known.g);
}

void check_world(const World& world) {
  const std::vector<Standing> all = world.standings();
  const auto must_hold = [](const char* assertion, const std::optional<Disagreement>& found) {
    if (found) throw Violation(std::string("assertion ") + assertion + ": " + found->why);
  };
  switch (world[1].config.protocol) {
    case ProtocolName::bully:
      must_hold("1a", assertion_1a(all));
      must_hold("1b", assertion_1b(all));
      must_hold("works-apart", works_apart(all));
      break;
    case ProtocolName::invitation:
      must_hold("3a", assertion_3a(all));
      must_hold("3b", assertion_3b(all));
      break;
    case ProtocolName::textbook:
      break;  // it claims no assertion
  }
}

}  // namespace muster::test
