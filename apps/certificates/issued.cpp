#include "issued.hpp"

#include "files.hpp"

namespace muster::certificates {

Expected<Entry> issue_into(const std::filesystem::path& directory, const Authority& authority,
                           const Subject& subject, Days lifetime, bool replace) {
  const auto given_out = authority.issue(subject, lifetime);
  if (!given_out) return given_out.error();
  const auto ca = read_file(authority.certificate());
  if (!ca) return ca.error();
  const IssuedFiles files(directory);
  // One that is there may have other authorities besides: while one takes the place of another.
  if (std::error_code none; !std::filesystem::exists(files.ca, none))
    if (auto done = write_public(files.ca, *ca); !done) return done.error();
  if (const auto list = read_file(authority.revocations())) {
    if (auto done = write_public(files.crl, *list, true); !done) return done.error();
  }
  // A node takes the two when they fit: the certificate last.
  if (auto done = write_private(files.key, given_out->key, replace); !done) return done.error();
  if (auto done = write_public(files.certificate, given_out->certificate, replace); !done)
    return done.error();
  return given_out->entry;
}

}  // namespace muster::certificates
