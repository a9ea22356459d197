#include "checks.hpp"

#include <algorithm>

namespace muster::test {

namespace {

using bully::State;

std::string name(const TestNode& node) {
  return "node " + std::to_string(node.config.self.value);
}

void demand(bool holds, const TestNode& node, const std::string& what) {
  if (!holds) throw Violation(name(node) + ": " + what);
}

bool ceased(const TestApplication& application) {
  return !application.running && !application.works && !application.stopping;
}

// Every call that the procedure of a node waits for.
bully::Calls awaited(const State& state) {
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
  }
  return calls;
}

// --- Actions
// ------------------------------------------------------------------------------------------

void check_stop(const TestNode& node, const Stop& stop) {
  const TestApplication& application = node.application;
  demand(stop.owed == application.stop_owed, node,
         stop.owed ? "P2: a stop that is not owed" : "P2: an owed stop is left out");
}

void check_reorganize(const World& world, const TestNode& node, const Reorganize& action) {
  const TestApplication& own = node.application;
  demand(ceased(own) && !own.stop_owed, node, "P4: reorganize before the node itself is stopped");
  demand(node.state.s == Status::Reorganization, node, "reorganize outside Reorganization");
  demand(std::is_sorted(action.members.begin(), action.members.end(),
                        [](const Member& a, const Member& b) { return a.node < b.node; }),
         node, "P4: members are not in order");
  NodeSet members;
  for (const Member& member : action.members) members.insert(member.node);
  NodeSet expected = {node.config.self};
  for (const Member& member : node.state.up) expected.insert(member.node);
  demand(members == expected, node, "P4: the members are not S(i).Up and the node itself");
  for (const Member& member : action.members) {
    const TestNode& other = world[member.node.value];
    if (!other.up || other.paused) continue;  // it died since: the coordinator will find out
    demand(!other.application.works || other.application.discounted, node,
           "P4: reorganize while member " + std::to_string(member.node.value) + " works");
    if (other.safe.incarnation != member.incarnation) continue;
    demand(ceased(other.application), node,
           "P4: reorganize before member " + std::to_string(member.node.value) + " is stopped");
    demand(member.holdings.report == other.application.last_report, node,
           "P4: not the report of member " + std::to_string(member.node.value));
    const auto& assigned = other.safe.assigned;
    demand(member.holdings.group.has_value() == assigned.has_value() &&
               (!assigned || *member.holdings.group == assigned->group),
           node, "P4: not what member " + std::to_string(member.node.value) + " was last assigned");
    demand(member.holdings.definition.has_value() == assigned.has_value(), node,
           "P4: no digest of what the member was last assigned");
  }
}

void check_start(const TestNode& node, const Start& action) {
  const TestApplication& application = node.application;
  demand(ceased(application) && !application.stop_owed, node,
         "P2: start before the stop of what was before");
  const auto& assigned = node.safe.assigned;
  demand(assigned && assigned->definition == action.definition && assigned->group == action.group,
         node, "P5: start of a definition that is not durable");
  demand(node.state.g == action.group, node, "start for another group than the node's");
}

void check_answer(const TestNode& node, const Answer& answer) {
  const TestApplication& application = node.application;
  // Where refusals are not reported, an answer to NewCoordinator or Ready promises nothing (6.1).
  const bool promises = node.config.repairs.report_refusals;
  if (std::holds_alternative<Halted>(answer.result)) {
    demand(!application.permits, node, "P1: Halt is answered while permits are valid");
    if (!node.config.repairs.stop_beside_halts)
      demand(ceased(application) && !application.stop_owed, node,
             "6.14: Halt is answered before the application has ceased");
  } else if (promises && std::holds_alternative<Joined>(answer.result)) {
    demand(ceased(application) && !application.stop_owed, node,
           "6.20: NewCoordinator is answered before the application has ceased");
    demand(node.state.g && node.state.g->counter <= node.safe.counter_limit, node,
           "P8: NewCoordinator is answered before its counter is within the durable limit");
  } else if (node.state.by_options.installed && node.state.s == Status::Reorganization) {
    demand(node.safe.assigned && node.safe.assigned->group == node.state.g, node,
           "the first Ready is answered before its definition is durable");
  } else if (promises && std::holds_alternative<Installed>(answer.result)) {
    demand(node.state.s == Status::Normal, node, "Ready is answered before the node is Normal");
    demand(application.works && !application.running, node,
           "Ready is answered before the application has started");
    demand(node.safe.assigned && node.safe.assigned->group == application.works, node,
           "P8: Ready is answered before its definition is durable");
  }
}

void check_send(const TestNode& node, const Send& send) {
  const Letter& letter = send.letter;
  demand(letter.from == node.config.self && letter.to != node.config.self &&
             node.config.nodes.contains(letter.to),
         node, "a letter from or to the wrong node");
  demand(letter.incarnation == node.safe.incarnation, node,
         "a letter of a life that is not durable");
  demand(send.bound.has_value() == !is_answer(letter), node,
         "a call without bound, or a bounded answer");
  if (const auto* answer = std::get_if<Answer>(&letter.message)) check_answer(node, *answer);
  const Repairs& repairs = node.config.repairs;
  if (const auto* halt = std::get_if<Halt>(&letter.message)) {
    demand(!node.application.permits, node, "P1: a Halt is sent while own permits are valid");
    demand(halt->election.candidate == node.config.self &&
               halt->election.incarnation == node.safe.incarnation,
           node, "a Halt of another candidate or life");
    if (!repairs.stop_beside_halts)
      demand(ceased(node.application) && !node.application.stop_owed, node,
             "a Halt is sent before the node itself is stopped");
    demand(letter.to < node.config.self || node.config.options.preempt != Preempt::paper, node,
           "a Halt to a higher node");
  }
  std::optional<GroupNumber> group;
  if (const auto* call = std::get_if<NewCoordinator>(&letter.message)) group = call->group;
  if (const auto* call = std::get_if<Ready>(&letter.message)) group = call->group;
  if (group)
    demand(group->coordinator == node.config.self && group->counter <= node.safe.counter_limit,
           node, "a group number is given away before it is within the durable limit");
  Bound expected = Bound::answer;
  if (std::holds_alternative<NewCoordinator>(letter.message) ||
      (std::holds_alternative<Halt>(letter.message) && !repairs.stop_beside_halts))
    expected = Bound::stopped;
  if (std::holds_alternative<Ready>(letter.message)) expected = Bound::started;
  if (send.bound) demand(*send.bound == expected, node, "a call with the wrong bound");
}

void check_save(const TestNode& node, const Save& save) {
  const SafeState& old = node.safe;
  demand(save.safe.incarnation == old.incarnation, node, "a Save changes the incarnation");
  demand(save.safe.counter_limit >= old.counter_limit, node, "a Save lowers the counter limit");
  demand(save.safe.counter_limit >= node.state.counter, node,
         "a Save whose limit is below a counter that was chosen or accepted");
  if (old.assigned)
    demand(save.safe.assigned && save.safe.assigned->group >= old.assigned->group, node,
           "group-grows: what is assigned goes back");
  for (const auto& [other, life] : old.seen) {
    const auto seen = save.safe.seen.find(other);
    demand(seen != save.safe.seen.end() && seen->second >= life, node,
           "a Save forgets a life seen of another node");
  }
}

}  // namespace

