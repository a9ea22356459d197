#pragma once

#include <muster/protocol/step.hpp>

#include <cstdint>
#include <map>
#include <optional>

/// The part of a node's state that every protocol has.

template <>
inline constexpr bool muster::left_out_by_default<muster::Differing> = true;

namespace MUSTER_EXPORT muster {

struct Common {
  // From the paper's state vector S(i).
  Status s = Status::Down;
  std::optional<Definition> d;
  std::optional<GroupNumber> g;

  // The application.
  Activity application = Activity::Owing;
  Ticket ticket;            ///< the ticket of the hook that runs, or that ran last
  Report report;            ///< the application's last report
  unsigned failed_hooks{};  ///< since this node was last Normal
  /// Hooks that failed in groups of several nodes, since this node was last Normal in such a group.
  unsigned failed_in_company{};

  std::optional<LeaveCause> leaving;
  bool left = false;

  // Numbers and storage.
  SafeState safe;  ///< the contents of safe storage, as of the last Save
  std::map<NodeId, Incarnation> seen;
  std::map<NodeId, Instance> instances;  ///< the instances of the lives in `seen`, if known
  std::uint64_t counter{};               ///< the highest group counter seen, chosen or accepted
  CallNumber calls;                      ///< the last call number in use

  bool coordinator_armed = false;  ///< the timer `coordinator` runs

  Differing met;  ///< the other living nodes, as the host reported them last
};

/// Older journals do not contain this field.
template <>
inline constexpr bool left_out_in<&Common::failed_in_company> = true;

}  // namespace muster
