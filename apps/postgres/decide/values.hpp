#pragma once

#include <muster/values/types.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// The values that nodes exchange about their PostgreSQL: the report that a node gives at the end
/// of `stop`, and the definition that it gets with `start`.

namespace muster::postgres {

using muster::operator==;

/// A position in a log of PostgreSQL, in bytes from its beginning.
struct Lsn {
  std::uint64_t value{};
  friend auto operator<=>(const Lsn&, const Lsn&) = default;
};
MUSTER_DESCRIBE(Lsn, value);

/// Formats a position as PostgreSQL does, such as "0/3000148".
std::string to_text(Lsn lsn);
/// Reads a position in PostgreSQL's format. Returns nothing if the text is not one.
std::optional<Lsn> parse_lsn(std::string_view text);

/// The beginning of a group in a log. A primary marks it before it acknowledges any commit of its
/// group. Terms are ordered by group. Timelines never order terms, since two nodes can begin
/// timelines with the same number independently.
struct Term {
  GroupNumber group;  ///< zero: no primary has ever written
  NodeId node;        ///< the primary of the group
  std::uint32_t timeline{};
  Lsn lsn;  ///< the end of the primary's log just before it marked the term
  friend auto operator<=>(const Term&, const Term&) = default;
};
MUSTER_DESCRIBE(Term, group, node, timeline, lsn);

/// The list of the N nodes with data, and W: how many of them, including the primary, hold a commit
/// before it is acknowledged.
struct Copies {
  NodeSet nodes;       ///< all nodes that are configured to have data
  unsigned of_commit;  ///< W; with a witness it is in force only while all nodes follow
  /// Nodes without data that vote and keep promises (see Promise). Beside a witness, a primary that
  /// no node follows may go on alone.
  NodeSet witnesses{};
  /// Number of this node list. Each change of the list, or of W, takes the next number.
  std::uint32_t generation = 1;

