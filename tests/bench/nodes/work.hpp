#pragma once

#include <muster/values/types.hpp>

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Who was at work when, as the programs of `muster run` say themselves: no word of the protocol,
/// of its journals or its status is asked. All are on one machine, and so by one clock.

namespace muster::apps {

/// How often a program says that it is at work.
inline constexpr Duration work_tick = std::chrono::milliseconds(10);

/// The program: writes a line to the pipe when it begins, one each `work_tick`, and when it was
/// told to stop (SIGTERM), after `stop_for` more, a last one. Returns the exit code.
int work(const std::filesystem::path& pipe, Duration stop_for);

/// One program, from its first line to its last.
struct WorkSpan {
  NodeId node;
  GroupNumber group;
  Duration begin{};
  Duration end{};
  bool over = false;  ///< it has said that it ends
};

/// What came of some time.
struct WorkShares {
  std::map<NodeId, double> of;  ///< the share of the time that this node's programs worked
  std::size_t groups{};         ///< that somebody began to work for
  std::size_t
      groups_given_twice{};  ///< of all so far: a node began to work for it, for another, again
  Duration apart{};          ///< the time that two groups or more were at work at once
  Duration longest_apart{};  ///< ... without a break
};

class WorkRecord {
 public:
  /// Bytes of the pipe: lines, and perhaps the beginning of one.
  void take(std::string_view bytes);

  /// The one group that all of `nodes` have worked for within the last 300 ms before `now`.
  [[nodiscard]] std::optional<GroupNumber> one_group(const NodeSet& nodes, Duration now) const;
  [[nodiscard]] WorkShares between(Duration from, Duration to, const NodeSet& nodes) const;

 private:
  void take_line(const std::string& line);

  std::string rest_;
  std::map<pid_t, std::size_t> last_;  ///< each process's span
  std::vector<WorkSpan> spans_;        ///< in the order of their first lines
};

}  // namespace muster::apps
