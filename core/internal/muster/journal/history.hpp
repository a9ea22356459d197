#pragma once

#include <muster/journal/reason.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The reorganizations that a node took part in, for `muster why` and `muster history`.

namespace MUSTER_EXPORT muster {
namespace history {

using muster::operator==;

/// The prefix of the keys under which a node keeps these reorganizations in safe storage, as JSON.
inline constexpr std::string_view cells = "muster/history/";

/// How the time of a reorganization was spent, as its node saw it. The phases follow one another
/// and add up to the whole, except `stopping`, which overlaps them. A phase that did not occur is
/// zero.
struct Phases {
  Duration seeking{};       ///< the node asked higher nodes or its coordinator, waited, or paused
  Duration halting{};       ///< the node halted or invited other nodes
  Duration halted{};        ///< the node was halted, and waited for its new coordinator
  Duration announcing{};    ///< the node told its members, and waited until they had stopped
  Duration reorganizing{};  ///< the application defined the new task, or the node awaited it
  Duration starting{};      ///< the node started, or waited until its members had started
  Duration stopping{};      ///< the application stopped its work, during some of the phases above
};
MUSTER_DESCRIBE(Phases, seeking, halting, halted, announcing, reorganizing, starting, stopping);

/// One reorganization, from its cause to Normal.
struct Entry {
  std::uint64_t number{};  ///< counts the entries of this store, from 1
  NodeId node;
  Incarnation incarnation;
  std::string at;    ///< the time of its end by the wall clock, such as 2026-11-21T22:05:12.345Z
  Duration began{};  ///< by the journal's clock
  Duration took{};   ///< the time until Normal, or until now if it has not ended
  std::optional<GroupNumber> group;   ///< the new group; none if it has not ended
  std::optional<NodeId> coordinator;  ///< of that group
  std::optional<NodeSet> members;  ///< the members of that group; only the coordinator knows them
  std::optional<GroupNumber> before;  ///< the group in which the node was Normal before
  Trigger trigger = Trigger::other;   ///< the cause
  std::string evidence;               ///< the cause in words
  std::vector<NodeId> halted_by;      ///< the nodes that halted this node, in order, the last eight
  std::optional<std::string> then;    ///< why the reorganization was last started over; none: never
  std::uint64_t elections{};          ///< the number of elections that this node began in this
                                      ///< reorganization
  Phases phases;
};
MUSTER_DESCRIBE(Entry, number, node, incarnation, at, began, took, group, coordinator, members,
                before, trigger, evidence, halted_by, then, elections, phases);

/// Follows the steps of one life of a node.
class Recorder {
 public:
  Recorder(NodeId self, Incarnation incarnation) : self_(self), incarnation_(incarnation) {}

  /// Takes the next step, at `t`, and the view after that step. Returns the reorganization that
  /// this step ended, without its number and without the wall clock's time.
  std::optional<Entry> take(Duration t, const Event& event, const View& after);

  /// The reorganization that has not ended, with its times until `now`.
  [[nodiscard]] std::optional<Entry> going_on(Duration now) const;

 private:
  void begin(Duration t, const Event& event, const View& before, bool elects);
  [[nodiscard]] std::optional<Entry> end(Duration t);
  void spend(Entry& entry, Duration until) const;

  NodeId self_;
  Incarnation incarnation_;
  Reasons reasons_;
  View view_;        ///< after the last step
  Duration last_{};  ///< the time of the last step
  std::optional<Entry> open_;
};

}  // namespace history
}  // namespace muster
