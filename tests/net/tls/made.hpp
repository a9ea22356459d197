#pragma once

#include "net/src/tls/credentials.hpp"
#include "storage/temporary_directory.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

/// Certificates for tests, correct ones and wrong ones.

namespace muster::test {

using Days = std::chrono::days;

/// A certificate and its key. It may sign others.
struct Made {
  std::unique_ptr<X509, net::Free<X509_free>> certificate;
  std::unique_ptr<EVP_PKEY, net::Free<EVP_PKEY_free>> key;
};

/// The contents of the certificate that `made` makes.
struct Wish {
  std::vector<std::string> alternative_names = {};  ///< "URI:...", "DNS:...": as OpenSSL reads them
  std::string usage = "serverAuth,clientAuth";      ///< empty: the certificate names no usage
  std::chrono::seconds from = Days(-1);
  std::chrono::seconds to = Days(100);
  bool authority = false;
};

/// Makes a certificate that `by` has signed; without `by`, a self-signed one.
Made made(const Wish& wish, const Made* by = nullptr);

/// A directory of PEM files.
class Files {
 public:
  [[nodiscard]] std::string at(const std::string& name) const { return own_.path() / name; }
  /// Writes the certificates one after the other into a file.
  std::string write(const std::string& name, const std::vector<const Made*>& made) const;
  std::string write_key(const std::string& name, const Made& made) const;
  /// Writes the list of the certificates that `by` has revoked.
  std::string write_list(const std::string& name, const Made& by,
                         const std::vector<const Made*>& revoked, Days to = Days(10)) const;

 private:
  TemporaryDirectory own_;
};

}  // namespace muster::test
