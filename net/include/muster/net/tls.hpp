#pragma once

#include <muster/values/failure.hpp>
#include <muster/values/types.hpp>

#include <string>

/// What a node proves of itself to others, and whom it believes: `[tls]` of a configuration.

namespace MUSTER_EXPORT muster {
namespace net {

using muster::operator==;

/// Files in PEM, and the names that stand in certificates.
struct TlsOptions {
  /// The certificates of the authorities that are believed. No others are, whatever the system has.
  std::string ca;
  std::string certificate;  ///< this node's, and those between it and an authority
  std::string key;          ///< of that certificate, without a passphrase
  std::string crl;          ///< certificates that were taken back; none where empty
  std::string cluster;      ///< its name, as it stands in those of nodes
  /// A node's name, which is the one URI among its certificate's alternative names. CLUSTER and ID
  /// stand in it once each.
  std::string name = "muster://CLUSTER/node/ID";
  std::string observer = "muster://CLUSTER/observer";  ///< the same of who only looks
};
MUSTER_DESCRIBE(TlsOptions, ca, certificate, key, crl, cluster, name, observer);

/// The name of a node in the cluster.
std::string certificate_name(const TlsOptions& options, NodeId node);
/// The name of who only looks at it.
std::string observer_name(const TlsOptions& options);

/// What node `own` of a cluster of those nodes would say of the files when it starts: that they are
/// not there, do not fit each other, are another's, or are no longer, or not yet, believed.
Expected<> look_at(const TlsOptions& options, const NodeSet& nodes, NodeId own);

}  // namespace net
}  // namespace muster
