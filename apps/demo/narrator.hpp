#pragma once

#include "apps/cluster/cluster.hpp"
#include "apps/demo/screen.hpp"

#include <string>
#include <vector>

namespace muster::apps {

/// Prints what happens to a cluster, in the paper's words: failures and recoveries, elections with
/// their reasons, and the groups that form.
class Narrator : public Cluster::Listener {
 public:
  Narrator(const Cluster& cluster, Screen& screen) : cluster_(cluster), screen_(screen) {}

  void line(const journal::Line& line) override;
  void formed(const Formed& formed) override;
  void ended_unasked(NodeId node, int wait_status) override;

  /// Nodes whose process ended without an order, or did not end in order.
  [[nodiscard]] const std::vector<std::string>& unasked() const { return unasked_; }

 private:
  void tell(const journal::Step& step);
  void tell(const journal::Fault& fault);
  void tell(const journal::Ended& ended);
  void tell_election(const journal::Step& step, const NodeSeen& seen);

  const Cluster& cluster_;
  Screen& screen_;
  std::optional<NodeId> coordinator_;
  std::map<NodeId, Wait> procedures_;
  std::vector<std::string> unasked_;
};

}  // namespace muster::apps
