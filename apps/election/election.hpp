#pragma once

#include <muster/values/text.hpp>

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

/// The cost of one election in messages and in time, by protocol. It is counted in the lab's world
/// in which nothing else fails, and compared with closed forms (docs/figures.md).

namespace muster::apps::election {

using muster::operator==;
using muster::operator<<;

/// The protocol, and its variant.
enum class Kind {
  paper,       ///< the Bully exactly as in the paper, with all switches off
  shipped,     ///< the Bully as Muster runs it
  textbook,    ///< the Bully of the textbooks
  invitation,  ///< the Invitation as Muster runs it
};
MUSTER_DESCRIBE_ENUM(Kind, paper, shipped, textbook, invitation)
inline constexpr Kind kinds[] = {Kind::paper, Kind::shipped, Kind::textbook, Kind::invitation};

/// The nodes that notice the failure of the coordinator (docs/figures.md).
enum class Case {
  best,   ///< only the next coordinator; Invitation: all, but only the highest runs Check
  worst,  ///< all at the same time; textbook: only the lowest
};
MUSTER_DESCRIBE_ENUM(Case, best, worst)

/// Cost from the notice to the moment when the last survivor is Normal. All delays are equal, and
/// hooks and commits take no time.
struct Cost {
  /// Requests and answers, including those to nodes that are down. For the textbook protocol only
  /// its three kinds of messages.
  std::uint64_t messages{};
  std::uint64_t checks{};      ///< periods of Check
  std::uint64_t timeouts{};    ///< in units of T
  std::uint64_t half_trips{};  ///< half round trips
};
MUSTER_DESCRIBE(Cost, messages, checks, timeouts, half_trips);

/// Counts one election of `nodes` nodes. The `down` highest nodes stop at the same time, without
/// notice.
Cost measure(Kind kind, Case which, std::uint32_t nodes, std::uint32_t down);

/// The cost by the closed forms.
Cost expected(Kind kind, Case which, std::uint32_t nodes, std::uint32_t down);

/// Writes the time as "C + 2 T + 9.5 RTT", in which C is a period of Check.
std::string time_text(const Cost& cost);

struct Row {
  std::uint32_t nodes{};
  Kind kind{};
  Case which{};
  Cost measured;
  Cost expected;
};

/// A plot of messages and round trips over the number of nodes, as an SVG document.
std::string plot(const std::vector<Row>& rows, std::uint32_t down);

struct Options {
  std::uint32_t least_nodes = 5;
  std::uint32_t most_nodes = 1000;  ///< and of 1, 2, 5, 10, 20, 50 ..., those between
  std::uint32_t down = 1;
  std::optional<std::filesystem::path> svg;
  bool json = false;
};

/// Prints the table to `out`, and to `err` the reason of an exit code other than 0. Returns the
/// exit code, which is 1 if a closed form does not hold.
int bench(const Options& options, std::ostream& out, std::ostream& err);

}  // namespace muster::apps::election
