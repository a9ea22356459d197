#pragma once

#include "apps/cluster/cluster.hpp"

#include <muster/values/types.hpp>

#include <functional>
#include <string>

/// Checks after an attacker has gone.

namespace muster::test {

/// All nodes that run are Normal in one group, and that group is not `before`.
bool is_together(const apps::Cluster& cluster, const GroupNumber& before = {});

/// Waits until the nodes are together, or `has_ended` is true. Returns false if neither has
/// happened after the time `within`. The textbook Bully does not promise this: if several nodes
/// come back at once, two of them can remain coordinators (docs/findings.md). In that case the
/// function restarts the cluster's highest node, which then tells all others that it is
/// coordinator.
bool await_together(apps::Cluster& cluster, const std::function<bool()>& has_ended, Duration within,
                    const GroupNumber& before = {});

/// A cluster of real nodes after an attack has ended.
class Recovery : apps::Cluster::Listener {
 public:
  /// The nodes in `initialise` begin with --initialise; the cluster's `launch` adds that option.
  Recovery(apps::Cluster& cluster, NodeSet& initialise);
  ~Recovery() override { cluster_.listen(nullptr); }
  Recovery(const Recovery&) = delete;
  Recovery& operator=(const Recovery&) = delete;

  /// Starts all nodes that are down, with their configurations and stores unchanged. If a node ends
  /// with exit code 65, the function starts it again in the way that the node's last message
  /// demands. The nodes must become one group, and each of them must be able to coordinate it. To
  /// check this, the function kills each coordinator in turn. In the end all nodes must be one
  /// group again. Returns the first error; empty: none.
  std::string become_whole();

 private:
  void start_all();
  bool come_together(const char* when, const GroupNumber& before = {});
  void ended_unasked(NodeId node, int status) override;
  [[nodiscard]] GroupNumber group() const;

  apps::Cluster& cluster_;
  NodeSet& initialise_;
  NodeSet refused_;  ///< nodes that ended with 65 and have not been started again yet
  std::string wrong_;
};

}  // namespace muster::test
