#pragma once

#include <muster/net/tls.hpp>
#include <muster/values/failure.hpp>

#include <openssl/ssl.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

/// The TLS identity of a process and its trusted authorities, read from files that were checked.

namespace muster::net {

template <auto free>
struct Free {
  template <class T>
  void operator()(T* value) const {
    free(value);
  }
};

/// The peers that are accepted, by the name in their certificate. Observers have the id 0.
using Names = std::map<std::string, NodeId>;
Names names_of(const TlsOptions& options, const NodeSet& nodes);

class Credentials {
 public:
  /// Reads the files of a node in a cluster of `nodes`. The certificate has to be for the node
  /// `own`. If `own` is none, it may be for any node or observer of the cluster. Fails if a file
  /// cannot be read, if the files do not fit each other, or if this node itself would not believe
  /// the certificate.
  static Expected<std::shared_ptr<const Credentials>> load(const TlsOptions& options,
                                                           const NodeSet& nodes,
                                                           std::optional<NodeId> own);
  /// Reads the files without the check that this node itself would believe the certificate.
  static Expected<std::shared_ptr<Credentials>> read(const TlsOptions& options,
                                                     const NodeSet& nodes);

  [[nodiscard]] SSL_CTX* context() const { return context_.get(); }
  [[nodiscard]] const Names& names() const { return names_; }
  /// The moment at which the first one expires of this node's certificate and those of the
  /// authorities above it.
  [[nodiscard]] std::chrono::system_clock::time_point expires() const { return expires_; }
  /// The moment by which the revocation list has to be renewed; none if there is no list.
  [[nodiscard]] std::optional<std::chrono::system_clock::time_point> list_expires() const {
    return list_expires_;
  }

  /// Notes that a node of the cluster has called this node's certificate revoked. A node says so
  /// only if its own list names the certificate, so no mistake in that node's other files has this
  /// effect. Only from the thread of the connections.
  void note_revoked() const { revoked_ = true; }
  [[nodiscard]] bool is_revoked() const { return revoked_; }

 private:
  Credentials() = default;
  Expected<> read_files(const TlsOptions& options);
  Expected<> read_revocations(const std::string& file);
  Expected<> check_own(const TlsOptions& options, std::optional<NodeId> own);

  std::unique_ptr<SSL_CTX, Free<SSL_CTX_free>> context_;
  Names names_;
  std::chrono::system_clock::time_point expires_;
  std::optional<std::chrono::system_clock::time_point> list_expires_;
  mutable bool revoked_ = false;
};

/// When the first certificate of a chain expires.
std::chrono::system_clock::time_point end_of(const STACK_OF(X509) * chain);

/// The judgement about a certificate that an authority has signed: a fault, or the node that it
/// names.
struct Judged {
  std::string wrong;  ///< empty: no fault
  NodeId node;
};
Judged judge(X509* certificate, const Names& names);

/// A callback for OpenSSL, which has found a fault in a chain. Returns 1 if the fault is to be
/// ignored.
int forgives(int holds, X509_STORE_CTX* chain);

/// The reason of OpenSSL's last error. Clears all of its errors.
std::string openssl_error();

}  // namespace muster::net
