// The moves of a PostgreSQL itself: connections, copies and acknowledgements.

#include "apps/postgres/lab/postgres_world.hpp"

#include <algorithm>

namespace muster::postgres::lab {

namespace {

bool acknowledges(const Walsender& walsender, const Copies& copies) {
  return walsender.counts && copies.nodes.contains(walsender.to);
}

/// The number of records before the file of the log in which the log ends.
std::uint32_t begin_of_file(const Log& log) {
  constexpr std::uint32_t records_of_file = 4;
  return static_cast<std::uint32_t>(log.size()) / records_of_file * records_of_file;
}

bool holds(const Log& log, const Acknowledged& one) {
  return one.at < log.size() && log[one.at] == one.record;
}

GroupNumber group_of(const Log& log) {
  return true_term_of(log).group;
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
      (other.data.slots && !stands(options.struck, Line::group_in_every_follow)) ||
      !stands(options.struck, Line::marker_of_the_group);  // slots are made with the row
  const auto& walsenders = other.postgres->walsenders;
  const bool is_free = std::none_of(walsenders.begin(), walsenders.end(),
                                    [&](const auto& w) { return w.to == node; });
  if (!has_slot || (!is_free && stands(options.struck, Line::one_walsender_each))) return false;
  return own.data.log.size() >= other.data.kept &&
         would_send(other.data.log, other.data.flushed, own.data.log);
}

void Making::connects(NodeId node) const {
  Node& own = node_at(world, node);
  const NodeId from = *own.postgres->conf.follows;
  Node& other = node_at(world, from);
  std::uint32_t connection = 0;
  for (const Walsender& walsender : other.postgres->walsenders)
    if (walsender.to == node) connection = std::max(connection, walsender.connection + 1);
  own.postgres->receiver = Receiver{from, connection};
  if (const std::uint32_t newest = timeline_of(other.data.log); newest > own.data.newest) {
    own.data.newest = newest;
    own.data.fetched_again = begin_of_file(own.data.log);
  }
  other.postgres->walsenders.push_back(
      {node, connection, own.postgres->conf.counts, own.data.flushed, 0});
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
  own.fetched_again.reset();  // the records before this one were fetched again too
}

void Making::tell_flushed(NodeId node) const {
  Node& own = node_at(world, node);
  own.data.flushed = static_cast<std::uint32_t>(own.data.log.size());
  if (own.postgres->primary) return acknowledge_without_copies(node);
  if (!served_by(world, node)) return;
  const Receiver& receiver = *own.postgres->receiver;
  if (!reach(world, node, receiver.from)) return;
  for (Walsender& walsender : node_at(world, receiver.from).postgres->walsenders)
    if (walsender.to == node && walsender.connection == receiver.connection)
      walsender.told = own.data.flushed;
}

// Models SyncRepReleaseWaiters in the walsender that has read the status. The walsender acts only
// if the standby names contain its standby. It counts all walsenders of which this is true.
void Making::hears(NodeId node, std::uint32_t which) const {
  Postgres& own = *node_at(world, node).postgres;
  own.walsenders[which].flushed = own.walsenders[which].told;
  const Copies copies = copies_of(options, own.generation);
  if (!acknowledges(own.walsenders[which], copies)) return;
  const std::size_t needed = copies.of_commit - 1;
  const bool once = stands(options.struck, Line::one_walsender_each);
  std::vector<std::pair<std::uint32_t, NodeId>> flushed;
  for (const Walsender& walsender : own.walsenders)
    if (acknowledges(walsender, copies)) flushed.emplace_back(walsender.flushed, walsender.to);
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
  for (NodeId other : data_nodes(world))
    if (is_open(world, other) && group < group_of(node_at(world, other).data.log) &&
        !holds(node_at(world, other).data.log, one))
      complain(named(node) + " acknowledges a commit that a newer open primary does not have");
  world.acknowledged.push_back(one);
  world.newest = std::max(world.newest, group);
  if (counts) ++counts->acknowledged;
}

// With a witness, a primary that is alone has an acknowledger. Without one, this applies only if a
// rule is struck out: a primary that has lost its standbys then goes on alone, or the standby names
// are in a file that an administrator replaces.
void Making::acknowledge_without_copies(NodeId node) const {
  const Node& own = node_at(world, node);
  const Postgres& postgres = *own.postgres;
  if (!postgres.primary) return;
  const bool relaxed = !stands(options.struck, Line::names_never_relaxed) && own.data.slots &&
                       postgres.walsenders.empty();
  if (postgres.acknowledger || postgres.unnamed || relaxed) acknowledge_all(node, own.data.flushed);
}

// A primary of an older group can open after a newer group has begun. This does no harm, because no
// standby is left that would acknowledge for it.
void Making::is_opened(NodeId node) const {
  const Node& own = node_at(world, node);
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
  const bool same = before.follows == own.conf.follows && before.counts == own.conf.counts &&
                    before.group == own.conf.group;
  if (postgres.receiver && !same) {
    postgres.receiver.reset();  // a walreceiver that ends flushes what it has written
    own.data.flushed = static_cast<std::uint32_t>(own.data.log.size());
  }
}

void Making::walsender_ends(NodeId node, std::uint32_t which) const {
  auto& walsenders = node_at(world, node).postgres->walsenders;
  walsenders.erase(walsenders.begin() + which);
  acknowledge_without_copies(node);
}

void Making::append(NodeId node, Kind kind) const {
  Record record;
  record.kind = kind;
  append(node, record);
}

void Making::append(NodeId node, Record record) const {
  Node& own = node_at(world, node);
  record.by = node;
  record.number = ++own.written;
  record.timeline = std::max(timeline_of(own.data.log), 1U);
  own.data.log.push_back(record);
}

void Making::append_row(NodeId node, Kind kind, const Term& term) const {
  Record row;
  row.kind = kind;
  row.term = term;
  row.generation = node_at(world, node).generation;
  append(node, row);
}

void Making::append_marker(NodeId node, const Term& term, std::uint32_t generation) const {
  const Node& own = node_at(world, node);
  Record marker;
  marker.kind = Kind::marker;
  marker.term = term;
  marker.generation = generation;
  marker.at = static_cast<std::uint32_t>(own.data.log.size());
  marker.after = own.data.log.back().by;
  marker.after_number = own.data.log.back().number;
  marker.rows_ended = own.rows_ended;
  append(node, marker);
}

// PostgreSQL replays all that it has received before it is promoted.
void Making::promoted(NodeId node) const {
  Node& own = node_at(world, node);
  Postgres& postgres = *own.postgres;
  own.refuses = false;
  own.data.newest = std::max(own.data.newest, timeline_of(own.data.log)) + 1;
  append(node, Kind::promotion);
  own.data.log.back().timeline = own.data.newest;
  own.data.flushed = postgres.replayed = static_cast<std::uint32_t>(own.data.log.size());
  postgres.primary = own.data.was_primary = true;
  postgres.promoting = false;
  postgres.receiver.reset();
  own.data.fetched_again.reset();
  if (counts) ++counts->promotions;
}

}  // namespace muster::postgres::lab
