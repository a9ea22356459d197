// What the model does of a keeper's orders. Each has as many stages as there are points between
// which it matters that something dies.

#include "apps/postgres/lab/postgres_world.hpp"

#include <algorithm>
#include <optional>

namespace muster::postgres::lab {

namespace {

/// It runs, and answers to whom it belongs.
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

bool shows_row(const Node& node, GroupNumber group) {
  for (std::uint32_t at = 0; at < node.data.flushed; ++at)
    if (node.data.log[at].kind == Kind::row && node.data.log[at].group == group) return true;
  return false;
}

bool are_copied(const PostgresWorld& world, NodeId node, Lsn end, const Options& options) {
  const Copies wanted = copies_of(options, node_at(world, node).generation);
  NodeSet copies;
  for (const Walsender& walsender : node_at(world, node).postgres->walsenders)
    if (!walsender.mending && walsender.flushed >= end.value && wanted.nodes.contains(walsender.to))
      copies.insert(walsender.to);
  return copies.size() + 1 >= wanted.of_commit;
}

bool is_followed(const PostgresWorld& world, NodeId id, const Options& options) {
  const Copies wanted = copies_of(options, node_at(world, id).generation);
  NodeSet followers;
  for (const Walsender& walsender : node_at(world, id).postgres->walsenders)
    if (!walsender.mending && reach(world, id, walsender.to)) followers.insert(walsender.to);
  return followers.size() + 1 >= wanted.of_commit;
}

/// Whether an order can go on, by what it is.
struct Ready {
  const PostgresWorld& world;
  const Options& options;
  NodeId id;
  const Node& node;
  std::uint8_t stage;

  bool operator()(const Begin&) const { return !node.postgres; }
  // A walsender goes when its standby has all, or is not there any more.
  bool operator()(const End&) const {
    if (stage == 0 || !runs(node)) return true;
    const auto& walsenders = node.postgres->walsenders;
    return std::all_of(walsenders.begin(), walsenders.end(), [&](const Walsender& walsender) {
      return walsender.flushed >= node.data.log.size();
    });
  }
  bool operator()(const ShowNames& order) const {
    return !runs(node) || node.postgres->conf.names == order.names;
  }
  // `replay >= receive` is true with a walreceiver that is about to have more.
  bool operator()(const FinishReplay&) const {
    if (!runs(node) || !stands(options.struck, Line::receiver_ends_first)) return true;
    return !node.postgres->receiver && !node.postgres->hangup;
  }
  bool operator()(const Promote&) const {
    return stage == 0 || !runs(node) || node.postgres->primary;
  }
  bool operator()(const AwaitCopies& order) const {
    return !runs(node) || are_copied(world, id, order.lsn, options);
  }
  bool operator()(const AwaitFollower&) const {
    return !runs(node) || is_followed(world, id, options);
  }
  // It wants an election each time, as though time passed between.
  bool operator()(const AwaitNoFollower&) const {
    return !runs(node) || (!is_followed(world, id, options) && !node.life->wants_election);
  }
  bool operator()(const ReadLineage& order) const {
    return is_source(world, id, order.of) && node_at(world, order.of).postgres->primary &&
           (shows_row(node_at(world, order.of), order.group) ||
            !stands(options.struck, Line::row_of_the_group));
  }
  bool operator()(const AwaitStreaming&) const {
    if (!runs(node) || served_by(world, id)) return true;
    const auto& follows = node.postgres->conf.follows;
    return follows && !node.postgres->hangup && is_source(world, id, *follows) &&
           !can_connect(world, id, options);
  }
  bool operator()(const auto&) const { return true; }
};

/// What comes of the next stage of an order; none: it is not its last.
struct Perform {
  const Making& making;
  NodeId id;
  Node& node;
  std::uint8_t stage;
  using Result = std::optional<HasHappened>;

