#pragma once

#include "authority.hpp"

/// A certificate in the place that `[tls]` names: one directory with the certificate, its key, the
/// authorities to trust, and the revocations.

namespace muster::certificates {

struct IssuedFiles {
  explicit IssuedFiles(const std::filesystem::path& directory)
      : ca(directory / "ca.crt"),
        certificate(directory / "tls.crt"),
        key(directory / "tls.key"),
        crl(directory / "crl.pem") {}
  std::filesystem::path ca, certificate, key, crl;
};

/// Issues a certificate into an existing directory. An existing certificate or key is replaced if
/// `replace` is true; otherwise the call fails. The file of authorities stays; the list of
/// revocations is updated.
Expected<Entry> issue_into(const std::filesystem::path& directory, const Authority& authority,
                           const Subject& subject, Days lifetime, bool replace);

}  // namespace muster::certificates
