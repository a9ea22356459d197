// Makes moves, builds the first world, and contains the checks at the end of a run.

#include "apps/postgres/lab/postgres_world.hpp"

#include <muster/detail/values/kinds.hpp>

#include <algorithm>

namespace muster::postgres::lab {

namespace {

void count(const Making& making, What what) {
  if (making.counts) ++making.counts->moves;
  Troubles& had = making.world.had;
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
    case What::sets_names:
      ++had.settings;
      break;
    case What::recycles:
      ++had.recycled;
      break;
    case What::promotes:
      ++had.promotions;
      break;
    case What::repeats:
      ++had.repeats;
      break;
    case What::forges:
      ++had.forged;
      break;
    case What::rewrites_rows:
      ++had.rewritten;
      break;
    case What::refuses:
      ++had.refusals;
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

// An administrator replaces postgresql.conf, which then sets no standby names, and reloads it.
void sets_names(const Making& making, NodeId node) {
  if (stands(making.options.struck, Line::names_are_fixed)) return;
  node_at(making.world, node).postgres->unnamed = true;
  making.acknowledge_without_copies(node);
}

void repeats(const Making& making, NodeId node) {
  Node& own = node_at(making.world, node);
  own.rows_ended = own.rows_ended || may_end_rows(making.world, node, making.options);
  making.append_marker(node, true_term_of(own.data.log), own.generation);
}

// A checkpoint removes the log before the position at which it began. A primary soon repeats its
// marker after that position. Until then, and at a standby until it has received that marker, the
// log has no marker.
void recycles(const Making& making, NodeId node, bool all) {
  Data& data = node_at(making.world, node).data;
  std::uint32_t begin = data.flushed;
  if (!all && stands(making.options.struck, Line::markers_repeat)) {
    const auto is_marker = [&](std::uint32_t at) {
      return is_valid(data.log, data.log[at], at, making.options.struck);
    };
    while (begin > data.kept && !is_marker(begin - 1)) --begin;
    if (begin > data.kept) --begin;
  }
  data.kept = std::max(data.kept, begin);
}

void forges(const Making& making, NodeId node) {
  Node& own = node_at(making.world, node);
  Term term = true_term_of(own.data.log);
  term.group = {term.group.counter + 1, node};
  term.node = node;
  term.timeline = timeline_of(own.data.log);
  making.append_marker(node, term, own.generation);
  own.data.log.back().author = Author::forger;
}

void replays(const Making& making, NodeId node, std::uint32_t which) {
  const NodeId from{which >> 16};
  auto& had = making.world.had;
  ++(from == node ? had.replayed : had.replayed_elsewhere);
  Record marker = node_at(making.world, from).data.log[which & 0xffff];
  marker.author = Author::copier;
  making.append(node, marker);
}

void rewrites_rows(const Making& making, NodeId node, bool of_another_cluster) {
  const Node& own = node_at(making.world, node);
  Term term = own.data.log.front().term;
  if (of_another_cluster) term.group = {true_term_of(own.data.log).group.counter + 100, node};
  making.append_row(node, Kind::rows, term);
}

/// Makes a move of an administrator, of a role of the database, or of a checkpoint.
void move_of_others(const Making& making, const Move& move) {
  switch (move.what) {
    case What::sets_names:
      return sets_names(making, move.node);
    case What::recycles:
      return recycles(making, move.node, move.which != 0);
    case What::repeats:
      return repeats(making, move.node);
    case What::forges:
      return forges(making, move.node);
    case What::replays:
      return replays(making, move.node, move.which);
    case What::rewrites_rows:
      return rewrites_rows(making, move.node, move.which != 0);
    case What::refuses:
      node_at(making.world, move.node).refuses = true;
      return;
    default:
      return;
  }
}

}  // namespace

void make(PostgresWorld& world, const Options& options, const Move& move, Counts* counts) {
  const Making making{world, options, counts};
  const NodeId node = move.node;
  Node& own = node_at(world, node);
  count(making, move.what);
  switch (move.what) {
    case What::performs:
      return making.performs(node);
    case What::takes_hangup:
      return making.takes_hangup(node);
    case What::all_have_it:
      return making.tell(node, AllHaveIt{own.defined});
    case What::promoted:
    case What::promotes:
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
    case What::upgrades:
      return making.lives(node, move.what);
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
    default:
      return move_of_others(making, move);
  }
}

std::string in_words(const PostgresWorld& world, const Move& move) {
  std::string said = named(move.node) + " ";
  said += enumerator_name(move.what);
  std::replace(said.begin(), said.end(), '_', ' ');
  const Node& node = node_at(world, move.node);
  const bool of_order = move.what == What::performs || move.what == What::fails;
  if (of_order && node.life && !node.life->doing.empty())
    said += " " + std::string(alternative_name(node.life->doing.front().order.what));
  if (move.which != 0) said += " " + std::to_string(move.which);
  return said;
}

// All logs begin with the row that `create` writes, which names the first timeline.
PostgresWorld begun(const Options& options) {
  PostgresWorld world;
  const NodeId first{1};
  const Term before_all{GroupNumber{0, first}, first, 1, Lsn{}};
  const Log log{{Kind::row, first, 1, 1, before_all, 1, {}, 0, {}, 0, false}};
  world.terms.push_back({before_all, {}, 1});
  world.nodes.resize(options.nodes);
  world.nodes.back().witness = options.witness;
  for (Node& node : world.nodes)
    if (!node.witness) {
      node.data = {log, 1, 1, true, {}, false, 0, {}};
      node.old = options.upgrade;
      node.rows_ended = !options.upgrade;
    }
  world.nodes.front().written = 1;
  const NodeSet of_next = options.next ? options.next->nodes : NodeSet{};
  for (NodeId node : of_next) {
    if (node.value <= options.nodes) continue;
    Node& joined = world.nodes.emplace_back();
    joined.generation = options.next->generation;
    joined.data = {log, 1, 1, true, {}, false, 0, {}};
    joined.note = Note{};  // this node has joined, and clones from the primary later
  }
  return world;
}

bool is_open(const PostgresWorld& world, NodeId node) {
  const Node& own = node_at(world, node);
  return own.postgres && !own.postgres->orphan && own.postgres->primary && own.life &&
         own.life->keeper.open;
}

bool is_writing(const PostgresWorld& world, NodeId node) {
  return is_open(world, node) && !node_at(world, node).postgres->acknowledger;
}

namespace {

bool is_following(const PostgresWorld& world, NodeId node, NodeId primary) {
  const Node& own = node_at(world, node);
  return own.postgres && !own.note && own.postgres->receiver &&
         own.postgres->receiver->from == primary && own.postgres->conf.counts &&
         served_by(world, node);
}

}  // namespace

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
