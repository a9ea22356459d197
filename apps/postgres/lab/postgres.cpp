// What a PostgreSQL does of itself: connections, copies, acknowledgements.

#include "apps/postgres/lab/postgres_world.hpp"

#include <algorithm>

namespace muster::postgres::lab {

namespace {

std::string named(NodeId node) {
  return "node " + std::to_string(node.value);
}

bool is_open(const Walsender& walsender, const Copies& copies, const Options& options) {
  if (walsender.mending || !copies.nodes.contains(walsender.to)) return false;
  return walsender.names == Names::open || !stands(options.struck, Line::names_are_the_gate);
}

bool holds(const Log& log, const Acknowledged& one) {
  return one.at < log.size() && log[one.at] == one.record;
}

GroupNumber group_of(const Log& log) {
  return term_of(log, static_cast<std::uint32_t>(log.size())).group;
}

}  // namespace

const Walsender* served_by(const PostgresWorld& world, NodeId node) {
  const auto& own = node_at(world, node).postgres;
  if (!own || !own->receiver) return nullptr;
  const auto& other = node_at(world, own->receiver->from).postgres;
  if (!other) return nullptr;
  for (const Walsender& walsender : other->walsenders)
    if (walsender.to == node && walsender.connection == own->receiver->connection)
      return &walsender;
  return nullptr;
}

bool can_connect(const PostgresWorld& world, NodeId node, const Options& options) {
  const Node& own = node_at(world, node);
  const auto& standby = own.postgres;
  if (!standby || standby->primary || standby->receiver || !standby->conf.follows) return false;
  const NodeId from = *standby->conf.follows;
  const Node& other = node_at(world, from);
  if (!other.postgres || other.postgres->orphan || other.postgres->draining ||
      !reach(world, node, from))
    return false;
  const bool has_slot =
      other.data.slots == standby->conf.group ||
      !stands(options.struck, Line::group_in_every_follow) ||
      !stands(options.struck, Line::row_of_the_group);  // with which slots are made
  const auto& walsenders = other.postgres->walsenders;
  const bool is_free = std::none_of(walsenders.begin(), walsenders.end(),
                                    [&](const auto& w) { return w.to == node; });
  if (!has_slot || (!is_free && stands(options.struck, Line::one_walsender_each))) return false;
  return would_send(other.data.log, other.data.flushed, own.data.log);
}

void Making::connects(NodeId node) const {
  Node& own = node_at(world, node);
  const NodeId from = *own.postgres->conf.follows;
  Node& other = node_at(world, from);
  std::uint32_t connection = 0;
  for (const Walsender& walsender : other.postgres->walsenders)
    if (walsender.to == node) connection = std::max(connection, walsender.connection + 1);
  own.postgres->receiver = Receiver{from, connection};
  own.data.newest = std::max(own.data.newest, timeline_of(other.data.log));
  const Conf& conf = other.postgres->conf;  // as the postmaster has it when it forks
  other.postgres->walsenders.push_back(
      {node, connection, own.postgres->conf.mending, conf.names, false, own.data.flushed, 0});
}

void Making::receives(NodeId node) const {
  Data& own = node_at(world, node).data;
  const NodeId from = node_at(world, node).postgres->receiver->from;
  const Log& log = node_at(world, from).data.log;
  const std::size_t at = own.log.size();
  if (at > 0 && log[at - 1] != own.log.back())
    complain(named(node) + " follows the log of " + named(from) +
             ", which does not continue its own");
  own.log.push_back(log[at]);
}

void Making::tell_flushed(NodeId node) const {
  Node& own = node_at(world, node);
  own.data.flushed = static_cast<std::uint32_t>(own.data.log.size());
  if (own.postgres->primary) return relax(node);
  if (!served_by(world, node)) return;
  const Receiver& receiver = *own.postgres->receiver;
  if (!reach(world, node, receiver.from)) return;
  for (Walsender& walsender : node_at(world, receiver.from).postgres->walsenders)
    if (walsender.to == node && walsender.connection == receiver.connection)
      walsender.told = own.data.flushed;
}

// SyncRepReleaseWaiters, in the walsender that has heard it: by its own names, of all whose own
// names list their standby.
void Making::hears(NodeId node, std::uint32_t which) const {
  Postgres& own = *node_at(world, node).postgres;
  own.walsenders[which].flushed = own.walsenders[which].told;
  const Copies copies = copies_of(options, own.generation);
  if (!is_open(own.walsenders[which], copies, options)) return;
  const std::size_t needed = copies.of_commit - 1;
  const bool once = stands(options.struck, Line::one_walsender_each);
  std::vector<std::pair<std::uint32_t, NodeId>> flushed;
  for (const Walsender& walsender : own.walsenders)
    if (is_open(walsender, copies, options)) flushed.emplace_back(walsender.flushed, walsender.to);
  std::sort(flushed.rbegin(), flushed.rend());
  NodeSet counted;
  std::size_t count = 0;
  for (const auto& [records, to] : flushed) {
    if (once && counted.contains(to)) continue;
    counted.insert(to);
    if (++count == needed) return acknowledge_all(node, records);
  }
}

void Making::acknowledge_all(NodeId node, std::uint32_t copied) const {
  auto& waiting = node_at(world, node).postgres->waiting;
  const auto enough = [&](const Session& session) {
    return session.at < copied && session.at < node_at(world, node).data.flushed;
  };
  for (const Session& session : waiting)
    if (enough(session)) acknowledge(node, session);
  std::erase_if(waiting, enough);
}

void Making::acknowledge(NodeId node, const Session& session) const {
  const Log& log = node_at(world, node).data.log;
  const GroupNumber group = group_of(log);
  const Acknowledged one{session.at, log[session.at]};
  if (group < session.newest_at_start)
    complain(named(node) + " acknowledges a commit that was sent after a newer group's first");
  for (const Node& other : world.nodes)
    if (other.postgres && other.postgres->primary && other.postgres->conf.names != Names::sealed &&
        group < group_of(other.data.log) && !holds(other.data.log, one))
      complain(named(node) + " acknowledges a commit that a newer open primary has not");
  world.acknowledged.push_back(one);
  world.newest = std::max(world.newest, group);
  if (counts) ++counts->acknowledged;
}

// Where the line is struck that names are never relaxed: who has lost its standbys goes on alone.
void Making::relax(NodeId node) const {
  const Node& own = node_at(world, node);
  if (!own.postgres->primary) return;
  if (!own.postgres->waits) return acknowledge_all(node, own.data.flushed);
  if (stands(options.struck, Line::names_never_relaxed)) return;
  if (own.postgres->conf.names == Names::open && own.postgres->walsenders.empty())
    acknowledge_all(node, own.data.flushed);
}

// A primary of an older group that opens late is harmless: nobody is left to acknowledge for it.
void Making::is_opened(NodeId node) const {
  const Node& own = node_at(world, node);
  if (!own.postgres->primary || own.postgres->conf.names == Names::sealed) return;
  if (group_of(own.data.log) < world.newest) return;
  for (const Acknowledged& one : world.acknowledged)
    if (!holds(own.data.log, one))
      return complain(named(node) + " opens, and an acknowledged commit is not in its log");
}

void Making::takes_hangup(NodeId node) const {
  Node& own = node_at(world, node);
  Postgres& postgres = *own.postgres;
  const Conf before = std::exchange(postgres.conf, own.conf);
  postgres.hangup = false;
  for (Walsender& walsender : postgres.walsenders) walsender.hangup = true;
  postgres.checkpointer_hangup = options.witness;
  const bool same = before.follows == own.conf.follows && before.mending == own.conf.mending &&
                    before.group == own.conf.group;
  if (postgres.receiver && !same) {
    postgres.receiver.reset();  // which flushes what it has written
    own.data.flushed = static_cast<std::uint32_t>(own.data.log.size());
  }
  is_opened(node);
}

void Making::walsender_takes_hangup(NodeId node, std::uint32_t which) const {
  Node& own = node_at(world, node);
  Walsender& walsender = own.postgres->walsenders[which];
  walsender.hangup = false;
  walsender.names = own.conf.names;
}

// SyncRepUpdateSyncStandbysDefined: who waits already is released where nothing is waited for.
void Making::checkpointer_takes_hangup(NodeId node) const {
  Postgres& postgres = *node_at(world, node).postgres;
  postgres.checkpointer_hangup = false;
  postgres.waits = node_at(world, node).conf.names != Names::alone;
  relax(node);
}

void Making::walsender_ends(NodeId node, std::uint32_t which) const {
  auto& walsenders = node_at(world, node).postgres->walsenders;
  walsenders.erase(walsenders.begin() + which);
  relax(node);
}

void Making::append(NodeId node, Kind kind, GroupNumber group) const {
  Node& own = node_at(world, node);
  own.data.log.push_back({kind, node, ++own.written, std::max(timeline_of(own.data.log), 1U), group,
                          kind == Kind::row ? own.generation : 0});
}

// All that was received is replayed before.
void Making::promoted(NodeId node) const {
  Node& own = node_at(world, node);
  Postgres& postgres = *own.postgres;
  own.data.newest = std::max(own.data.newest, timeline_of(own.data.log)) + 1;
  append(node, Kind::promotion);
  own.data.log.back().timeline = own.data.newest;
  own.data.flushed = postgres.replayed = static_cast<std::uint32_t>(own.data.log.size());
  postgres.primary = true;
  postgres.promoting = false;
  postgres.receiver.reset();
  is_opened(node);
  if (counts) ++counts->promotions;
}

}  // namespace muster::postgres::lab
