#pragma once

#include <muster/journal/reason.hpp>
#include <muster/values/log_level.hpp>

#include <optional>
#include <string>
#include <vector>

/// The lines of a node's log about its steps. The log is for people; the journal is for programs.

namespace MUSTER_EXPORT muster {

/// One line of the log.
struct News {
  LogLevel level = LogLevel::info;
  std::string topic;  ///< the line's topic; a log can omit lines of a topic that come too often
  std::string text;   ///< a sentence whose subject is the node
};
MUSTER_DESCRIBE(News, level, topic, text);

/// Follows the steps of one life of a node.
class Newsreel {
 public:
  explicit Newsreel(NodeId self) : self_(self) {}

  /// Takes the next step and the view after that step. Returns lines about each election and its
  /// cause, each Halt, each group in which the node is Normal, each refusal, and each hook that
  /// failed, with the reason.
  std::vector<News> take(const Event& event, const View& after);

  /// The last hook that failed, with the reason; empty if no hook has failed.
  [[nodiscard]] const std::string& last_failure() const { return last_failure_; }

  /// Why this node began its last election.
  [[nodiscard]] const Reason& last_reason() const { return reasons_.last(); }

 private:
  NodeId self_;
  Reasons reasons_;
  View view_;  ///< after the last step
  std::optional<GroupNumber> told_;
  std::string last_failure_;
};

}  // namespace muster
