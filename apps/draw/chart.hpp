#pragma once

#include <muster/claims/verify.hpp>
#include <muster/journal/journal.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// What `muster draw` draws, apart from how it looks: the lines of merged journals, and what joins
/// them. Nothing here knows the names of a protocol: they come from the journals.

namespace muster::apps::drawing {

/// Which of Chart::moments.
using Index = std::size_t;

/// One line of a journal.
struct Moment {
  Duration t{};
  std::optional<NodeId> node;  ///< none: a fault of all nodes, or of none
  journal::Line line;
  NodeSet over;  ///< the nodes whose lives end here
};

/// Where something begins or ends.
struct Edge {
  Duration t{};
  std::optional<Index> at;  ///< none where that line is not drawn
};

/// A letter that was sent, or received, or both, in the time that is drawn.
struct Arrow {
  Letter letter;
  std::optional<Edge> sent;      ///< none where no journal tells of it
  std::optional<Edge> received;  ///< none where it never arrived, as far as the journals go
  bool again = false;            ///< it had arrived before
};

/// A time in which the status, coordinator and group of a node are the same.
struct Phase {
  NodeId node;
  View view;
  Edge from;
  Edge to;
};

/// How a hook came to its end.
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

/// The whole of it. Everything is in the order of time.
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
  Duration began{};                    ///< of the first line of all journals
  std::map<NodeId, View> before;       ///< of the nodes that are up when the drawn time begins
  std::uint64_t violations_outside{};  ///< of the drawn time
  std::string not_judged;  ///< why the journals could not be judged; empty where they were
  std::string undecided;   ///< what was not judged in them: Outcome::undecided
};

/// What is to be drawn of the journals.
struct Window {
  std::optional<Duration> from;      ///< since the first line
  std::optional<Duration> until;     ///< since the first line
  std::vector<std::uint32_t> nodes;  ///< empty: all
  /// Whose violations are shown though the protocol of the journals does not claim them.
  std::vector<std::string> assertions;

  /// True where no line of the journals is left out.
  [[nodiscard]] bool is_all() const { return !from && !until && nodes.empty(); }
};

/// Reads the journals twice, as `muster verify` does; only what is drawn is kept.
Expected<Chart> read_chart(const std::vector<std::filesystem::path>& journals,
                           const Window& window);

}  // namespace muster::apps::drawing
