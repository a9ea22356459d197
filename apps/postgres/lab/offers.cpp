// Which moves are possible.

#include "apps/postgres/lab/postgres_world.hpp"

#include <algorithm>

namespace muster::postgres::lab {

namespace {

/// True if this election has stopped all of its members.
bool have_reported(const PostgresWorld& world, const Election& election) {
  return std::all_of(election.members.begin(), election.members.end(), [&](NodeId node) {
    const auto& life = node_at(world, node).life;
    return life && life->halted == election.group && life->activity == Activity::stopped;
  });
}

/// True if this node waits for the marker of that term, and its log has all that the primary has
/// written.
bool waits_for_marker(const Options& options, const Node& node, const Node& primary,
                      const Term& term) {
  if (!node.life || !node.postgres || !node.postgres->receiver || node.life->doing.empty())
    return false;
  const auto* awaits = std::get_if<AwaitMarker>(&node.life->doing.front().order.what);
  return awaits && awaits->group == term.group && awaits->of == term.node &&
         node.data.flushed == primary.data.log.size() && !shows_group(options, node, term.group);
}

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
      if (own.postgres && has_to_repeat(node)) add(What::repeats, node);
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

  // A primary repeats its marker all the time. That matters if the log that is kept has none.
  [[nodiscard]] bool has_to_repeat(NodeId node) const {
    const auto term = repeated_term(world_, node, options_);
    if (!term) return false;
    const Node& own = node_at(world_, node);
    if (!own.rows_ended && may_end_rows(world_, node, options_)) return true;
    const auto marker = marker_in(own.data.log, own.data.kept,
                                  static_cast<std::uint32_t>(own.data.log.size()), options_.struck);
    if (!marker || marker->term != *term) return true;
    return std::any_of(world_.nodes.begin(), world_.nodes.end(), [&](const Node& other) {
      return waits_for_marker(options_, other, own, *term);
    });
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
      if (walsender.flushed < walsender.told || would_release(node, walsender))
        add(What::hears, node, at);
      if (served_by(world_, walsender.to) != &walsender || !reach(world_, node, walsender.to))
        add(What::walsender_ends, node, at);
    }
  }

  // A standby sends its status every few seconds, even without news.
  [[nodiscard]] bool would_release(NodeId node, const Walsender& walsender) const {
    const auto& waiting = node_at(world_, node).postgres->waiting;
    return walsender.counts && served_by(world_, walsender.to) == &walsender &&
           std::any_of(waiting.begin(), waiting.end(),
                       [&](const Session& session) { return session.at < walsender.flushed; });
  }

  void of_life(NodeId node, const PostgresLife& life) {
    if (may(&Troubles::elections) && !life.leaving)
      for (std::uint32_t set = 0; set < 1U << world_.nodes.size(); ++set)
        if (is_in(node, set) && all_are_reached(node, set)) add(What::elects, node, set);
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

  // The lab lets at most one node lose its data, since it is possible that only two nodes hold a
  // commit.
  void of_dead(NodeId node, const Node& own) {
    if (own.generation > 1 || !has_ended(node)) add(What::lives, node);
    if (may_go_on(node)) add(What::goes_on, node);
    if (own.old) add(What::upgrades, node);
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

  /// True if nodes have changed to the next list, and this node is not in that list.
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

  // True if the node is the sole holder. If a sole holder loses its data, commits that no other
  // node has are lost, and then no node writes any more.
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

  // Elections are tried only with sets of nodes that can all be reached, so that no set is tried
  // twice.
  [[nodiscard]] bool all_are_reached(NodeId coordinator, std::uint32_t set) const {
    for (NodeId node : all_nodes(world_))
      if (is_in(node, set) && !can_take_part(coordinator, node)) return false;
    return true;
  }

  [[nodiscard]] bool can_take_part(NodeId coordinator, NodeId node) const {
    const auto& life = node_at(world_, node).life;
    return life && !life->leaving && can_talk(world_, coordinator, node);
  }

  // A client writes wherever it can, even if PostgreSQL is read-only by default.
  void trouble_of_postgres(NodeId node, const Postgres& postgres) {
    if (postgres.primary && !postgres.draining && may(&Troubles::commits)) add(What::commits, node);
    if (may(&Troubles::settings) && !postgres.unnamed) add(What::sets_names, node);
    const Data& data = node_at(world_, node).data;
    if (may(&Troubles::promotions) && !postgres.primary && !postgres.promoting && !postgres.orphan)
      add(What::promotes, node);
    if (may(&Troubles::recycled) && data.kept < data.flushed && !postgres.orphan)
      for (const std::uint32_t all : {0U, 1U}) add(What::recycles, node, all);
    if (may(&Troubles::repeats) && repeated_term(world_, node, options_)) add(What::repeats, node);
    if (may(&Troubles::refusals) && !postgres.primary && !node_at(world_, node).refuses)
      add(What::refuses, node);
    if (postgres.primary && !postgres.draining) trouble_of_roles(node, data.log);
    if (may(&Troubles::postgres_kills) && !postgres.orphan) add(What::postgres_killed, node);
  }

  // A role can write a message wherever a client can write.
  void trouble_of_roles(NodeId node, const Log& log) {
    if (may(&Troubles::forged)) add(What::forges, node);
    for (NodeId other : data_nodes(world_)) {
      if (!may(other == node ? &Troubles::replayed : &Troubles::replayed_elsewhere)) continue;
      const Log& from = node_at(world_, other).data.log;
      for (std::uint32_t at = 0; at < from.size(); ++at)
        if (is_valid_again(from[at], log)) add(What::replays, node, replay_of(other, at));
    }
    for (const std::uint32_t foreign : {0U, 1U})
      if (may(&Troubles::rewritten)) add(What::rewrites_rows, node, foreign);
  }

  /// True if a reader accepts this marker at the end of this log.
  [[nodiscard]] bool is_valid_again(Record marker, const Log& log) const {
    if (marker.author != Author::muster) return false;
    marker.timeline = timeline_of(log);
    return is_valid(log, marker, static_cast<std::uint32_t>(log.size()), options_.struck);
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
