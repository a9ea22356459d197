// How the model performs a keeper's orders. An order has several stages if a failure between two of
// its steps matters.

#include "apps/postgres/lab/postgres_world.hpp"

#include <algorithm>
#include <optional>

namespace muster::postgres::lab {

namespace {

/// True if the PostgreSQL runs and has not lost its postmaster.
bool runs(const Node& node) {
  return node.postgres && !node.postgres->orphan;
}

std::uint32_t records(const Log& log) {
  return static_cast<std::uint32_t>(log.size());
}

bool is_source(const PostgresWorld& world, NodeId node, NodeId source) {
  return runs(node_at(world, source)) && reach(world, node, source);
}

Log flushed_log(const Data& data) {
  return {data.log.begin(), data.log.begin() + data.flushed};
}

/// True if this node has written the term of this group.
bool has_written(const Node& node, GroupNumber group) {
  const auto end = node.data.log.begin() + node.data.flushed;
  return std::any_of(node.data.log.begin(), end, [&](const Record& record) {
    return (record.kind == Kind::marker || record.kind == Kind::row) &&
           record.author == Author::muster && record.term.group == group;
  });
}

/// The terms of the log that has the term of this group, up to that term.
std::vector<Term> terms_until(const PostgresWorld& world, GroupNumber group) {
  std::vector<Term> terms;
  for (auto at = world.terms.rbegin(); at != world.terms.rend(); ++at) {
    if (at->term.group != group) continue;
    terms.insert(terms.begin(), at->term);
    group = at->before;
  }
  return terms;
}

/// True if other nodes can read the lineage of this group from this node. A primary records its
/// term before. If it showed its lineage first, another node could throw its data away for a clone
/// of a log in which nothing says which group wrote it.
bool shows_lineage(const Node& node, GroupNumber group, const Options& options) {
  const bool records = !node.old && stands(options.struck, Line::counted_is_recorded);
  return has_written(node, group) &&
         (!records || (node.at_least && node.at_least->term.group >= group));
}

/// True if this node reads terms from its table only.
bool reads_rows_only(const Node& node, const Options& options) {
  return node.old || !stands(options.struck, Line::markers_decide);
}

/// True if the node that this standby follows has removed the log that the standby needs next.
bool is_gone(const PostgresWorld& world, NodeId standby, NodeId of) {
  return is_source(world, standby, of) && !node_at(world, standby).postgres->receiver &&
         node_at(world, standby).data.log.size() < node_at(world, of).data.kept;
}

bool are_copied(const PostgresWorld& world, NodeId node, Lsn end, const Options& options) {
  const Copies wanted = copies_of(options, node_at(world, node).generation);
  NodeSet copies;
  for (const Walsender& walsender : node_at(world, node).postgres->walsenders)
    if (walsender.counts && walsender.flushed >= end.value && wanted.nodes.contains(walsender.to))
      copies.insert(walsender.to);
  return copies.size() + 1 >= wanted.of_commit;
}

bool is_followed(const PostgresWorld& world, NodeId id, const Options& options) {
  const Copies wanted = copies_of(options, node_at(world, id).generation);
  NodeSet followers;
  for (const Walsender& walsender : node_at(world, id).postgres->walsenders)
    if (walsender.counts && reach(world, id, walsender.to)) followers.insert(walsender.to);
  return followers.size() + 1 >= wanted.of_commit;
}

/// True if an order can go on, for each kind of order.
struct Ready {
  const PostgresWorld& world;
  const Options& options;
  NodeId id;
  const Node& node;
  std::uint8_t stage;

