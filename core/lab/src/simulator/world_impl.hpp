#pragma once

#include "simulated_life.hpp"

#include <muster/claims/assertions.hpp>

#include <set>
#include <vector>

namespace muster::lab {

/// The nodes of a world, and what befalls them.
class World::Impl {
 public:
  explicit Impl(WorldOptions chosen);
  ~Impl();

  /// What outlives the lives of one node.
  struct Node {
    Config config;
    std::string cluster;  ///< its canonical text
    std::unique_ptr<SafeStorage> storage;
    std::unique_ptr<simulated::Cells> copy;          ///< of its storage
    std::shared_ptr<simulated::SimulatedLife> life;  ///< the present one, or the last
    bool up = false;
    bool held_down = false;     ///< its process waits before it begins a life
    unsigned stands_still = 0;  ///< for so many reasons: it is paused, a commit takes too long
    View view;
    std::uint64_t points = 0;
    std::uint64_t lives = 0;
    unsigned stood_back = 0;  ///< how often, since it was last Normal
    Unsteady unsteady;        ///< how often it left for that within the hour
  };

  /// Throws std::invalid_argument where there is no such node.
  Node& at(NodeId node);

  /// By assumption 9 a failure, told by a line of the journal, until as many reasons are gone.
  void stand_still(NodeId id);
  void go_on(NodeId id);
  void begin_life(NodeId id, SafeState safe);
  void begin_process(NodeId id);
  bool restart(NodeId id);
  /// `in_the_store`: so ends the commit that is being made.
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
  void stand_still_for(NodeId id, Duration time);
  void point(NodeId id, const char* what);
  void died(NodeId id);
  void left(NodeId id, LeaveCause cause);
  void outlived(NodeId id, const host::Voices& voices);
  void fatal(NodeId id, const Failure& failure);
  void begin_next_life(NodeId id, Incarnation above);
  void next_life_after(NodeId id, Duration delay, Incarnation above);
  simulated::SimulatedLife::Handlers handlers(NodeId id);

  std::vector<Node> nodes_;
  std::set<std::pair<NodeId, NodeId>> cuts_;
};

}  // namespace muster::lab
