#pragma once

#include <muster/journal/reason.hpp>
#include <muster/values/log_level.hpp>

#include <optional>
#include <string>
#include <vector>

/// What a node's log tells of its steps: for people, where the journal is for programs.

namespace MUSTER_EXPORT muster {

struct News {
  LogLevel level = LogLevel::info;
  std::string matter;  ///< those of one matter may be told less often
  std::string text;    ///< a sentence whose subject is the node
};
MUSTER_DESCRIBE(News, level, matter, text);

/// Follows the steps of one life of a node.
class Newsreel {
 public:
  explicit Newsreel(NodeId self) : self_(self) {}

  /// The next step, and what it made of the node: each election and its cause, each Halt, each
  /// group in which the node is Normal, each refusal, each hook that failed, and why.
  std::vector<News> take(const Event& event, const View& after);

  /// The hook that failed last, and why; empty where none did.
  [[nodiscard]] const std::string& last_failure() const { return last_failure_; }

  /// Why the last election was begun.
  [[nodiscard]] const Reason& last_reason() const { return reasons_.last(); }

 private:
  NodeId self_;
  Reasons reasons_;
  View view_;  ///< after the last step
  std::optional<GroupNumber> told_;
  std::string last_failure_;
};

}  // namespace muster