  bool operator()(const Begin&) const {
    return !node.postgres && (!node.refuses || stands(options.struck, Line::files_are_evidence));
  }
  // An orderly shutdown waits until each walsender's standby has everything or is gone.
  bool operator()(const End&) const {
    if (stage == 0 || !runs(node)) return true;
    const auto& walsenders = node.postgres->walsenders;
    return std::all_of(walsenders.begin(), walsenders.end(), [&](const Walsender& walsender) {
      return walsender.flushed >= node.data.log.size();
    });
  }
  bool operator()(const ShowConf&) const { return !runs(node) || !node.postgres->hangup; }
  // The plain test `replay >= receive` can be true although a walreceiver is about to receive more.
  // So the rule `receiver_ends_first` demands that no walreceiver is left.
  bool operator()(const FinishReplay&) const {
    if (!runs(node) || !stands(options.struck, Line::receiver_ends_first)) return true;
    return !node.postgres->receiver && !node.postgres->hangup;
  }
  bool operator()(const Promote&) const {
    return stage == 0 || !runs(node) || node.postgres->primary;
  }
  bool operator()(const AwaitMarker& order) const {
    return !runs(node) || node.postgres->primary || shows_group(options, node, order.group) ||
           (stands(options.struck, Line::gone_log_is_cloned) && is_gone(world, id, order.of));
  }
  bool operator()(const AwaitLogGone& order) const {
    return !runs(node) || node.postgres->primary || is_gone(world, id, order.of);
  }
  bool operator()(const AwaitCopies& order) const {
    return !runs(node) || are_copied(world, id, order.lsn, options);
  }
  bool operator()(const AwaitFollower&) const {
    return !runs(node) || is_followed(world, id, options);
  }
  // Each time this order ends, the keeper wants an election. After that election the same order is
  // given again and can end again.
  bool operator()(const AwaitNoFollower&) const {
    return !runs(node) || (!is_followed(world, id, options) && !node.life->wants_election);
  }
  bool operator()(const ReadLineage& order) const {
    return is_source(world, id, order.of) && node_at(world, order.of).postgres->primary &&
           (shows_lineage(node_at(world, order.of), order.group, options) ||
            !stands(options.struck, Line::marker_of_the_group));
  }
  bool operator()(const AwaitStreaming&) const {
    if (!runs(node) || served_by(world, id)) return true;
    const auto& follows = node.postgres->conf.follows;
    return follows && !node.postgres->hangup && is_source(world, id, *follows) &&
           !can_connect(world, id, options);
  }
  bool operator()(const auto&) const { return true; }
};

/// The result of the next stage of an order. None: the order has another stage.
struct Perform {
  const Making& making;
  NodeId id;
  Node& node;
  std::uint8_t stage;
  using Result = std::optional<AnyEvent>;

