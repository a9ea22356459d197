#pragma once

#include <muster/values/failure.hpp>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

/// A certificate authority for one cluster, for users who have none: a directory with its key and
/// all certificates that it has issued.
///
/// | file | content |
/// |---|---|
/// | `ca.crt` | its certificate, for `[tls] ca` on every node |
/// | `ca.key` | its key, mode 0600; it belongs on no node |
/// | `crl.pem` | its list of revoked certificates, for `[tls] crl` if that is used |
/// | `issued/SERIAL.crt` | each certificate that it has issued |

namespace muster::certificates {

using Clock = std::chrono::system_clock;
using Days = std::chrono::days;

/// The holder of a certificate, and the uses that the certificate permits.
struct Subject {
  std::string name;                  ///< the URI in the certificate
  std::string common_name{};         ///< empty: the same as `name`
  std::vector<std::string> hosts{};  ///< names and addresses under which others dial the holder
  bool serves = true;
  bool dials = true;
};

/// One certificate in a list.
struct Entry {
  std::string serial;  ///< hexadecimal
  std::string name;    ///< the URI: muster://CLUSTER/node/3, muster://CLUSTER/observer
  Clock::time_point expires;
  bool revoked = false;
};

/// A certificate and its key, as PEM.
struct Issued {
  std::string certificate;
  std::string key;
  Entry entry;
};

class Authority {
 public:
  /// Makes an authority for a cluster of that name. The directory must be absent or empty.
  static Expected<Authority> create(const std::filesystem::path& directory,
                                    const std::string& cluster, std::chrono::seconds lifetime);
  static Expected<Authority> open(const std::filesystem::path& directory);

  /// Issues a certificate with a new key. The certificate is valid from an hour ago, because clocks
  /// differ.
  Expected<Issued> issue(const Subject& subject, std::chrono::seconds lifetime) const;

  /// Writes a new `crl.pem` that also revokes the certificate with this serial number. The list has
  /// to be renewed within `lifetime`.
  Expected<Entry> revoke(const std::string& serial, std::chrono::seconds lifetime) const;

  /// Writes `crl.pem` again, with the same revocations and a new expiry.
  Expected<> renew_revocations(std::chrono::seconds lifetime) const;

  /// All issued certificates, sorted by name. Of several with one name, the one that expires last
  /// comes first.
  [[nodiscard]] Expected<std::vector<Entry>> list() const;

  /// The cluster that the authority was made for.
  [[nodiscard]] Expected<std::string> cluster() const;

  [[nodiscard]] std::filesystem::path certificate() const { return directory_ / "ca.crt"; }
  [[nodiscard]] std::filesystem::path revocations() const { return directory_ / "crl.pem"; }

 private:
  explicit Authority(std::filesystem::path directory) : directory_(std::move(directory)) {}

  std::filesystem::path directory_;
};

/// The certificate in a file, or the first of several. The result's name is empty if the
/// certificate has no URI, or more than one.
Expected<Entry> entry_of(const std::filesystem::path& file);
/// Whether the certificate in one file is one of those in the other.
Expected<bool> is_among(const std::filesystem::path& one, const std::filesystem::path& others);
/// Whether clients accept the certificate for that host, which is a name or a numeric address.
Expected<bool> is_for_host(const std::filesystem::path& file, const std::string& host);
/// The subject of the certificate in a file, so that `issue` can make another one for it.
Expected<Subject> subject_of(const std::filesystem::path& file);

}  // namespace muster::certificates
