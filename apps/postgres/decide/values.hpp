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

/// What nodes say of their PostgreSQL, and are told to make of it: the report and the definition.

namespace muster::postgres {

using muster::operator==;

/// A position in a log of PostgreSQL, in bytes from its beginning.
struct Lsn {
  std::uint64_t value{};
  friend auto operator<=>(const Lsn&, const Lsn&) = default;
};
MUSTER_DESCRIBE(Lsn, value);

/// As PostgreSQL writes it, such as "0/3000148".
std::string to_text(Lsn lsn);
/// None where the text is no such position.
std::optional<Lsn> parse_lsn(std::string_view text);

/// A row of the table `muster.term`: what a primary writes before anything of its group is
/// acknowledged. Timelines are never the order; groups are.
struct Term {
  GroupNumber group;  ///< zero: nobody has ever written
  NodeId node;        ///< the primary that wrote it
  std::uint32_t timeline{};
  Lsn lsn;  ///< where its log stood when the row was written
  friend auto operator<=>(const Term&, const Term&) = default;
};
MUSTER_DESCRIBE(Term, group, node, timeline, lsn);

/// How many nodes hold a commit before it is acknowledged: W of N, the primary among them.
struct Copies {
  NodeSet nodes;       ///< all that are configured to have data
  unsigned of_commit;  ///< W; with a witness, while all follow
  /// Who votes, and has promises for data. With one, a primary whom nobody follows goes on alone.
  NodeSet witnesses{};
  /// Counts the lists of nodes that a cluster has had: each other list, or W, is the next.
  std::uint32_t generation = 1;

  /// R = N - W + 1: so many sealed nodes have one of any W among them.
  [[nodiscard]] std::size_t to_promote() const { return nodes.size() - of_commit + 1; }
  /// So many of these have to report for the next list to begin: R, and a majority, so that no two
  /// lists can come after one.
  [[nodiscard]] std::size_t to_go_on() const {
    return std::max(to_promote(), nodes.size() / 2 + 1);
  }
};
MUSTER_DESCRIBE(Copies, nodes, of_commit, witnesses, generation);

/// "generation 2, nodes 1, 2, 3, 4 with copies = 3"
std::string to_words(const Copies& copies);

/// What a sealed node holds.
struct Holding {
  std::uint64_t system{};  ///< PostgreSQL's system identifier
  Term term;               ///< its greatest row
  Lsn lsn;                 ///< replayed on a standby, flushed on a primary
  std::uint32_t timeline{};
  bool primary{};
  /// It was primary, and has shut down in order for that one to be primary next.
  std::optional<NodeId> hands_over_to{};
  /// By which the primary of its greatest row acknowledged; none: of a version that did not say.
  std::optional<Copies> copies{};
  bool unfollowed{};  ///< it was primary, and too few got what it wrote: it would wait in vain
  /// With a witness, of who was an open primary: in whose logs each of its acknowledged commits has
  /// to be by now.
  NodeSet demanded{};
};
MUSTER_DESCRIBE(Holding, system, term, lsn, timeline, primary, hands_over_to, copies, unfollowed,
                demanded);

/// What a node held once. As a report of one that cannot be primary now, at most, as before it
/// began to be mended: it counts, and is never chosen, but who is chosen must not be below it.
struct Held {
  std::uint64_t system{};
  Term term;
  Lsn lsn;
  std::optional<Copies> copies{};  ///< as in Holding
};
MUSTER_DESCRIBE(Held, system, term, lsn, copies);

/// What a node that is being mended keeps apart from its data.
struct Note {
  std::optional<Held> held;  ///< none: it is not known, and the node counts for nothing
};
MUSTER_DESCRIBE(Note, held);

/// It was not sealed in time, or has no data that it can vouch for.
struct Nothing {};
MUSTER_DESCRIBE(Nothing);

/// The report of a node: nothing, what it held, or what it holds.
using Evidence = std::variant<Nothing, Held, Holding>;

/// With a witness: who has each commit that is acknowledged from that group on, until there is
/// another promise. One node alone acknowledges by it when all members have it in safe storage,
/// and goes on for a moment behind its seal; where two hold, who has flushed a commit has it.
struct Promise {
  GroupNumber group;
  NodeSet holders;
};
MUSTER_DESCRIBE(Promise, group, holders);

/// What a node reports: with a witness, the latest promise that it has in safe storage, too.
struct Report {
  Evidence evidence;
  std::optional<Promise> promise{};
  bool forgotten{};  ///< it may have had a later one
};
MUSTER_DESCRIBE(Report, evidence, promise, forgotten);

/// The definition: who writes, and who may follow it at once.
struct Choice {
  std::optional<NodeId> primary;  ///< none: nobody writes
  NodeSet prefix;                 ///< whose logs are a beginning of the primary's
  std::string why;                ///< in words, for the status
  /// With a witness: what each member has in safe storage from then on. Where nobody writes it is
  /// what each had: nobody is told of a promise who might have forgotten another.
  std::map<NodeId, Promise> promises{};

  /// True where the primary's commits are in its own log alone.
  [[nodiscard]] bool is_alone() const {
    const auto promise = promises.find(primary.value_or(NodeId{}));
    return promise != promises.end() && promise->second.holders.size() == 1;
  }
};
MUSTER_DESCRIBE(Choice, primary, prefix, why, promises);

/// What the log of a primary is made of: its rows, and where each of its timelines ended.
struct Lineage {
  std::vector<Term> terms;                         ///< ascending
  std::map<std::uint32_t, Lsn> ends_of_timelines;  ///< of those before its own
  std::uint32_t timeline{};                        ///< its own
};
MUSTER_DESCRIBE(Lineage, terms, ends_of_timelines, timeline);

}  // namespace muster::postgres
