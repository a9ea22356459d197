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
  // Keeps an existing file, because it may also list another authority that this one is replacing.
  if (std::error_code none; !std::filesystem::exists(files.ca, none))
    if (auto done = write_public(files.ca, *ca); !done) return done.error();
  if (const auto list = read_file(authority.revocations())) {
    if (auto done = write_public(files.crl, *list, true); !done) return done.error();
  }
  // A node loads the key and the certificate as soon as they fit together, so the certificate is
  // written last.
  if (auto done = write_private(files.key, given_out->key, replace); !done) return done.error();
  if (auto done = write_public(files.certificate, given_out->certificate, replace); !done)
    return done.error();
  return given_out->entry;
}

}  // namespace muster::certificates
