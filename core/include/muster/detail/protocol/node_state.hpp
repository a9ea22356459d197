#pragma once

#include <muster/protocol/step.hpp>

#include <cstdint>
#include <map>
#include <optional>

/// What a node remembers in one life, whatever protocol it runs.

template <>
inline constexpr bool muster::left_out_by_default<muster::Differing> = true;

namespace MUSTER_EXPORT muster {

struct Common {
  // Of the paper's state vector S(i).
  Status s = Status::Down;
  std::optional<Definition> d;
  std::optional<GroupNumber> g;

  // The application.
  Activity application = Activity::Owing;
  Ticket ticket;            ///< of the hook that runs, or ran last
  Report report;            ///< what the application said last that it holds
  unsigned failed_hooks{};  ///< since it was last Normal
  /// In a group of several nodes, since it was last Normal in such a group.
  unsigned failed_in_company{};

  std::optional<LeaveCause> leaving;
  bool left = false;

  // Numbers and storage.
  SafeState safe;  ///< what is in safe storage, as of the last Save
  std::map<NodeId, Incarnation> seen;
  std::map<NodeId, Instance> instances;  ///< of those lives, where they are known
  std::uint64_t counter{};               ///< the highest group counter seen, chosen or accepted
  CallNumber calls;

  bool coordinator_armed = false;  ///< the timer

  Differing met;  ///< the others that are alive, as the host told last
};

/// A journal that does not mention it was written before this was counted.
template <>
inline constexpr bool left_out_in<&Common::failed_in_company> = true;

}  // namespace muster
