#pragma once

#include <muster/journal/journal.hpp>
#include <muster/journal/reason.hpp>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

/// What the journals of a running cluster say, line by line in the order of their time: who is
/// what, which groups formed, why, and how long nobody worked.

namespace muster::apps {

/// One node.
struct NodeSeen {
  bool up = false;      ///< a life has begun and was not ended
  bool paused = false;  ///< by a signal
  Incarnation incarnation;
  Duration last{};  ///< of its last line
  View view;        ///< after its last step in this life
  std::optional<GroupNumber> works_for;
  Reasons reasons;  ///< of its elections
};

/// A group all of whose members have started.
struct Formed {
  GroupNumber group;
  NodeSet members;  ///< the coordinator included
  Duration at{};    ///< when the last of them had started
  std::string reason;
  /// From the first disturbance of the group before to `at`; none where all nodes were down in
  /// between, and for the first group.
  std::optional<Duration> without_work;
};

/// A node worked for a group.
struct Worked {
  NodeId node;
  GroupNumber group;
  Duration begin{};
  std::optional<Duration> end;  ///< none: it still does
};

class Watch {
 public:
  /// The next line. True when a group has formed with it: the last of `formed`.
  bool take(const journal::Line& line);

  [[nodiscard]] const NodeSeen& node(NodeId node) const;
  [[nodiscard]] const std::map<NodeId, NodeSeen>& nodes() const { return nodes_; }
  [[nodiscard]] const std::vector<Formed>& formed() const { return formed_; }
  [[nodiscard]] const std::vector<Worked>& worked() const { return worked_; }

  /// Who was a member of each group that reached Reorganization, its coordinator included.
  [[nodiscard]] const std::map<GroupNumber, NodeSet>& members() const { return members_; }

  /// When the node's pauses began, as far as is known.
  [[nodiscard]] std::vector<Duration> pauses(NodeId node) const;

  /// The coordinator in force: of the nodes that are up and not paused, that of most; none where
  /// there is none.
  [[nodiscard]] std::optional<NodeId> coordinator() const;

  /// True when all nodes of `live` are Normal in one group, of which exactly they are the members,
  /// and each has written a line since `since`.
  [[nodiscard]] bool normal(const NodeSet& live, const std::map<NodeId, Duration>& since) const;

  /// Hooks that failed, Paused events and elections begun since the watch began.
  struct Counts {
    std::uint64_t elections = 0;
    std::uint64_t paused = 0;
    std::uint64_t failed_hooks = 0;
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  bool take_line(const journal::Header& header);
  bool take_line(const journal::Step& step);
  bool take_line(const journal::HookEdge& edge);
  bool take_line(const journal::Ended& ended);
  bool take_line(const journal::Gap& gap);
  bool take_line(const journal::Fault& fault);
  bool take_line(const journal::Performed&) { return false; }
  bool take_line(const journal::Permits&) { return false; }
  bool take_line(const journal::Remark&) { return false; }
  bool take_line(const journal::Finding&) { return false; }

  void take_fault(NodeId node, const journal::Fault& fault);
  void disturb(NodeId node, Duration at);
  void end_work(NodeId node, Duration at);
  void down(NodeId node, Duration at);
  bool check_formed(GroupNumber group);

  std::map<NodeId, NodeSeen> nodes_;
  std::map<NodeId, Config> configs_;
  std::vector<Formed> formed_;
  std::vector<Worked> worked_;
  std::map<GroupNumber, NodeSet> members_;
  std::map<GroupNumber, std::map<NodeId, Duration>> started_;
  std::set<GroupNumber> complete_;  ///< of `formed_`, the last ones
  std::multimap<NodeId, Duration> pauses_;
  std::optional<Duration> disturbed_;  ///< since the last group formed
  bool all_down_ = true;               ///< at some time since then
  Counts counts_;
};

}  // namespace muster::apps
