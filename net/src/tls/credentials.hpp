#pragma once

#include <muster/net/tls.hpp>
#include <muster/values/failure.hpp>

#include <openssl/ssl.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

/// What one process proves of itself, and whom it believes: files that were read, and fit.

namespace muster::net {

template <auto free>
struct Free {
  template <class T>
  void operator()(T* value) const {
    free(value);
  }
};

/// Who may be on the other side, by the name in its certificate. Observers have the id 0.
using Names = std::map<std::string, NodeId>;
Names names_of(const TlsOptions& options, const NodeSet& nodes);

class Credentials {
 public:
  /// Of a cluster of those nodes; the certificate has to be `own`'s, or anybody's of the cluster.
  /// Fails where a file cannot be read, or does not fit the others, or the certificate would not be
  /// believed by this very node.
  static Expected<std::shared_ptr<const Credentials>> load(const TlsOptions& options,
                                                           const NodeSet& nodes,
                                                           std::optional<NodeId> own);
  /// The same as the files have them, whoever believes that.
  static Expected<std::shared_ptr<Credentials>> read(const TlsOptions& options,
                                                     const NodeSet& nodes);

  [[nodiscard]] SSL_CTX* context() const { return context_.get(); }
  [[nodiscard]] const Names& names() const { return names_; }
  /// When this node's certificate ends, or one that it needs to be believed.
  [[nodiscard]] std::chrono::system_clock::time_point expires() const { return expires_; }
  /// When the list of revocations wanted to be made anew; none where there is no list.
  [[nodiscard]] std::optional<std::chrono::system_clock::time_point> list_expires() const {
    return list_expires_;
  }

  /// A node of the cluster has said that it was taken back: what no mistake in that node's files
  /// can make it say. From the thread of the connections alone.
  void note_taken_back() const { taken_back_ = true; }
  [[nodiscard]] bool is_taken_back() const { return taken_back_; }

 private:
  Credentials() = default;
  Expected<> read_files(const TlsOptions& options);
  Expected<> read_revocations(const std::string& file);
  Expected<> check_own(const TlsOptions& options, std::optional<NodeId> own);

  std::unique_ptr<SSL_CTX, Free<SSL_CTX_free>> context_;
  Names names_;
  std::chrono::system_clock::time_point expires_;
  std::optional<std::chrono::system_clock::time_point> list_expires_;
  mutable bool taken_back_ = false;
};

/// When the first of those ends.
std::chrono::system_clock::time_point end_of(const STACK_OF(X509) * chain);

/// What is wrong with a certificate, though an authority has signed it; or whose it is.
struct Judged {
  std::string wrong;  ///< empty where nothing is
  NodeId node;
};
Judged judge(X509* certificate, const Names& names);

/// What OpenSSL is told of an error that it has found in a chain: 1 where it is to go on.
int forgives(int holds, X509_STORE_CTX* chain);

/// The reason of the last error of OpenSSL, which it then forgets with all others.
std::string openssl_error();

}  // namespace muster::net