  Result operator()(const Begin&) const {
    if (!node.data.whole) return Failed{"the data directory is incomplete"};
    if (stands(making.options.struck, Line::slots_end_first)) node.data.slots.reset();
    if (node.data.fetched_again && !stands(making.options.struck, Line::short_files_go))
      node.data.log.resize(std::max(*node.data.fetched_again, 1U));
    node.data.fetched_again.reset();
    node.data.was_primary = false;
    node.data.flushed = records(node.data.log);  // recovery flushes the whole log
    node.postgres = Postgres{};
    node.postgres->conf = node.conf;
    node.postgres->generation = node.generation;
    node.postgres->replayed = node.data.flushed;
    return Began{};
  }
  Result operator()(const End& order) const {
    const bool drains = order.how == Shutdown::fast && runs(node) && node.postgres->primary;
    if (drains && stage == 0) {
      node.postgres->draining = true;
      node.postgres->waiting.clear();
      making.append(id, Kind::shutdown);
      return {};
    }
    node.postgres.reset();
    return Ended{};
  }
  Result operator()(const Configure& order) const {
    if (stage == 0) {
      node.conf = order.conf;
      return {};
    }
    if (node.postgres) node.postgres->hangup = true;
    return Configured{};
  }
  Result operator()(const ShowConf&) const { return ConfShown{}; }
  // A standby can connect again before the slots are dropped.
  Result operator()(const CloseGate&) const {
    node.postgres->acknowledger = false;
    auto& walsenders = node.postgres->walsenders;
    if (!walsenders.empty()) {
      walsenders.clear();
      return {};
    }
    if (stands(making.options.struck, Line::slots_are_the_gate)) node.data.slots.reset();
    return GateClosed{};
  }
  Result operator()(const FinishReplay&) const {
    if (node.postgres->primary) return Failed{"it is no standby any more"};
    if (!node.postgres->receiver) node.data.flushed = records(node.data.log);
    node.postgres->replayed = node.data.flushed;
    return Replayed{};
  }
  Result operator()(const Look&) const {
    const bool primary = node.postgres->primary;
    const Seen seen = look_at(making.options, node,
                              primary ? node.data.flushed : node.postgres->replayed, primary);
    node.term = seen.holding.term;
    return seen;
  }
  Result operator()(const Promote&) const {
    if (stage == 0) {
      node.postgres->promoting = !node.postgres->primary;
      return {};
    }
    return Promoted{};
  }
  Result operator()(const WriteMarker& order) const {
    if (stage == 0) {
      const Term term{order.group, id, timeline_of(node.data.log), Lsn{node.data.log.size()}};
      making.world.terms.push_back({term, node.term.group, node.generation});
      if (!node.old) making.append_marker(id, term, node.generation);
      if (!node.rows_ended || reads_rows_only(node, making.options))
        making.append_row(id, Kind::row, term);
      return {};
    }
    node.data.flushed = records(node.data.log);
    const Term term = true_term_of(node.data.log);
    node.term = term;
    making.records_term(id, {term, node.generation});
    node.data.slots = order.group;
    return MarkerWritten{term, Lsn{node.data.flushed}};
  }
  Result operator()(const AwaitMarker& order) const {
    if (node.postgres->primary) return NoStandby{};
    if (!shows_group(making.options, node, order.group)) return LogGone{};
    const auto marker =
        marker_in(node.data.log, node.data.kept, node.data.flushed, making.options.struck);
    if (marker && marker->term.group == order.group)
      making.records_term(id, {marker->term, marker->generation});
    else
      making.records_term(id, greatest_row(node.data.log, node.data.flushed));
    return MarkerHeld{};
  }
  Result operator()(const AwaitLogGone&) const {
    if (node.postgres->primary) return NoStandby{};
    return LogGone{};
  }
  Result operator()(const AwaitCopies&) const { return CopiesHold{}; }
  Result operator()(const Kick&) const {
    making.append(id, Kind::kick);
    return Kicked{Lsn{records(node.data.log)}};
  }
  Result operator()(const Checkpoint&) const { return Checkpointed{}; }
  Result operator()(const Acknowledge&) const {
    node.postgres->acknowledger = true;
    making.acknowledge_without_copies(id);
    return Acknowledges{};
  }
  Result operator()(const EndAcknowledger&) const {
    node.postgres->acknowledger = false;
    return AcknowledgerGone{};
  }
  Result operator()(const AwaitFollower&) const { return FollowerThere{}; }
  Result operator()(const AwaitNoFollower&) const { return FollowerGone{}; }
  Result operator()(const ReadLineage& order) const {
    const Node& of = node_at(making.world, order.of);
    Lineage lineage = timelines_of(of.data.log, of.data.flushed);
    if (reads_rows_only(of, making.options) || reads_rows_only(node, making.options)) {
      for (const Listed& row : table_of(of.data.log, of.data.flushed))
        lineage.terms.push_back(row.term);
    } else {
      node.rows_ended = node.rows_ended || of.rows_ended;
      const bool written = has_written(of, order.group);
      lineage.terms = terms_until(making.world, written ? order.group : of.term.group);
    }
    return LineageRead{lineage};
  }
  // A node that was rewound records the term of its source before the note goes. If the markers in
  // its log are gone, it would otherwise report less than the note.
  Result operator()(const WriteNote& order) const {
    if (!order.note && node.life->keeper.source) record_term_of_source();
    node.note = order.note;
    return Noted{};
  }
  Result operator()(const Rewind& order) const {
    if (!is_source(making.world, id, order.from)) return Failed{"the source is gone"};
    if (node.data.was_primary) return Failed{"somebody else has promoted it"};
    if (stage == 0) {
      node.data.whole = false;
      return {};
    }
    const Data& source = node_at(making.world, order.from).data;
    rewind(flushed_log(source), source.kept);
    if (making.counts) ++making.counts->rewinds;
    return Resynced{};
  }
  Result operator()(const Clone& order) const {
    if (!is_source(making.world, id, order.from)) return Failed{"the source is gone"};
    if (stage == 0) return {};  // the copy is made in another directory
    const Data& source = node_at(making.world, order.from).data;
    const Log log = flushed_log(source);
    // A base backup has only the log from its own checkpoint on. The record of its term replaces
    // the record of the old data in the same moment, since the numbers of timelines and positions
    // do not show to which of the two logs a record belongs.
    const bool recycled = making.options.troubles.recycled > 0;
    node.data = {
        log, records(log), timeline_of(log), true, {}, false, recycled ? source.flushed : 0, {}};
    if (node.life->keeper.source) record_term_of_source();
    if (making.counts) ++making.counts->clones;
    return Resynced{};
  }
  Result operator()(const AwaitStreaming&) const {
    if (served_by(making.world, id)) return Streams{};
    return Failed{"the primary does not send from there"};
  }
  // Messages to the node are no orders to a PostgreSQL, so nothing performs them here.
  Result operator()(const auto&) const { return {}; }

