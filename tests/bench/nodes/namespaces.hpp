#pragma once

#include "apps/base/process.hpp"
#include "apps/muster/config/config.hpp"

#include <muster/values/failure.hpp>
#include <muster/values/types.hpp>

#include <map>
#include <memory>

/// Network namespaces of our own, so that a network can be cut: a host for each node, all on one
/// bridge.

namespace muster::apps {

/// Goes on in new user, network and mount namespaces of this process alone, where it may make more
/// of them. To be called before any thread is made.
Expected<> enter_own_namespaces();

/// Hosts 10.99.0.1, 10.99.0.2, ... They go when this goes, and with the process at the latest.
class Hosts {
 public:
  /// To be called after `enter_own_namespaces`. Needs `ip` (iproute2).
  static Expected<std::unique_ptr<Hosts>> make(std::size_t count);

  [[nodiscard]] std::map<NodeId, Address> addresses() const;
  /// Descriptors of their namespaces.
  [[nodiscard]] std::map<NodeId, int> networks() const;

  /// From now on nothing goes to that host, nor comes from it, and nobody is told.
  Expected<> cut(NodeId node);
  Expected<> heal(NodeId node);

  /// Of what `from` sends, `at` loses so many percent, and nobody is told; beside what it lost
  /// before. Needs `nft` (nftables).
  Expected<> lose(NodeId at, NodeId from, unsigned percent = 100);
  /// Nothing is lost at that host any more.
  Expected<> lose_nothing(NodeId at);
  /// What goes to that host, and what comes from it, takes this much longer (netem).
  Expected<> delay(NodeId node, Duration time);
  /// ... passes at this rate, and waits before that (tbf).
  Expected<> limit_rate(NodeId node, unsigned kilobits);

 private:
  struct Host {
    Process holder;  ///< keeps the namespace
    Descriptor network;
  };
  Expected<> on_cable(NodeId node, const std::string& discipline);

  std::map<NodeId, Host> hosts_;
};

}  // namespace muster::apps