  /// R = N - W + 1. Any R nodes have at least one node in common with any W nodes. So among R
  /// sealed nodes, at least one holds each commit that was acknowledged.
  [[nodiscard]] std::size_t to_promote() const { return nodes.size() - of_commit + 1; }
  /// How many nodes of this list have to report before the next list can begin. This is at least R,
  /// so that one of those nodes has each commit. It is also a majority, so that two different lists
  /// can never both come after this one.
  [[nodiscard]] std::size_t to_go_on() const {
    return std::max(to_promote(), nodes.size() / 2 + 1);
  }
};
MUSTER_DESCRIBE(Copies, nodes, of_commit, witnesses, generation);

/// The contents of a marker: a message in the log by which a primary marks its term. The primary
/// repeats it, so that the log that PostgreSQL keeps always has one. All markers of a group are in
/// one log, so the terms before a term never change.
struct Marker {
  Term term;
  GroupNumber before;            ///< the group of the term before, in the same log
  std::optional<Copies> copies;  ///< the list in force; none: a version that kept none has written
  /// All nodes of the list read markers. From this term on, rows of muster.term do not count.
  bool rows_ended{};
  std::uint64_t written{};  ///< when the term began, in seconds since 1970 by the primary's clock
};
MUSTER_DESCRIBE(Marker, term, before, copies, rows_ended, written);

/// The terms in all logs of the cluster, as far as a node knows them, in ascending order. They are
/// kept beside the data directory, and only grow in number.
struct KnownTerms {
  std::uint64_t system{};  ///< the system identifier of the cluster's database
  bool rows_ended{};       ///< rows of muster.term do not count any more
  std::vector<Marker> markers;
  std::string signs{};  ///< the name of the newest marker key that all nodes have; empty: any
};
MUSTER_DESCRIBE(KnownTerms, system, rows_ended, markers, signs);

/// Adds what `other` knows. True if that was news.
bool learn(KnownTerms& known, const KnownTerms& other);
/// The terms of the log that has the term of this group, up to that term, in ascending order. Empty
/// if the group is not known.
std::vector<Term> terms_until(const KnownTerms& known, const GroupNumber& group);

/// Formats nodes, such as "node 3, node 4".
std::string named(NodeId node);
std::string named(const NodeSet& nodes);

/// Formats a list, such as "generation 2, nodes 1, 2, 3, 4 with copies = 3".
std::string to_words(const Copies& copies);

/// The present contents of a sealed node.
struct Holding {
  std::uint64_t system{};  ///< PostgreSQL's system identifier
  Term term;               ///< the greatest in its log
  /// On a standby the position replayed, or, if it admits no session, the end of its log on disk.
  /// On a primary the position flushed.
  Lsn lsn;
  std::uint32_t timeline{};
  bool primary{};
  /// This node was the primary, and has shut down in order so that the node named here becomes the
  /// primary.
  std::optional<NodeId> hands_over_to{};
  /// The list that was in force when the term began. Empty: it was marked by an older version,
  /// which did not record its list.
  std::optional<Copies> copies{};
  /// This node was primary, and too few nodes received its log, so its commits could not be
  /// acknowledged.
  bool unfollowed{};
  /// With a witness: a node that was an open primary reports here which nodes have all of its
  /// acknowledged commits.
  NodeSet demanded{};
};
MUSTER_DESCRIBE(Holding, system, term, lsn, timeline, primary, hands_over_to, copies, unfollowed,
                demanded);

/// The contents of a node at some earlier time. A node that cannot be primary now reports this: one
/// that is being rewound or cloned, for example, reports its contents from before. Such a report
/// counts towards R. The reporting node is never chosen, but a node that is chosen must not hold
/// less than the report says.
struct Held {
  std::uint64_t system{};
  Term term;
  Lsn lsn;
  std::optional<Copies> copies{};  ///< as in Holding
};
MUSTER_DESCRIBE(Held, system, term, lsn, copies);

/// A node that is being rewound or cloned keeps this note of its earlier contents, apart from its
/// data.
struct Note {
  std::optional<Held> held;  ///< none: the contents are not known, so the node does not count
};
MUSTER_DESCRIBE(Note, held);

/// The report of a node that was not sealed in time, or that has no data which it can vouch for.
struct Nothing {};
MUSTER_DESCRIBE(Nothing);

/// The report of a node about its data: nothing, its earlier contents, or its present contents.
using Evidence = std::variant<Nothing, Held, Holding>;

/// With a witness: names the holders. From this group on, until the next promise, each holder has
/// every acknowledged commit. Only a holder can be chosen as primary. This rule makes it safe for
/// one node to write alone. A sole holder acknowledges commits only once all members have the
/// promise in safe storage. The sessions of a sole holder may still acknowledge commits for a
/// moment after the node was sealed. Such commits are harmless, since no other node can be chosen.
/// With two holders, each commit waits until the holder that is not the primary has flushed the
/// commit.
struct Promise {
  GroupNumber group;
  NodeSet holders;
};
MUSTER_DESCRIBE(Promise, group, holders);

/// The whole report of a node. With a witness it includes the latest promise that the node has in
/// safe storage.
struct Report {
  Evidence evidence;
  std::optional<Promise> promise{};
  bool forgotten{};  ///< its safe storage was lost, so it may have had a later promise
};
MUSTER_DESCRIBE(Report, evidence, promise, forgotten);

/// The definition of a group: the node that writes, and the nodes that may follow it at once.
struct Choice {
  std::optional<NodeId> primary;  ///< none: no node writes
  NodeSet prefix;                 ///< nodes whose logs are a beginning of the primary's log
  std::string why;                ///< in words, for the status
  /// With a witness: the promise that each member puts into safe storage. If no node writes, each
  /// member keeps the promise it had. A member that may have forgotten a promise then gets none:
  /// with an old promise it would count as a node that knows the latest.
  std::map<NodeId, Promise> promises{};

  /// True if no other node needs to have the primary's commits.
  [[nodiscard]] bool is_alone() const {
    const auto promise = promises.find(primary.value_or(NodeId{}));
    return promise != promises.end() && promise->second.holders.size() == 1;
  }
};
MUSTER_DESCRIBE(Choice, primary, prefix, why, promises);

/// The history of a primary's log: its terms, and the position at which each of its timelines
/// ended.
struct Lineage {
  std::vector<Term> terms;                         ///< in ascending order
  std::map<std::uint32_t, Lsn> ends_of_timelines;  ///< for each timeline before the present one
  std::uint32_t timeline{};                        ///< the present one
};
MUSTER_DESCRIBE(Lineage, terms, ends_of_timelines, timeline);

}  // namespace muster::postgres
