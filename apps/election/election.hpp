#pragma once

#include <muster/values/text.hpp>

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

/// What one election costs in letters and in time, by protocol: counted in the lab's world without
/// any other fault, and compared with closed forms (docs/figures.md).

namespace muster::apps::election {

using muster::operator==;
using muster::operator<<;

/// Which protocol, and how.
enum class Kind {
  paper,       ///< the Bully, literal: the paper's text
  shipped,     ///< the Bully as it ships
  textbook,    ///< the textbooks' Bully
  invitation,  ///< the Invitation as it ships
};
MUSTER_DESCRIBE_ENUM(Kind, paper, shipped, textbook, invitation)
inline constexpr Kind kinds[] = {Kind::paper, Kind::shipped, Kind::textbook, Kind::invitation};

/// Who notices that the coordinator is down (paper section 7).
enum class Case {
  best,   ///< the Bullies: the next coordinator alone; the Invitation: all, and the highest checks
  worst,  ///< the textbook: the lowest alone; all others: everybody at once
};
MUSTER_DESCRIBE_ENUM(Case, best, worst)

/// From noticing to the last survivor's Normal, where delays are all the same, and hooks and
/// commits take no time.
struct Cost {
  /// Requests and answers, those to nodes that are down included. Of the textbook its three
  /// messages only.
  std::uint64_t messages{};
  std::uint64_t checks{};      ///< periods of Check that pass
  std::uint64_t timeouts{};    ///< times T
  std::uint64_t half_trips{};  ///< half round trips
};
MUSTER_DESCRIBE(Cost, messages, checks, timeouts, half_trips);

/// Counts one election of `nodes` nodes of which the `down` highest stop at once, without a word.
Cost measure(Kind kind, Case which, std::uint32_t nodes, std::uint32_t down);

/// The closed forms.
Cost expected(Kind kind, Case which, std::uint32_t nodes, std::uint32_t down);

/// "C + 2 T + 9.5 RTT"; C is a period of Check.
std::string time_text(const Cost& cost);

struct Row {
  std::uint32_t nodes{};
  Kind kind{};
  Case which{};
  Cost measured;
  Cost expected;
};

/// A plot of all rows, messages and round trips over nodes, as an SVG document.
std::string plot(const std::vector<Row>& rows, std::uint32_t down);

struct Options {
  std::uint32_t least_nodes = 5;
  std::uint32_t most_nodes = 1000;  ///< with those between them of 1, 2, 5, 10, 20, 50 ...
  std::uint32_t down = 1;
  std::optional<std::filesystem::path> svg;
  bool json = false;
};

/// Prints the table; a reason for any exit code but 0 goes to `err`. Returns the exit code: 1 where
/// a closed form does not hold.
int bench(const Options& options, std::ostream& out, std::ostream& err);

}  // namespace muster::apps::election
