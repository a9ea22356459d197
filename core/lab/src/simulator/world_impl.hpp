#pragma once

#include "simulated_life.hpp"

#include <muster/claims/assertions.hpp>

#include <set>
#include <vector>

namespace muster::lab {

/// The nodes of a world, and the faults that happen to them.
class World::Impl {
 public:
  explicit Impl(WorldOptions chosen);
  ~Impl();

  /// The state of a node that outlives its lives.
  struct Node {
    Config config;
    std::string cluster;  ///< the canonical text of the cluster
    std::unique_ptr<SafeStorage> storage;
    std::unique_ptr<simulated::Cells> copy;          ///< a backup of the storage
    std::shared_ptr<simulated::SimulatedLife> life;  ///< the present life, or the last one
    bool up = false;
    bool held_down = false;  ///< the node's process waits before the next life
    /// The number of reasons for which it is paused: World::pause, and slow commits.
    unsigned pauses = 0;
    View view;
    std::uint64_t points = 0;
    std::uint64_t lives = 0;
    unsigned stood_back = 0;  ///< how often the node stood back since it was last Normal
    Unsteady unsteady;        ///< how often the node left as unsteady within the last hour
  };

  /// Throws std::invalid_argument if there is no such node.
  Node& at(NodeId node);

  /// By assumption 9 a pause is a failure. A pause lasts until each reason for it is gone, and the
  /// journal has a line for each reason.
  void pause(NodeId id);
  void go_on(NodeId id);
  void begin_life(NodeId id, SafeState safe);
  void begin_process(NodeId id);
  bool restart(NodeId id);
  /// If `in_the_store` is true, the commit under way becomes durable.
  void end_life(NodeId id, journal::FaultKind kind, bool machine_off, bool in_the_store);
  bool wipe(NodeId id);
  bool copy(NodeId id);
  bool restore(NodeId id);
  bool cut(NodeId node, const NodeSet& from, bool both_ways);
  bool refuse(NodeId a, NodeId b);
  bool heal();
  void fault(journal::FaultKind kind, std::optional<NodeId> node,
             std::optional<NodeSet> from = std::nullopt);
  [[nodiscard]] bool is_normal() const;

  WorldOptions options;
  simulated::Surroundings world;
  simulated::Network network;
  NodeSet ids;
  std::string crashed_at;
  std::deque<ApplicationFailure> failures;

 private:
  void pause_for(NodeId id, Duration time);
  void point(NodeId id, const char* what);
  void died(NodeId id);
  void left(NodeId id, LeaveCause cause);
  void outlived(NodeId id, const host::LifeClaims& life_claims);
  void fatal(NodeId id, const Failure& failure);
  void begin_next_life(NodeId id, Incarnation above);
  void next_life_after(NodeId id, Duration delay, Incarnation above);
  simulated::SimulatedLife::Handlers handlers(NodeId id);

  std::vector<Node> nodes_;
  std::set<std::pair<NodeId, NodeId>> cuts_;
};

}  // namespace muster::lab
