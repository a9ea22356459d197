#pragma once

#include <muster/protocol/lines.hpp>
#include <muster/protocol/options.hpp>
#include <muster/protocol/repairs.hpp>
#include <muster/protocol/timings.hpp>

/// What a node is told before it begins.

namespace MUSTER_EXPORT muster {

/// The election algorithms that a cluster can run.
enum class ProtocolName {
  bully,       ///< the paper's first (section 3)
  invitation,  ///< the paper's second (section 4)
  textbook,    ///< the Bully as textbooks give it, for comparison (section 7)
};
MUSTER_DESCRIBE_ENUM(ProtocolName, bully, invitation, textbook)

/// The settings of the protocol on one node, as a program gives them.
struct ProtocolConfig {
  NodeId self;
  /// All nodes of the cluster, `self` included.
  NodeSet nodes;
  Repairs repairs;  ///< of the Bully
  Timings timings;
  ProtocolName protocol = ProtocolName::bully;
  invitation::Repairs invitation_repairs = {};
  /// Of the textbook protocol: who is more important becomes coordinator; 0 where a node has none,
  /// and of equals the higher id.
  std::map<NodeId, std::uint64_t> importance = {};
  Options options = {};

  /// True when the protocol is the paper's text without any of our repairs.
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

/// All that `step` may know beside the state: fixed for a life.
struct Config : ProtocolConfig {
  using Base = ProtocolConfig;
  /// Lines of the protocol that the lab has taken out; none on a real node.
  Struck struck = {};
};
MUSTER_DESCRIBE(Config, self, nodes, repairs, timings, protocol, invitation_repairs, importance,
                struck, options);

}  // namespace muster

MUSTER_COMPILED_ONCE(muster::Config);
