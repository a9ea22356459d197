// Making a move, and what the worlds begin and end with.

#include "apps/postgres/lab/postgres_world.hpp"

#include <muster/detail/values/kinds.hpp>

#include <algorithm>

namespace muster::postgres::lab {

namespace {

void count(Troubles& had, What what) {
  switch (what) {
    case What::commits:
      ++had.commits;
      break;
    case What::elects:
      ++had.elections;
      break;
    case What::fails:
      ++had.failures;
      break;
    case What::ends_early:
      ++had.early_ends;
      break;
    case What::overdue:
      ++had.overdue;
      break;
    case What::leaves:
      ++had.leaves;
      break;
    case What::hands_over:
      ++had.hand_overs;
      break;
    case What::node_killed:
      ++had.node_kills;
      break;
    case What::postgres_killed:
      ++had.postgres_kills;
      break;
    case What::machine_stops:
      ++had.machine_stops;
      break;
    case What::restores:
      ++had.restores;
      break;
    case What::rejoins:
      ++had.rejoins;
      break;
    case What::cuts:
      ++had.cuts;
      break;
    default:
      break;
  }
}

void commits(const Making& making, NodeId node) {
  const auto at = static_cast<std::uint32_t>(node_at(making.world, node).data.log.size());
  making.append(node, Kind::commit);
  node_at(making.world, node).postgres->waiting.push_back({at, making.world.newest});
}

}  // namespace

void make(PostgresWorld& world, const Options& options, const Move& move, Counts* counts) {
  const Making making{world, options, counts};
  const NodeId node = move.node;
  Node& own = node_at(world, node);
  count(world.had, move.what);
  if (counts) ++counts->moves;
  switch (move.what) {
    case What::performs:
      return making.performs(node);
    case What::takes_hangup:
      return making.takes_hangup(node);
    case What::walsender_hangup:
      return making.walsender_takes_hangup(node, move.which);
    case What::checkpointer_hangup:
      return making.checkpointer_takes_hangup(node);
    case What::all_have_it:
      return making.tell(node, AllHaveIt{own.defined});
    case What::promoted:
      return making.promoted(node);
    case What::flushes:
      return making.tell_flushed(node);
    case What::connects:
      return making.connects(node);
    case What::receives:
      return making.receives(node);
    case What::hears:
      return making.hears(node, move.which);
    case What::walsender_ends:
      return making.walsender_ends(node, move.which);
    case What::receiver_ends:
      return own.postgres->receiver.reset();
    case What::ends:
      return own.postgres.reset();
    case What::reorganizes:
      return making.reorganizes(move.which);
    case What::starts:
      return making.starts(node);
    case What::comes_back:
      return making.comes_back(node, move.which != 0);
    case What::commits:
      return commits(making, node);
    case What::elects:
      return making.halts(node, move.which);
    case What::lives:
    case What::goes_on:
      return making.lives(node, move.what == What::goes_on);
    case What::heals:
      return void(world.cuts.erase(world.cuts.begin() + move.which));
    case What::leaves:
      return making.leaves(node);
    case What::hands_over:
      return making.tell(node, HandOverAsked{NodeId{move.which}});
    case What::fails:
    case What::ends_early:
      return making.fails(node, move.what == What::ends_early);
    case What::overdue:
      return making.tell(node, Overdue{});
    case What::node_killed:
      return making.dies(node);
    case What::postgres_killed:
      return making.postgres_killed(node);
    case What::machine_stops:
      return making.machine_stops(node);
    case What::restores:
      return making.restores(node);
    case What::rejoins:
      return making.tell(node, RejoinAsked{});
    case What::cuts:
      return world.cuts.push_back({node, NodeId{move.which}});
  }
}

std::string in_words(const PostgresWorld& world, const Move& move) {
  std::string said = "node " + std::to_string(move.node.value) + " ";
  said += enumerator_name(move.what);
  std::replace(said.begin(), said.end(), '_', ' ');
  const Node& node = node_at(world, move.node);
  const bool of_order = move.what == What::performs || move.what == What::fails;
  if (of_order && node.life && !node.life->doing.empty())
    said += " " + std::string(alternative_name(node.life->doing.front().order.what));
  if (move.which != 0) said += " " + std::to_string(move.which);
  return said;
}

// The row that `init` writes says on which timeline all begin.
PostgresWorld begun(const Options& options) {
  PostgresWorld world;
  const NodeId first{1};
  const Log log{{Kind::row, first, 1, 1, GroupNumber{0, first}, 1}};
  world.nodes.resize(options.nodes);
  world.nodes.back().witness = options.witness;
  for (Node& node : world.nodes)
    if (!node.witness) node.data = {log, 1, 1, true, {}};
  world.nodes.front().written = 1;
  const NodeSet of_next = options.next ? options.next->nodes : NodeSet{};
  for (NodeId node : of_next) {
    if (node.value <= options.nodes) continue;
    Node& joined = world.nodes.emplace_back();
    joined.generation = options.next->generation;
    joined.data = {log, 1, 1, true, {}};
    joined.note = Note{};  // `join` leaves it to the primary
  }
  return world;
}

bool is_writing(const PostgresWorld& world, NodeId node) {
  const Node& own = node_at(world, node);
  return own.postgres && !own.postgres->orphan && own.postgres->primary && own.life &&
         own.life->keeper.open && own.postgres->conf.names == Names::open;
}

namespace {

bool is_following(const PostgresWorld& world, NodeId node, NodeId primary) {
  const Node& own = node_at(world, node);
  return own.postgres && !own.note && own.postgres->receiver &&
         own.postgres->receiver->from == primary && !own.postgres->conf.mending &&
         served_by(world, node);
}

}  // namespace

Holding holding_of(const Options& options, const Data& data, std::uint32_t records, bool primary) {
  constexpr std::uint64_t the_system = 1;
  const Log held(data.log.begin(), data.log.begin() + records);
  Holding holding{the_system, term_of(held, records), Lsn{records}, timeline_of(held), primary};
  holding.copies = copies_of(options, generation_of(held, records));
  return holding;
}

bool has_lost(const Options& options, const Node& node) {
  return node.at_least &&
         is_below(holding_of(options, node.data, node.data.flushed, false), *node.at_least);
}

bool is_calm(const PostgresWorld& world, const Options& options) {
  const auto& group = world.nodes.front().life ? world.nodes.front().life->halted : std::nullopt;
  std::optional<NodeId> primary;
  const NodeSet configured = configured_nodes(world, options);
  for (NodeId node : configured) {
    const auto& life = node_at(world, node).life;
    if (!life || life->activity != Activity::working || life->halted != group ||
        life->wants_election)
      return false;
    if (is_writing(world, node)) primary = node;
  }
  return primary && std::all_of(configured.begin(), configured.end(), [&](NodeId node) {
           return node == *primary || node_at(world, node).witness ||
                  is_following(world, node, *primary);
         });
}

std::optional<Move> wanted_election(const PostgresWorld& world, const Options& options) {
  const NodeSet configured = configured_nodes(world, options);
  Move all{What::elects, NodeId{1}, 0};
  for (NodeId node : configured) all.which |= 1U << (node.value - 1);
  for (const Election& election : world.elections)
    if (election.members == configured) return std::nullopt;
  const auto& group = world.nodes.front().life->halted;
  for (NodeId node : configured)
    if (node_at(world, node).life->leaving) return std::nullopt;  // it comes back first
  for (NodeId node : configured) {
    const PostgresLife& life = *node_at(world, node).life;
    if (!group || life.halted != group || life.wants_election) return all;
  }
  return std::nullopt;
}

}  // namespace muster::postgres::lab
