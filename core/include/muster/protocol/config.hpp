#pragma once

#include <muster/protocol/lines.hpp>
#include <muster/protocol/options.hpp>
#include <muster/protocol/repairs.hpp>
#include <muster/protocol/timings.hpp>

/// The configuration of the protocol on one node.

namespace MUSTER_EXPORT muster {

/// The election algorithms that a cluster can run.
enum class ProtocolName {
  bully,       ///< the paper's first (Section III)
  invitation,  ///< the paper's second (Section IV)
  textbook,    ///< the Bully as textbooks describe it, for comparison (docs/protocols/textbook)
};
MUSTER_DESCRIBE_ENUM(ProtocolName, bully, invitation, textbook)

/// The settings of the protocol on one node, as a program gives them. All nodes of a cluster have
/// the same settings, except `self`: nodes with different settings refuse each other.
///
/// @par Errors
/// The type checks nothing. The library checks a configuration when a node is made, and names the
/// value that is wrong.
/// @par Example
/// @code
///     muster::ProtocolConfig config;
///     config.self = muster::NodeId{2};
///     config.nodes = {muster::NodeId{1}, muster::NodeId{2}, muster::NodeId{3}};
///     config.timings.T = std::chrono::milliseconds(200);
///     config.options.quorum = muster::Quorum::majority;
/// @endcode
struct ProtocolConfig {
  NodeId self;
  /// All nodes of the cluster, `self` included.
  NodeSet nodes;
  Repairs repairs;  ///< of the Bully algorithm
  Timings timings;
  ProtocolName protocol = ProtocolName::bully;
  invitation::Repairs invitation_repairs = {};
  /// Only for the textbook protocol: the most important node becomes coordinator. A node without an
  /// entry has 0. If several are equally important, the one with the highest id wins.
  std::map<NodeId, std::uint64_t> importance = {};
  Options options = {};

  /// True when the protocol is the paper's text, without any of our repairs.
  [[nodiscard]] bool literal() const {
    return protocol == ProtocolName::invitation
               ? invitation_repairs == invitation::Repairs::none()
               : protocol == ProtocolName::textbook || repairs == Repairs::none();
  }

  /// Whether `options.calm` may be on.
  [[nodiscard]] bool can_be_calm() const {
    return protocol == ProtocolName::bully && repairs.allow_options();
  }
};

/// Everything that `step` knows in addition to the state. It is fixed for one life.
struct Config : ProtocolConfig {
  using Base = ProtocolConfig;
  /// Lines of the protocol that the lab has removed. Empty on a real node.
  Struck struck = {};
};
MUSTER_DESCRIBE(Config, self, nodes, repairs, timings, protocol, invitation_repairs, importance,
                struck, options);

}  // namespace muster

MUSTER_COMPILED_ONCE(muster::Config);
