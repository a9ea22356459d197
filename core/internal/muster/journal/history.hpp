#pragma once

#include <muster/journal/reason.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The reorganizations that a node took part in: `muster why` and `muster history`.

namespace MUSTER_EXPORT muster {
namespace history {

using muster::operator==;

/// Under which keys a node keeps them in its safe storage, as JSON.
inline constexpr std::string_view cells = "muster/history/";

/// Where the time of a reorganization went, as its node saw it. All but `stopping` follow one
/// another and make up the whole; zero where the node did not do that.
struct Phases {
  Duration seeking{};       ///< asked higher nodes or its coordinator, backed off, or stood still
  Duration halting{};       ///< halted or invited others
  Duration halted{};        ///< was halted, and waited to hear of its new coordinator
  Duration announcing{};    ///< told its members, and waited until they were stopped
  Duration reorganizing{};  ///< its application defined the new task, or it waited for that
  Duration starting{};      ///< started, or waited until its members had
  Duration stopping{};      ///< beside those: its application was ceasing
};
MUSTER_DESCRIBE(Phases, seeking, halting, halted, announcing, reorganizing, starting, stopping);

/// One reorganization, from what began it to Normal.
struct Entry {
  std::uint64_t number{};  ///< counts those of this store, from 1
  NodeId node;
  Incarnation incarnation;
  std::string at;                    ///< when it ended, by the wall clock: 2026-11-21T22:05:12.345Z
  Duration began{};                  ///< by the clock of the journal
  Duration took{};                   ///< until Normal; until now while it goes on
  std::optional<GroupNumber> group;  ///< that it led to; none while it goes on
  std::optional<NodeId> coordinator;  ///< of that group
  std::optional<NodeSet> members;     ///< of it, with the coordinator, who alone knows them
  std::optional<GroupNumber> before;  ///< in which the node was Normal when it began
  Trigger trigger = Trigger::other;   ///< what began it
  std::string evidence;               ///< the same for people
  std::vector<NodeId> halted_by;      ///< who halted the node in it, in order, the last eight
  std::optional<std::string> then;    ///< why it was begun anew the last time
  std::uint64_t elections{};          ///< that the node began in it
  Phases phases;
};
MUSTER_DESCRIBE(Entry, number, node, incarnation, at, began, took, group, coordinator, members,
                before, trigger, evidence, halted_by, then, elections, phases);

/// Follows the steps of one life of a node.
class Recorder {
 public:
  Recorder(NodeId self, Incarnation incarnation) : self_(self), incarnation_(incarnation) {}

  /// The next step, at `t`, and what it made of the node. Gives the reorganization that it ended,
  /// without its number and without the wall clock's time.
  std::optional<Entry> take(Duration t, const Event& event, const View& after);

  /// The one that goes on, as of `now`.
  [[nodiscard]] std::optional<Entry> going_on(Duration now) const;

 private:
  void begin(Duration t, const Event& event, const View& before, bool elects);
  [[nodiscard]] std::optional<Entry> end(Duration t);
  void spend(Entry& entry, Duration until) const;

  NodeId self_;
  Incarnation incarnation_;
  Reasons reasons_;
  View view_;        ///< after the last step
  Duration last_{};  ///< when that was
  std::optional<Entry> open_;
};

}  // namespace history
}  // namespace muster
