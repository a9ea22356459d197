#pragma once

#include "authority.hpp"

/// A certificate where `[tls]` finds it: with its key, whom to believe, and whom no longer, in one
/// directory.

namespace muster::certificates {

struct IssuedFiles {
  explicit IssuedFiles(const std::filesystem::path& directory)
      : ca(directory / "ca.crt"),
        certificate(directory / "tls.crt"),
        key(directory / "tls.key"),
        crl(directory / "crl.pem") {}
  std::filesystem::path ca, certificate, key, crl;
};

/// Issues one and puts it into that directory, which is there. What it has of certificate and key
/// is in the way, or replaced; its authorities stay, and its list of revocations is that of now.
Expected<Entry> issue_into(const std::filesystem::path& directory, const Authority& authority,
                           const Subject& subject, Days lifetime, bool replace);

}  // namespace muster::certificates
