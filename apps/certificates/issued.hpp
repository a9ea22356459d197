#pragma once

#include "authority.hpp"

/// A certificate where `[tls]` finds it: with its key, and whom to believe, in one directory.

namespace muster::certificates {

struct IssuedFiles {
  explicit IssuedFiles(const std::filesystem::path& directory)
      : ca(directory / "ca.crt"), certificate(directory / "tls.crt"), key(directory / "tls.key") {}
  std::filesystem::path ca, certificate, key;
};

/// Issues one and puts it into that directory, which is there. What it has of certificate and key
/// is in the way, or replaced; its authorities stay.
Expected<Entry> issue_into(const std::filesystem::path& directory, const Authority& authority,
                           const std::string& name, Days lifetime, bool replace);

}  // namespace muster::certificates
