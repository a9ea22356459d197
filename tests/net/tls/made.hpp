#pragma once

#include "net/src/tls/credentials.hpp"
#include "storage/temporary_directory.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

/// Certificates as nobody should make them, and as one should.

namespace muster::test {

using Days = std::chrono::days;

/// A certificate and its key; may sign others.
struct Made {
  std::unique_ptr<X509, net::Free<X509_free>> certificate;
  std::unique_ptr<EVP_PKEY, net::Free<EVP_PKEY_free>> key;
};

/// What to put into one.
struct Wish {
  std::vector<std::string> alternative_names = {};  ///< "URI:...", "DNS:...": as OpenSSL reads them
  std::string usage = "serverAuth,clientAuth";      ///< empty: none is named
  std::chrono::seconds from = Days(-1);
  std::chrono::seconds to = Days(100);
  bool authority = false;
};

/// Signed by `by`, or by itself.
Made made(const Wish& wish, const Made* by = nullptr);

/// A directory of PEM files.
class Files {
 public:
  [[nodiscard]] std::string at(const std::string& name) const { return own_.path() / name; }
  /// One certificate after the other.
  std::string write(const std::string& name, const std::vector<const Made*>& made) const;
  std::string write_key(const std::string& name, const Made& made) const;
  /// The list of what `by` has taken back.
  std::string write_list(const std::string& name, const Made& by,
                         const std::vector<const Made*>& taken_back, Days to = Days(10)) const;

 private:
  TemporaryDirectory own_;
};

}  // namespace muster::test
