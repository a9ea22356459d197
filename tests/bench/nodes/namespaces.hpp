#pragma once

#include "apps/base/process.hpp"
#include "apps/muster/config/config.hpp"

#include <muster/values/failure.hpp>
#include <muster/values/types.hpp>

#include <map>
#include <memory>

/// Network namespaces of this process, so that a test can cut a network. Each node has a host (a
/// namespace), and one bridge connects all hosts.

namespace muster::apps {

/// Moves this process into new user, network and mount namespaces. There it has the right to make
/// further namespaces. Call this function before the process makes any thread.
Expected<> enter_own_namespaces();

/// Hosts 10.99.0.1, 10.99.0.2, ... The destructor removes these hosts. The end of the process
/// removes them too.
class Hosts {
 public:
  /// Call this function after `enter_own_namespaces`. It needs `ip` (iproute2).
  static Expected<std::unique_ptr<Hosts>> make(std::size_t count);

  [[nodiscard]] std::map<NodeId, Address> addresses() const;
  /// Descriptors of the network namespaces of the hosts.
  [[nodiscard]] std::map<NodeId, int> networks() const;

  /// From now on no packet reaches that host or comes from it. Neither side gets an error.
  Expected<> cut(NodeId node);
  Expected<> heal(NodeId node);

  /// `at` loses this percentage of the packets from `from`, in addition to earlier losses. Neither
  /// side gets an error. The function needs `nft` (nftables).
  Expected<> lose(NodeId at, NodeId from, unsigned percent = 100);
  /// Ends all losses at that host.
  Expected<> lose_nothing(NodeId at);
  /// Delays the packets to and from that host by this time (netem).
  Expected<> delay(NodeId node, Duration time);
  /// Limits the rate of the packets to and from that host. Packets that exceed the rate wait in a
  /// queue (tbf).
  Expected<> limit_rate(NodeId node, unsigned kilobits);

 private:
  struct Host {
    Process holder;  ///< the process that keeps the namespace
    Descriptor network;
  };
  Expected<> on_cable(NodeId node, const std::string& discipline);

  std::map<NodeId, Host> hosts_;
};

}  // namespace muster::apps