void check_step(const TestNode& node, const State& before, const Event& event,
                const Actions& actions) {
  const auto stale = [&](Ticket ticket) { return ticket != before.ticket; };
  const bool old_end =
      (std::holds_alternative<Stopped>(event) && stale(std::get<Stopped>(event).ticket)) ||
      (std::holds_alternative<Reorganized>(event) && stale(std::get<Reorganized>(event).ticket)) ||
      (std::holds_alternative<Started>(event) && stale(std::get<Started>(event).ticket)) ||
      (std::holds_alternative<HookFailed>(event) && stale(std::get<HookFailed>(event).ticket));
  if (old_end)
    demand(actions.empty() && before == node.state, node,
           "P7: the end of an old hook has an effect");
  if (std::holds_alternative<Recovered>(event))
    for (const Action& action : actions)
      demand(!std::holds_alternative<Start>(action), node,
             "P6: a restarted node resumes by itself");
  if (before.leaving &&
      (std::holds_alternative<Failed>(event) || std::holds_alternative<Expired>(event) ||
       std::holds_alternative<Paused>(event)))
    demand(actions.empty(), node, "a leaving node acts on what it must ignore");
}

void check_action(const World& world, const TestNode& node, const Action& action) {
  if (const auto* stop = std::get_if<Stop>(&action)) check_stop(node, *stop);
  if (const auto* reorganize = std::get_if<Reorganize>(&action))
    check_reorganize(world, node, *reorganize);
  if (const auto* start = std::get_if<Start>(&action)) check_start(node, *start);
  if (const auto* send = std::get_if<Send>(&action)) check_send(node, *send);
  if (const auto* save = std::get_if<Save>(&action)) check_save(node, *save);
  if (const auto* arm = std::get_if<Arm>(&action))
    demand(arm->level == 0 || (arm->timer == Timer::retry && arm->level <= 3) ||
               arm->timer == Timer::preempt || arm->timer == Timer::settle,
           node, "a timer with a level that it cannot have");
  if (std::holds_alternative<Leave>(action))
    demand(ceased(node.application), node, "the node leaves before its application has ceased");
}

