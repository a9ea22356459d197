// The reorganizations of Muster as a keeper sees them, and how nodes end.

#include "apps/postgres/lab/postgres_world.hpp"

#include <algorithm>

namespace muster::postgres::lab {

namespace {

bool is_between(const Cut& cut, NodeId one, NodeId other) {
  return (cut.one == one && cut.other == other) || (cut.one == other && cut.other == one);
}

}  // namespace

bool can_talk(const PostgresWorld& world, NodeId one, NodeId other) {
  return reach(world, one, other) &&
         node_at(world, one).generation == node_at(world, other).generation;
}

bool reach(const PostgresWorld& world, NodeId one, NodeId other) {
  return std::none_of(world.cuts.begin(), world.cuts.end(),
                      [&](const Cut& cut) { return is_between(cut, one, other); });
}

NodeSet all_nodes(const PostgresWorld& world) {
  NodeSet all;
  for (std::uint32_t id = 1; id <= world.nodes.size(); ++id) all.insert(NodeId{id});
  return all;
}

NodeSet data_nodes(const PostgresWorld& world) {
  NodeSet nodes;
  for (NodeId node : all_nodes(world))
    if (!node_at(world, node).witness) nodes.insert(node);
  return nodes;
}

std::uint32_t last_generation(const PostgresWorld& world, const Options& options) {
  std::uint32_t last = 1;
  for (NodeId node : all_nodes(world))
    if (node.value <= options.nodes) last = std::max(last, node_at(world, node).generation);
  return last;
}

NodeSet configured_nodes(const PostgresWorld& world, const Options& options) {
  const Copies copies = copies_of(options, last_generation(world, options));
  NodeSet nodes = copies.nodes;
  for (NodeId witness : copies.witnesses) nodes.insert(witness);
  return nodes;
}

Copies copies_of(const Options& options, std::uint32_t generation) {
  if (generation > 1) return *options.next;
  Copies copies{{}, options.copies_of_commit};
  for (std::uint32_t id = 1; id <= options.nodes; ++id)
    (options.witness && id == options.nodes ? copies.witnesses : copies.nodes).insert(NodeId{id});
  return copies;
}

Settings Making::settings(NodeId node) const {
  return {node, copies_of(options, node_at(world, node).generation), options.struck};
}

void Making::complain(std::string what) const {
  if (world.violated.empty()) world.violated = std::move(what);
}

void Making::tell(NodeId node, AnyEvent what, Round round) const {
  if (node_at(world, node).witness) return tell_witness(node, what);
  PostgresLife& life = *node_at(world, node).life;
  const bool was_open = life.keeper.open;
  for (Order& order : step(settings(node), life.keeper, {round, std::move(what)})) {
    if (const auto* report = std::get_if<GiveReport>(&order.what)) {
      life.report = report->evidence;
      life.activity = Activity::stopped;
      if (life.leaving && counts) ++counts->leaves;
    } else if (const auto* end = std::get_if<EndStart>(&order.what)) {
      life.activity = Activity::working;
      if (!end->failed_because.empty()) life.wants_election = true;
    } else if (std::holds_alternative<WantElection>(order.what)) {
      life.wants_election = true;
    } else if (std::holds_alternative<Abandon>(order.what)) {
      life.doing.clear();
    } else if (!std::holds_alternative<Show>(order.what) &&
               !std::holds_alternative<AnswerOwner>(order.what)) {
      life.doing.push_back({std::move(order), 0});
    }
  }
  if (life.keeper.open && !was_open) is_opened(node);
}

void Making::tell_witness(NodeId node, const AnyEvent& what) const {
  PostgresLife& life = *node_at(world, node).life;
  if (std::holds_alternative<StopCalled>(what)) life.activity = Activity::stopped;
  if (std::holds_alternative<StartCalled>(what)) life.activity = Activity::working;
}

// If a node has reported and was not started after that, the election uses its report again.
void Making::halts(NodeId coordinator, std::uint32_t set) const {
  Election election;
  for (NodeId node : all_nodes(world)) {
    const bool asked = node == coordinator || is_in(node, set);
    const auto& life = node_at(world, node).life;
    if (!asked || !life || life->leaving || !can_talk(world, coordinator, node)) continue;
    election.members.insert(node);
    election.group.counter = std::max(election.group.counter, node_at(world, node).counter);
  }
  ++election.group.counter;
  election.group.coordinator = coordinator;
  std::erase_if(world.elections, [&](const Election& other) {
    return std::any_of(other.members.begin(), other.members.end(),
                       [&](NodeId node) { return election.members.contains(node); });
  });
  world.elections.push_back(election);
  if (counts) ++counts->elections;
  for (NodeId node : election.members) {
    Node& own = node_at(world, node);
    own.counter = election.group.counter;
    own.life->halted = election.group;
    own.life->to_start.reset();
    own.life->wants_election = false;
    if (own.life->activity == Activity::stopping || own.life->activity == Activity::stopped)
      continue;
    own.life->activity = Activity::stopping;
    tell(node, StopCalled{});
  }
}

void Making::reorganizes(std::uint32_t which) const {
  const Election election = world.elections[which];
  world.elections.erase(world.elections.begin() + which);
  std::map<NodeId, postgres::Report> reports;
  for (NodeId node : election.members)
    reports.emplace(
        node, postgres::Report{node_at(world, node).life->report, node_at(world, node).promise});
  const Choice choice =
      choose(settings(election.group.coordinator).copies, election.group, reports, options.struck);
  for (NodeId node : election.members) {
    node_at(world, node).life->to_start = choice;
    node_at(world, node).life->members = election.members;
  }
  if (!counts || !choice.primary) return;
  if (choice.is_alone()) ++counts->alone;
  if (const auto* held = std::get_if<Holding>(&reports.at(*choice.primary).evidence))
    counts->next +=
        held->copies->generation < node_at(world, election.group.coordinator).generation ? 1 : 0;
  for (const auto& [node, report] : reports)
    if (const auto* held = std::get_if<Holding>(&report.evidence); held && held->hands_over_to)
      counts->hand_overs += held->hands_over_to == choice.primary ? 1 : 0;
}

void Making::starts(NodeId node) const {
  PostgresLife& life = *node_at(world, node).life;
  const Choice choice = *std::exchange(life.to_start, std::nullopt);
  life.activity = Activity::starting;
  const auto promise = choice.promises.find(node);
  if (promise != choice.promises.end()) node_at(world, node).promise = promise->second;
  node_at(world, node).defined = *life.halted;
  tell(node, StartCalled{*life.halted, choice});
}

// The life of a node begins with exactly one stop. Once a node has taken part under the next list,
// it never takes part under the earlier one.
void Making::lives(NodeId node, What how) const {
  Node& own = node_at(world, node);
  if (how == What::goes_on) own.generation = options.next->generation;
  if (how == What::upgrades) own.old = false;
  own.life = PostgresLife{};
  tell(node, Loaded{own.note, own.at_least});
  tell(node, StopCalled{});
}

void Making::dies(NodeId node) const {
  Node& own = node_at(world, node);
  own.life.reset();
  if (own.postgres) own.postgres->orphan = true;
  std::erase_if(world.elections,
                [&](const Election& election) { return election.members.contains(node); });
}

// From now on the node refuses to be a member.
void Making::leaves(NodeId node) const {
  PostgresLife& life = *node_at(world, node).life;
  std::erase_if(world.elections,
                [&](const Election& election) { return election.members.contains(node); });
  life.leaving = true;
  life.to_start.reset();
  life.wants_election = false;
  if (life.activity == Activity::stopping || life.activity == Activity::stopped) return;
  life.activity = Activity::stopping;
  tell(node, StopCalled{true});
}

// A node that comes back in the same process keeps its keeper and its PostgreSQL.
void Making::comes_back(NodeId node, bool as_another_process) const {
  if (as_another_process) {
    dies(node);
    return lives(node, What::lives);
  }
  PostgresLife& life = *node_at(world, node).life;
  life.leaving = false;
  life.halted.reset();
  life.activity = Activity::stopping;
  tell(node, StopCalled{});
}

void Making::postgres_killed(NodeId node) const {
  Node& own = node_at(world, node);
  own.postgres->orphan = true;
  if (!own.life) return;
  const auto& doing = own.life->doing;
  if (!doing.empty() && std::holds_alternative<End>(doing.front().order.what)) return;
  tell(node, Died{"it was killed"});
}

void Making::machine_stops(NodeId node) const {
  dies(node);
  Node& own = node_at(world, node);
  own.postgres.reset();
  own.data.log.resize(own.data.flushed);
}

// Restores a backup from before the first group. The node remembers its earlier contents apart from
// its data.
void Making::restores(NodeId node) const {
  Node& own = node_at(world, node);
  // A node records how far its log goes at intervals.
  if (own.at_least) own.at_least->lsn = std::max(own.at_least->lsn, Lsn{own.data.flushed});
  if (!own.rows_ended || !stands(options.struck, Line::counted_is_recorded))
    own.at_least = as_held(look_at(options, own, own.data.flushed, false).holding);
  own.data = {{own.data.log.front()}, 1, 1, true, {}, false, 0, {}};
  if (counts) ++counts->restores;
}

}  // namespace muster::postgres::lab
