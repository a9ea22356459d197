#pragma once

#include <muster/journal/journal.hpp>
#include <muster/journal/reason.hpp>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

/// Follows a running cluster by the lines of its journals, which it takes in the order of their
/// times. It knows the state of each node, the groups that formed and why, and for how long no node
/// worked.

namespace muster::apps {

/// The state of one node.
struct NodeSeen {
  bool up = false;      ///< a life has begun and has not ended
  bool paused = false;  ///< by a signal
  Incarnation incarnation;
  Duration last{};  ///< time of its last line
  View view;        ///< the node's state after its last step in this life
  std::optional<GroupNumber> works_for;
  Reasons reasons;  ///< the reasons of the node's elections
};

/// A group whose members have all started.
struct Formed {
  GroupNumber group;
  NodeSet members;  ///< the coordinator included
  Duration at{};    ///< when the last member had started
  std::string reason;
  /// Time from the first disturbance of the previous group to `at`. None for the first group, and
  /// if all nodes were down in between.
  std::optional<Duration> without_work;
};

/// A time in which a node worked for a group.
struct Worked {
  NodeId node;
  GroupNumber group;
  Duration begin{};
  std::optional<Duration> end;  ///< none: it still works
};

class Watch {
 public:
  /// Takes the next line. Returns true if the line completes a group, which is then the last one of
  /// `formed`.
  bool take(const journal::Line& line);

  [[nodiscard]] const NodeSeen& node(NodeId node) const;
  [[nodiscard]] const std::map<NodeId, NodeSeen>& nodes() const { return nodes_; }
  [[nodiscard]] const std::vector<Formed>& formed() const { return formed_; }
  [[nodiscard]] const std::vector<Worked>& worked() const { return worked_; }

  /// The members of each group that reached Reorganization, with its coordinator.
  [[nodiscard]] const std::map<GroupNumber, NodeSet>& members() const { return members_; }

  /// The times at which pauses of the node began, as far as journals show them.
  [[nodiscard]] std::vector<Duration> pauses(NodeId node) const;

  /// The coordinator of most of the nodes that are up and not paused. None if no node has one.
  [[nodiscard]] std::optional<NodeId> coordinator() const;

  /// Whether all nodes of `live` are Normal in one group, are its only members, and have each
  /// written a line after the node's time in `since`.
  [[nodiscard]] bool normal(const NodeSet& live, const std::map<NodeId, Duration>& since) const;

  /// How often each of these has happened since the watch began.
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
  std::set<GroupNumber> complete_;  ///< the last groups of `formed_`
  std::multimap<NodeId, Duration> pauses_;
  std::optional<Duration> disturbed_;  ///< since the last group formed
  bool all_down_ = true;               ///< all were down at some time since the last group formed
  Counts counts_;
};

}  // namespace muster::apps