void check_node(const TestNode& node, const State& before) {
  const State& state = node.state;
  const View view = bully::view(node.config, state);
  const bool works = state.s == Status::Reorganization || state.s == Status::Normal;
  const bool coordinates = works && state.c && state.c->candidate == node.config.self;
  const bool idle = std::holds_alternative<bully::Idle>(state.procedure);

  demand(works == state.c.has_value() && works == state.g.has_value(), node,
         "a coordinator or a group outside Reorganization and Normal, or none inside");
  demand(view.status == state.s && view.coordinator.has_value() == works, node,
         "the view is not the state's");
  if (works && before.g != state.g) {
    const auto verdict = group_grows(node.config.self, node.accepted, *state.g);
    demand(!verdict && state.g != node.accepted, node,
           "group-grows: " + (verdict ? verdict->why : "a group number is used again"));
  }

  for (const auto& [call, to] : awaited(state)) {
    const auto out = node.calls.find(call);
    demand(bully::awaits(state, call) && out != node.calls.end() && out->second.letter.to == to,
           node,
           "waits for call " + std::to_string(call.value) +
               ", which can neither be answered nor fail");
  }
  demand(node.calls.size() == awaited(state).size(), node,
         "awaits a call that its procedure does not wait for");

  const auto armed = [&](Timer timer) { return node.timers.contains(timer); };
  if (state.leaving) {
    demand(node.timers.empty(), node, "a leaving node has a timer");
    return;
  }
  if (idle && !(state.s == Status::Normal && coordinates))
    demand(armed(Timer::coordinator), node, "no procedure runs and Timeout will never come");
  if (state.s == Status::Normal && coordinates &&
      (idle || std::holds_alternative<bully::Checking>(state.procedure)))
    demand(armed(Timer::check), node, "a Normal coordinator will never Check");
  if (std::holds_alternative<bully::BackingOff>(state.procedure))
    demand(armed(Timer::retry), node, "backs off for ever");
  demand(state.check_armed == armed(Timer::check) &&
             state.coordinator_armed == armed(Timer::coordinator),
         node, "the state is wrong about which timers are armed");
}

void check_world(const World& world) {
  const std::vector<Standing> all = world.standings();
  const auto must_hold = [](const char* assertion, const std::optional<Disagreement>& verdict) {
    if (verdict) throw Violation(std::string(assertion) + ": " + verdict->why);
  };
  must_hold("assertion 1a", assertion_1a(all));
  must_hold("assertion 1b", assertion_1b(all));
  must_hold("works-apart", works_apart(all));
}

void demand_nothing_wrong(const TestNode& node, const HookGrammar::Wrong& wrong) {
  demand(!wrong, node, wrong ? "hook grammar: " + *wrong : "");
}

}  // namespace muster::test
