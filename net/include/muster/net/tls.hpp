#pragma once

#include <muster/values/failure.hpp>
#include <muster/values/types.hpp>

#include <string>

/// How a node proves its identity, and which peers it believes: `[tls]` of a configuration.

namespace MUSTER_EXPORT muster {
namespace net {

using muster::operator==;

/// The files of a node's TLS identity, in PEM, and the names that certificates contain.
struct TlsOptions {
  /// The certificates of the trusted authorities. No other authorities are trusted, not even those
  /// that the system trusts.
  std::string ca;
  std::string certificate;  ///< this node's certificate, then the intermediate ones
  std::string key;          ///< the key of that certificate, without a passphrase
  std::string crl;          ///< the list of revoked certificates; empty: no list
  std::string cluster;      ///< the cluster's name, as certificates of nodes contain it
  /// The pattern of a node's name. The name is the only URI among the subject alternative names of
  /// its certificate. CLUSTER and ID occur in the pattern once each.
  std::string name = "muster://CLUSTER/node/ID";
  /// The name of an observer, which may only ask for the status.
  std::string observer = "muster://CLUSTER/observer";
};
MUSTER_DESCRIBE(TlsOptions, ca, certificate, key, crl, cluster, name, observer);

/// The name that the certificate of `node` has to contain.
std::string certificate_name(const TlsOptions& options, NodeId node);
/// The name that the certificate of an observer has to contain.
std::string observer_name(const TlsOptions& options);

/// Checks the files as node `own` of a cluster of `nodes` does at its start. Fails if a file is
/// missing, if the files do not fit each other, if the certificate is for another node, or if it
/// has expired or is not valid yet.
Expected<> look_at(const TlsOptions& options, const NodeSet& nodes, NodeId own);

}  // namespace net
}  // namespace muster
