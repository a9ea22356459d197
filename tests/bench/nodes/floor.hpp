#pragma once

#include <muster/values/failure.hpp>
#include <muster/values/types.hpp>

/// The shortest possible fail-over on this machine: its parts, each measured without Muster.

namespace muster::apps {

class Cluster;

/// Medians, each of some hundred tries.
struct Floor {
  Duration end_of_file{};  ///< from kill -9 of a node until a plain peer reads the end of file
  Duration refused{};      ///< the time until a connection to a port without a listener is refused
  Duration round_trip{};   ///< the time of 64 bytes over loopback to another process and back
  Duration commit{};       ///< the time of one SQLite commit of 100 bytes (WAL, fully synced)

  /// A lower bound for a crash of the coordinator with m survivors. It is the sum of: end of file,
  /// refused connection, m - 1 Halts, NewCoordinator, Ready, a commit on a member, and one on the
  /// coordinator.
  [[nodiscard]] Duration failover(std::size_t survivors) const;
};

/// Takes some seconds. `alone` is a cluster of one node, which the function starts and kills.
Expected<Floor> measure_floor(Cluster& alone);

}  // namespace muster::apps
