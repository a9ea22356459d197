#pragma once

#include <muster/values/failure.hpp>
#include <muster/values/types.hpp>

/// What no fail-over on this machine can beat: the parts that it is made of, measured bare.

namespace muster::apps {

class Cluster;

/// Medians, each of some hundred tries.
struct Floor {
  Duration end_of_file{};  ///< from kill -9 of a node to the end of file at a bare peer
  Duration refused{};      ///< a connection to a port where nobody listens
  Duration round_trip{};   ///< 64 bytes over loopback to another process and back
  Duration commit{};       ///< one SQLite commit of 100 bytes, WAL, fully synced

  /// A crash of the coordinator, m survivors: end of file, refused, m - 1 Halts, NewCoordinator,
  /// Ready, and a commit on a member and one on the coordinator.
  [[nodiscard]] Duration failover(std::size_t survivors) const;
};

/// Takes some seconds. `alone` is a cluster of one node, which is started and killed.
Expected<Floor> measure_floor(Cluster& alone);

}  // namespace muster::apps
