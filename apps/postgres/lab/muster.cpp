// Muster's reorganizations as a keeper sees them, deaths, and what may happen next.

#include "apps/postgres/lab/postgres_world.hpp"

#include <algorithm>

namespace muster::postgres::lab {

namespace {

bool has(NodeId node, std::uint32_t set) {
  return (set >> (node.value - 1) & 1) != 0;
}

bool is_between(const Cut& cut, NodeId one, NodeId other) {
  return (cut.one == one && cut.other == other) || (cut.one == other && cut.other == one);
}

/// All members are stopped, by this election.
bool have_reported(const PostgresWorld& world, const Election& election) {
  return std::all_of(election.members.begin(), election.members.end(), [&](NodeId node) {
    const auto& life = node_at(world, node).life;
    return life && life->halted == election.group && life->activity == Activity::stopped;
  });
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

void Making::tell(NodeId node, HasHappened what, Round round) const {
  if (node_at(world, node).witness) return tell_witness(node, what);
  PostgresLife& life = *node_at(world, node).life;
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
}

void Making::tell_witness(NodeId node, const HasHappened& what) const {
  PostgresLife& life = *node_at(world, node).life;
  if (std::holds_alternative<StopCalled>(what)) life.activity = Activity::stopped;
  if (std::holds_alternative<StartCalled>(what)) life.activity = Activity::working;
}

// A node that has reported, and was not started since, is not asked again.
void Making::halts(NodeId coordinator, std::uint32_t set) const {
  Election election;
  for (NodeId node : all_nodes(world)) {
    const bool asked = node == coordinator || has(node, set);
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

// P2: a life begins with one stop. Whoever has taken part by the next list never does by that
// before.
void Making::lives(NodeId node, bool by_next_list) const {
  Node& own = node_at(world, node);
  if (by_next_list) own.generation = options.next->generation;
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

// It refuses to be a member from now on.
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

// In the same process its keeper and its PostgreSQL are those of before.
void Making::comes_back(NodeId node, bool as_another_process) const {
  if (as_another_process) {
    dies(node);
    return lives(node);
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

// A backup from before the first group is put back; what was held is remembered apart from it.
void Making::restores(NodeId node) const {
  Node& own = node_at(world, node);
  own.at_least = as_held(holding_of(options, own.data, own.data.flushed, false));
  own.data = {{own.data.log.front()}, 1, 1, true, {}};
  if (counts) ++counts->restores;
}

// --- What may happen
// ------------------------------------------------------------------------------------

namespace {

class Offers {
 public:
  Offers(const PostgresWorld& world, const Options& options) : world_(world), options_(options) {}

  std::vector<Move> in_peace() {
    for (NodeId node : all_nodes(world_)) {
      const Node& own = node_at(world_, node);
      if (can_perform(world_, node, options_)) add(What::performs, node);
      if (own.life && own.life->to_start) add(What::starts, node);
      if (own.life && waits_for_all(*own.life) && all_have_it(own)) add(What::all_have_it, node);
      if (own.life && own.life->leaving && own.life->activity == Activity::stopped)
        for (const std::uint32_t process : {0U, 1U}) add(What::comes_back, node, process);
      if (own.postgres) of_postgres(node, own.data, *own.postgres);
    }
    for (std::uint32_t at = 0; at < world_.elections.size(); ++at)
      if (have_reported(world_, world_.elections[at])) add(What::reorganizes, NodeId{1}, at);
    return std::move(moves_);
  }

  std::vector<Move> in_trouble() {
    const auto nodes = static_cast<std::uint32_t>(world_.nodes.size());
    for (NodeId node : all_nodes(world_)) {
      const Node& own = node_at(world_, node);
      if (own.life)
        of_life(node, *own.life);
      else
        of_dead(node, own);
      if (own.postgres) trouble_of_postgres(node, *own.postgres);
      if (may(&Troubles::machine_stops) && (own.life || own.postgres))
        add(What::machine_stops, node);
      for (std::uint32_t other = node.value + 1; other <= nodes && may(&Troubles::cuts); ++other)
        if (reach(world_, node, NodeId{other})) add(What::cuts, node, other);
    }
    for (std::uint32_t at = 0; at < world_.cuts.size(); ++at) add(What::heals, NodeId{1}, at);
    return std::move(moves_);
  }

 private:
  void add(What what, NodeId node, std::uint32_t which = 0) {
    moves_.push_back({what, node, which});
  }
  [[nodiscard]] bool may(unsigned Troubles::*trouble) const {
    return world_.had.*trouble < options_.troubles.*trouble;
  }

  static bool waits_for_all(const PostgresLife& life) {
    const auto& place = life.keeper.place;
    return place && place->choice.is_alone() && !place->all_have_it;
  }

  [[nodiscard]] bool all_have_it(const Node& node) const {
    const NodeSet& members = node.life->members;
    return std::all_of(members.begin(), members.end(), [&](NodeId member) {
      return node_at(world_, member).defined == node.defined;
    });
  }

  void of_postgres(NodeId node, const Data& data, const Postgres& postgres) {
    if (postgres.checkpointer_hangup) add(What::checkpointer_hangup, node);
    if (postgres.hangup) add(What::takes_hangup, node);
    if (postgres.promoting) add(What::promoted, node);
    if (data.flushed < data.log.size()) add(What::flushes, node);
    if (postgres.orphan) add(What::ends, node);
    if (can_connect(world_, node, options_)) add(What::connects, node);
    if (postgres.receiver) {
      const NodeId from = postgres.receiver->from;
      const bool reached = reach(world_, node, from);
      const Walsender* served = served_by(world_, node);
      if (served && reached && data.log.size() < node_at(world_, from).data.flushed)
        add(What::receives, node);
      if (!served || !reached) add(What::receiver_ends, node);
    }
    for (std::uint32_t at = 0; at < postgres.walsenders.size(); ++at) {
      const Walsender& walsender = postgres.walsenders[at];
      if (walsender.hangup) add(What::walsender_hangup, node, at);
      if (walsender.flushed < walsender.told || would_release(node, walsender))
        add(What::hears, node, at);
      if (served_by(world_, walsender.to) != &walsender || !reach(world_, node, walsender.to))
        add(What::walsender_ends, node, at);
    }
  }

  // A standby tells its status every few seconds, with nothing new in it: a kick that came before
  // the walsenders had taken their SIGHUP is in vain, and nothing else would release a session.
  [[nodiscard]] bool would_release(NodeId node, const Walsender& walsender) const {
    const auto& waiting = node_at(world_, node).postgres->waiting;
    return walsender.names == Names::open && served_by(world_, walsender.to) == &walsender &&
           std::any_of(waiting.begin(), waiting.end(),
                       [&](const Session& session) { return session.at < walsender.flushed; });
  }

  void of_life(NodeId node, const PostgresLife& life) {
    if (may(&Troubles::elections) && !life.leaving)
      for (std::uint32_t set = 0; set < 1U << world_.nodes.size(); ++set)
        if (has(node, set) && all_are_reached(node, set)) add(What::elects, node, set);
    if (may(&Troubles::failures) && !life.doing.empty()) add(What::fails, node);
    if (may(&Troubles::early_ends) && !life.doing.empty() &&
        std::holds_alternative<Begin>(life.doing.front().order.what))
      add(What::ends_early, node);
    const bool drains = std::holds_alternative<Draining>(life.keeper.wait);
    if (may(&Troubles::overdue) && !node_at(world_, node).witness &&
        (life.activity == Activity::stopping || drains))
      add(What::overdue, node);
    if (may(&Troubles::node_kills)) add(What::node_killed, node);
    if (may(&Troubles::leaves) && !life.leaving) add(What::leaves, node);
    if (may(&Troubles::hand_overs) && life.keeper.open)
      for (NodeId heir : data_nodes(world_))
        if (heir != node) add(What::hands_over, node, heir.value);
    if (may(&Troubles::rejoins) && !node_at(world_, node).witness &&
        life.activity == Activity::working)
      add(What::rejoins, node);
  }

  // Two that have lost what they had may be all that held a commit.
  void of_dead(NodeId node, const Node& own) {
    if (own.generation > 1 || !has_ended(node)) add(What::lives, node);
    if (may_go_on(node)) add(What::goes_on, node);
    const NodeSet all = data_nodes(world_);
    const bool all_others_have_theirs = std::all_of(all.begin(), all.end(), [&](NodeId other) {
      return other == node || is_unharmed(node_at(world_, other));
    });
    if (may(&Troubles::restores) && !own.witness && !own.postgres && is_unharmed(own) &&
        own.data.flushed > 1 && all_others_have_theirs && !holds_alone(node))
      add(What::restores, node);
  }

  [[nodiscard]] bool is_of_next(NodeId node) const {
    return options_.next && options_.next->nodes.contains(node);
  }

  /// It is not in the next list, and that has begun.
  [[nodiscard]] bool has_ended(NodeId node) const {
    return options_.next && !is_of_next(node) && last_generation(world_, options_) > 1;
  }

  [[nodiscard]] bool may_go_on(NodeId node) const {
    if (!is_of_next(node) || node_at(world_, node).generation > 1) return false;
    if (options_.hasty || last_generation(world_, options_) > 1) return true;
    const NodeSet all = all_nodes(world_);
    return std::all_of(all.begin(), all.end(), [&](NodeId other) {
      const Node& its = node_at(world_, other);
      if (!is_of_next(other)) return !its.life;
      return its.generation > 1 || is_unharmed(its);
    });
  }

  // What is nowhere else is lost with it, and nobody writes any more.
  [[nodiscard]] bool holds_alone(NodeId node) const {
    const auto alone = [&](const Promise& promise) { return promise.holders == NodeSet{node}; };
    return std::any_of(world_.nodes.begin(), world_.nodes.end(), [&](const Node& other) {
      if (other.promise && alone(*other.promise)) return true;
      if (!other.life || !other.life->to_start) return false;
      const auto& promises = other.life->to_start->promises;
      return std::any_of(promises.begin(), promises.end(),
                         [&](const auto& of_node) { return alone(of_node.second); });
    });
  }

  [[nodiscard]] bool is_unharmed(const Node& node) const {
    return !node.note && node.data.whole && !has_lost(options_, node);
  }

  // So that no set comes twice.
  [[nodiscard]] bool all_are_reached(NodeId coordinator, std::uint32_t set) const {
    for (NodeId node : all_nodes(world_))
      if (has(node, set) && !can_take_part(coordinator, node)) return false;
    return true;
  }

  [[nodiscard]] bool can_take_part(NodeId coordinator, NodeId node) const {
    const auto& life = node_at(world_, node).life;
    return life && !life->leaving && can_talk(world_, coordinator, node);
  }

  // A client writes wherever it can, read-only by default or not; where that is the gate, it obeys.
  void trouble_of_postgres(NodeId node, const Postgres& postgres) {
    const bool admits =
        postgres.conf.names != Names::sealed || stands(options_.struck, Line::names_are_the_gate);
    if (postgres.primary && admits && !postgres.draining && may(&Troubles::commits))
      add(What::commits, node);
    if (may(&Troubles::postgres_kills) && !postgres.orphan) add(What::postgres_killed, node);
  }

  const PostgresWorld& world_;
  const Options& options_;
  std::vector<Move> moves_;
};

}  // namespace

std::vector<Move> in_peace(const PostgresWorld& world, const Options& options) {
  return Offers(world, options).in_peace();
}

std::vector<Move> in_trouble(const PostgresWorld& world, const Options& options) {
  return Offers(world, options).in_trouble();
}

}  // namespace muster::postgres::lab
