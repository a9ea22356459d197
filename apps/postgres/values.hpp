#pragma once

#include <muster/values/types.hpp>

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

/// What a sealed node holds.
struct Holding {
  std::uint64_t system{};  ///< PostgreSQL's system identifier
  Term term;               ///< its greatest row
  Lsn lsn;                 ///< replayed on a standby, flushed on a primary
  std::uint32_t timeline{};
  bool primary{};
  /// It was primary, and has shut down in order for that one to be primary next.
  std::optional<NodeId> hands_over_to{};
};
MUSTER_DESCRIBE(Holding, system, term, lsn, timeline, primary, hands_over_to);

/// What a node held once. As a report of one that cannot be primary now, at most, as before it
/// began to be mended: it counts, and is never chosen, but who is chosen must not be below it.
struct Held {
  std::uint64_t system{};
  Term term;
  Lsn lsn;
};
MUSTER_DESCRIBE(Held, system, term, lsn);

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

/// How many nodes hold a commit before it is acknowledged: W of N, the primary among them.
struct Copies {
  NodeSet nodes;       ///< all that are configured to have data
  unsigned of_commit;  ///< W

  /// R = N - W + 1: so many sealed nodes have one of any W among them.
  [[nodiscard]] std::size_t to_promote() const { return nodes.size() - of_commit + 1; }
};
MUSTER_DESCRIBE(Copies, nodes, of_commit);

/// The definition: who writes, and who may follow it at once.
struct Choice {
  std::optional<NodeId> primary;  ///< none: nobody writes
  NodeSet prefix;                 ///< whose logs are a beginning of the primary's
  std::string why;                ///< in words, for the status
};
MUSTER_DESCRIBE(Choice, primary, prefix, why);

/// What the log of a primary is made of: its rows, and where each of its timelines ended.
struct Lineage {
  std::vector<Term> terms;                         ///< ascending
  std::map<std::uint32_t, Lsn> ends_of_timelines;  ///< of those before its own
  std::uint32_t timeline{};                        ///< its own
};
MUSTER_DESCRIBE(Lineage, terms, ends_of_timelines, timeline);

}  // namespace muster::postgres
