#pragma once

#include "random.hpp"

#include <muster/claims/left_behind.hpp>
#include <muster/lab/simulator.hpp>

#include <functional>
#include <map>
#include <optional>

namespace muster::lab::simulated {

/// Draws the troubles of a world and applies them.
class Troubles {
 public:
  /// `forgets` is called with each node whose storage is emptied or restored.
  Troubles(const Simulation& simulation, std::uint64_t seed, std::function<void(NodeId)> forgets);

  /// The options of the world, which are drawn too.
  WorldOptions options();

  /// Applies troubles for a while. At the end, all lasting troubles are repaired.
  void befall(World& world);

  [[nodiscard]] const TroubleCounts& counts() const { return counts_; }

 private:
  [[nodiscard]] bool has(Trouble trouble) const { return chosen_.contains(trouble); }
  void count(Trouble trouble) { ++counts_[static_cast<std::size_t>(trouble)]; }
  HookFate hook_fate(Hook hook);
  Duration commit_time();
  NodeId any_node();
  [[nodiscard]] std::uint32_t most_off() const;
  Duration some(unsigned least_tenths, unsigned most_tenths);

  void undo_after(Duration delay, std::function<void()> undo);
  void strike(Trouble trouble);
  bool fail_all();  ///< true if a node was up
  void crash(NodeId node, Duration back_after);
  void crash_again_and_again(NodeId node);
  void heal_after(Duration delay);
  [[nodiscard]] Message lie(NodeId from, NodeId to);
  void pause(Trouble trouble);
  void partition();
  void do_as_given();
  void do_now(const Deed& deed);
  void keep_links_apart();
  Cuts some_links();
  void restart_with(NodeId node, const std::string& text);
  void restore(NodeId node, Duration back_after);
  void differ(NodeId node);
  void change_all();
  void differ_or_change(NodeId node);
  void note_crash_at_point();
  void run_until(Duration time);

  const Simulation& simulation_;
  std::function<void(NodeId)> forgets_;
  Random random_;
  /// A generator of its own for lasting cuts, so that seeds without them give the same runs as
  /// before.
  Random random_links_;
  std::set<Trouble> chosen_;
  std::vector<Trouble> strikes_;  ///< the chosen troubles with a drawn time
  std::uint32_t nodes_;
  Timings timings_;
  bool peace_ = false;
  World* world_ = nullptr;
  std::optional<NodeId> to_crash_;  ///< the node that is to fail at a point
  std::string text_;                ///< the configuration text that all nodes are to have
  std::map<NodeId, std::string> texts_;
  unsigned changes_ = 0;
  std::multimap<Duration, std::function<void()>> undos_;
  TroubleCounts counts_{};
};

}  // namespace muster::lab::simulated