  void record_term_of_source() const {
    const Log& log = node.data.log;
    const GroupNumber group = node.life->keeper.source->group;
    const auto known = std::find_if(making.world.terms.begin(), making.world.terms.end(),
                                    [&](const Known& each) { return each.term.group == group; });
    if (known == making.world.terms.end()) return;
    if (has(log, node.data.flushed, known->term.timeline, known->term.lsn))
      making.records_term(id, {known->term, known->generation});
  }

  void rewind(const Log& source, std::uint32_t kept) const {
    Data& own = node.data;
    own.whole = true;
    if (timeline_of(source) == timeline_of(own.log)) return;  // "no rewind required"
    if (parting(source, own.log) > common(source, own.log))
      making.complain(named(id) + " is rewound to a point after the one where the logs diverged");
    own = {
        source, records(source), std::max(own.newest, timeline_of(source)), true, {}, false, kept,
        {}};
  }
};

/// True for the orders that a model without a PostgreSQL cannot perform.
bool needs_postgres(const postgres::What& what) {
  using NeedNone = std::variant<Begin, End, Configure, ReadLineage, WriteNote, Rewind, Clone>;
  return std::visit(
      []<class Order>(const Order&) {
        return boost::mp11::mp_contains<Performed, Order>::value &&
               !boost::mp11::mp_contains<NeedNone, Order>::value;
      },
      what);
}

}  // namespace

bool can_perform(const PostgresWorld& world, NodeId node, const Options& options) {
  const Node& own = node_at(world, node);
  if (!own.life || own.life->doing.empty()) return false;
  const Doing& first = own.life->doing.front();
  return std::visit(Ready{world, options, node, own, first.stage}, first.order.what);
}

void Making::performs(NodeId node) const {
  Node& own = node_at(world, node);
  Doing& first = own.life->doing.front();
  const Order order = first.order;
  std::optional<AnyEvent> result;
  if (needs_postgres(order.what) && !runs(own))
    result = Failed{"PostgreSQL does not run"};
  else
    result = std::visit(Perform{*this, node, own, first.stage}, order.what);
  if (!result) {
    ++first.stage;
    return;
  }
  own.life->doing.erase(own.life->doing.begin());
  tell(node, *result, order.round);
}

void Making::fails(NodeId node, bool before_data) const {
  if (before_data && counts) ++counts->early_ends;
  auto& doing = node_at(world, node).life->doing;
  const Order order = doing.front().order;
  doing.erase(doing.begin());
  if (const auto* copies = std::get_if<AwaitCopies>(&order.what); copies && copies->bounded)
    return tell(node, FollowerGone{}, order.round);
  tell(node, Failed{"it could not be done", before_data}, order.round);
}

}  // namespace muster::postgres::lab
