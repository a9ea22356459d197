#pragma once

#include <muster/claims/verify.hpp>
#include <muster/journal/journal.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// The content of a drawing, without its looks: the lines of merged journals, and their
/// connections. All names of a protocol come from the journals.

namespace muster::apps::drawing {

/// An index of Chart::moments.
using Index = std::size_t;

/// One line of a journal.
struct Moment {
  Duration t{};
  std::optional<NodeId> node;  ///< none: a fault of all nodes, or of no node
  journal::Line line;
  NodeSet over;  ///< the nodes whose lives end at this moment
};

/// A beginning or an end.
struct Edge {
  Duration t{};
  std::optional<Index> at;  ///< none if that line is not drawn
};

/// A letter that was sent or received, or both, in the drawn time.
struct Arrow {
  Letter letter;
  std::optional<Edge> sent;      ///< none if no journal has it
  std::optional<Edge> received;  ///< none if no journal has its arrival: it never arrived
  bool again = false;            ///< a copy of it had arrived before
};

/// A time in which the status, coordinator and group of a node are the same.
struct Phase {
  NodeId node;
  View view;
  Edge from;
  Edge to;
};

/// How a hook ended. `cut_off` means that the life ended before the hook did, or that no journal
/// has the end of the hook.
enum class HookEnd { ended, failed, cut_off };

struct HookBar {
  NodeId node;
  Hook hook{};
  std::optional<GroupNumber> group;
  Edge from;
  Edge to;
  HookEnd how = HookEnd::cut_off;
};

/// A time in which a node works for a group.
struct Work {
  NodeId node;
  GroupNumber group;
  Edge from;
  Edge to;
};

/// A time in which a node was paused.
struct Pause {
  NodeId node;
  Duration from{};
  Duration to{};
};

struct Violation {
  Index at{};
  verify::Violated verdict;
};

/// The whole chart. Each vector is in the order of time.
struct Chart {
  std::vector<NodeId> nodes;
  std::vector<Moment> moments;
  std::vector<Arrow> arrows;
  std::vector<Phase> phases;
  std::vector<HookBar> hooks;
  std::vector<Work> works;
  std::vector<Pause> pauses;
  std::vector<Violation> violations;
  std::vector<verify::NotClaimed> not_claimed;
  Duration began{};                    ///< time of the first line of all journals
  std::map<NodeId, View> before;       ///< states before the drawn time, of nodes that are up
  std::uint64_t violations_outside{};  ///< violations outside the drawn time
  std::string not_judged;              ///< why the journals were not judged; empty if they were
  std::string undecided;               ///< why a part was not judged: Outcome::undecided
};

/// The part of the journals that is drawn.
struct Window {
  std::optional<Duration> from;      ///< since the first line
  std::optional<Duration> until;     ///< since the first line
  std::vector<std::uint32_t> nodes;  ///< empty: all
  /// Violations of these assertions are shown even if the protocol of the journals does not claim
  /// them.
  std::vector<std::string> assertions;

  /// Whether all lines of the journals are drawn.
  [[nodiscard]] bool is_all() const { return !from && !until && nodes.empty(); }
};

/// Reads the journals twice, as `muster verify` does. Keeps only the lines that are drawn.
Expected<Chart> read_chart(const std::vector<std::filesystem::path>& journals,
                           const Window& window);

}  // namespace muster::apps::drawing