  Result operator()(const Begin&) const {
    if (!node.data.whole) return Failed{"the data directory is half of something"};
    node.data.flushed = records(node.data.log);  // a recovery flushes all that is there
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
  Result operator()(const ShowNames&) const { return NamesShown{}; }
  Result operator()(const EndWalsenders&) const {
    node.postgres->walsenders.clear();
    return WalsendersGone{};
  }
  Result operator()(const FinishReplay&) const {
    if (!node.postgres->receiver) node.data.flushed = records(node.data.log);
    node.postgres->replayed = node.data.flushed;
    return Replayed{};
  }
  Result operator()(const Look&) const {
    const bool primary = node.postgres->primary;
    return Seen{holding_of(making.options, node.data,
                           primary ? node.data.flushed : node.postgres->replayed, primary)};
  }
  Result operator()(const Promote&) const {
    if (stage == 0) {
      node.postgres->promoting = true;
      return {};
    }
    return Promoted{};
  }
  Result operator()(const WriteTerm& order) const {
    if (stage == 0) {
      node.data.slots = order.group;
      making.append(id, Kind::row, order.group);
      return {};
    }
    node.data.flushed = records(node.data.log);
    const Term term = term_of(node.data.log, node.data.flushed);
    return TermWritten{term, Lsn{term.lsn.value + 1}};
  }
  Result operator()(const AwaitCopies&) const { return CopiesHold{}; }
  Result operator()(const Kick&) const {
    making.append(id, Kind::kick);
    return Kicked{Lsn{records(node.data.log)}};
  }
  Result operator()(const Checkpoint&) const {
    if (node.postgres->checkpointer_hangup) making.checkpointer_takes_hangup(id);
    return Checkpointed{};
  }
  Result operator()(const AwaitFollower&) const { return FollowerThere{}; }
  Result operator()(const AwaitNoFollower&) const { return FollowerGone{}; }
  Result operator()(const ReadLineage& order) const {
    const Data& data = node_at(making.world, order.of).data;
    return LineageRead{lineage_of(data.log, data.flushed)};
  }
  Result operator()(const WriteNote& order) const {
    node.note = order.note;
    return Noted{};
  }
  Result operator()(const Rewind& order) const {
    if (!is_source(making.world, id, order.from)) return Failed{"the source is gone"};
    if (stage == 0) {
      node.data.whole = false;
      return {};
    }
    rewind(flushed_log(node_at(making.world, order.from).data));
    if (making.counts) ++making.counts->rewinds;
    return Mended{};
  }
  Result operator()(const Clone& order) const {
    if (!is_source(making.world, id, order.from)) return Failed{"the source is gone"};
    if (stage == 0) return {};  // into another directory
    const Log log = flushed_log(node_at(making.world, order.from).data);
    node.data = {log, records(log), timeline_of(log), true, {}};
    if (making.counts) ++making.counts->clones;
    return Mended{};
  }
  Result operator()(const AwaitStreaming&) const {
    if (served_by(making.world, id)) return Streams{};
    return Failed{"the primary does not send from there"};
  }
  // What is told to the node is not performed here.
  Result operator()(const auto&) const { return {}; }

  void rewind(const Log& source) const {
    Data& own = node.data;
    own.whole = true;
    if (timeline_of(source) == timeline_of(own.log)) return;  // "no rewind required"
    if (parting(source, own.log) > common(source, own.log))
      making.complain("node " + std::to_string(id.value) +
                      " is rewound to where its log is another one");
    own = {source, records(source), std::max(own.newest, timeline_of(source)), true, {}};
  }
};

bool needs_postgres(const postgres::What& what) {
  return std::holds_alternative<ShowNames>(what) || std::holds_alternative<EndWalsenders>(what) ||
         std::holds_alternative<FinishReplay>(what) || std::holds_alternative<Look>(what) ||
         std::holds_alternative<Promote>(what) || std::holds_alternative<WriteTerm>(what) ||
         std::holds_alternative<AwaitCopies>(what) || std::holds_alternative<Kick>(what) ||
         std::holds_alternative<Checkpoint>(what) || std::holds_alternative<AwaitFollower>(what) ||
         std::holds_alternative<AwaitNoFollower>(what) ||
         std::holds_alternative<AwaitStreaming>(what);
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
  std::optional<HasHappened> result;
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
