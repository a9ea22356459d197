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

/// Measures which nodes work at which time. It learns this only from the programs that `muster run`
/// starts. It does not rely on the protocol, its journals or its status. All programs run on one
/// machine, so they read the same clock.

namespace muster::apps {

/// The interval at which a program says that it is at work.
inline constexpr Duration work_tick = std::chrono::milliseconds(10);

/// Runs as the program. The program writes a line to the pipe when it begins, and another one every
/// `work_tick`. After SIGTERM it goes on for `stop_for` and then writes a last line. Returns the
/// exit code.
int work(const std::filesystem::path& pipe, Duration stop_for);

/// One program, from its first line to its last.
struct WorkSpan {
  NodeId node;
  GroupNumber group;
  Duration begin{};
  Duration end{};
  bool over = false;  ///< the program has written its last line
};

/// The work of the nodes in an interval of time.
struct WorkShares {
  std::map<NodeId, double> of;       ///< the share of the time in which a node's programs worked
  std::size_t groups{};              ///< number of groups that a node began to work for
  std::size_t groups_given_twice{};  ///< number of groups so far to which a node returned
  Duration apart{};                  ///< the time in which two groups or more were at work at once
  Duration longest_apart{};          ///< the longest such time without a break
};

class WorkRecord {
 public:
  /// Takes bytes from the pipe. The last line may be incomplete: its rest comes with the next
  /// bytes.
  void take(std::string_view bytes);

  /// The group for which all of `nodes` are at work, if it is one group. The lines that their
  /// programs wrote in the 300 ms before `now` show it.
  [[nodiscard]] std::optional<GroupNumber> one_group(const NodeSet& nodes, Duration now) const;
  [[nodiscard]] WorkShares between(Duration from, Duration to, const NodeSet& nodes) const;

 private:
  void take_line(const std::string& line);

  std::string rest_;
  std::map<pid_t, std::size_t> last_;  ///< the span of each process
  std::vector<WorkSpan> spans_;        ///< ordered by the time of their first lines
};

}  // namespace muster::apps
