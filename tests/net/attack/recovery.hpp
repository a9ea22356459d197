#pragma once

#include "apps/cluster/cluster.hpp"

#include <muster/values/types.hpp>

#include <functional>
#include <string>

/// What is looked at when an attacker has gone.

namespace muster::test {

/// All nodes that run are Normal in one group, and it is not `before`.
bool is_together(const apps::Cluster& cluster, const GroupNumber& before = {});

/// Waits until the nodes are together, or `ended` is true. Returns false after `within`. The
/// textbook's Bully claims less: if several nodes come back at once, two coordinators may stay
/// (docs/findings.md). Then its highest node is started again, and tells all others that it is
/// coordinator.
bool await_together(apps::Cluster& cluster, const std::function<bool()>& ended, Duration within,
                    const GroupNumber& before = {});

/// A cluster of real nodes that somebody has attacked, and does no longer.
class Recovery : apps::Cluster::Listener {
 public:
  /// The nodes in `initialise` begin with --initialise, which the cluster's `launch` sees to.
  Recovery(apps::Cluster& cluster, NodeSet& initialise);
  ~Recovery() override { cluster_.listen(nullptr); }
  Recovery(const Recovery&) = delete;
  Recovery& operator=(const Recovery&) = delete;

  /// Starts all nodes that are down, as they are; a node that ends with 65 is started again, as its
  /// last sentence says. They have to become one group, and be one whoever of them coordinates:
  /// each coordinator is killed, and at the end all are one group again. What is wrong; empty:
  /// nothing.
  std::string become_whole();

 private:
  void start_all();
  bool come_together(const char* when, const GroupNumber& before = {});
  void ended_unasked(NodeId node, int status) override;
  [[nodiscard]] GroupNumber group() const;

  apps::Cluster& cluster_;
  NodeSet& initialise_;
  NodeSet refused_;  ///< ended with 65, and not started again yet
  std::string wrong_;
};

}  // namespace muster::test
