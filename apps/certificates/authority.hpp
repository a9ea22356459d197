#pragma once

#include <muster/values/failure.hpp>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

/// An authority of certificates for one cluster, for those who have none: a directory with its key,
/// and all that it has given out.
///
/// | file | what |
/// |---|---|
/// | `ca.crt` | its certificate: what `[tls] ca` names on every node |
/// | `ca.key` | its key, mode 0600: on no node |
/// | `crl.pem` | what it has taken back: what `[tls] crl` names, where that is used |
/// | `issued/SERIAL.crt` | each certificate that it has given out |

namespace muster::certificates {

using Clock = std::chrono::system_clock;
using Days = std::chrono::days;

/// Whom a certificate is for, and for what.
struct Subject {
  std::string name;                  ///< its URI
  std::string common_name{};         ///< empty: the name
  std::vector<std::string> hosts{};  ///< names and addresses under which others dial it
  bool serves = true;
  bool dials = true;
};

/// A certificate as it stands in a list.
struct Entry {
  std::string serial;  ///< hexadecimal
  std::string name;    ///< its URI: muster://CLUSTER/node/3, muster://CLUSTER/observer
  Clock::time_point expires;
  bool revoked = false;
};

/// A certificate with those it needs to be believed, and its key, as PEM.
struct Issued {
  std::string certificate;
  std::string key;
  Entry entry;
};

class Authority {
 public:
  /// Makes one for a cluster of that name in a directory that is not there yet, or empty.
  static Expected<Authority> create(const std::filesystem::path& directory,
                                    const std::string& cluster, std::chrono::seconds lifetime);
  static Expected<Authority> open(const std::filesystem::path& directory);

  /// By a key of its own, valid from an hour ago: clocks differ.
  Expected<Issued> issue(const Subject& subject, std::chrono::seconds lifetime) const;

  /// Takes a certificate back, by its serial number; `crl.pem` says so from then on, for `lifetime`
  /// before it wants to be renewed.
  Expected<Entry> revoke(const std::string& serial, std::chrono::seconds lifetime) const;

  /// Writes `crl.pem` anew, with what it has.
  Expected<> renew_revocations(std::chrono::seconds lifetime) const;

  /// All that were given out, by their names, the latest of each first.
  [[nodiscard]] Expected<std::vector<Entry>> list() const;

  /// The cluster that it was made for.
  [[nodiscard]] Expected<std::string> cluster() const;

  [[nodiscard]] std::filesystem::path certificate() const { return directory_ / "ca.crt"; }
  [[nodiscard]] std::filesystem::path revocations() const { return directory_ / "crl.pem"; }

 private:
  explicit Authority(std::filesystem::path directory) : directory_(std::move(directory)) {}

  std::filesystem::path directory_;
};

/// The certificate in a file, the first of several: its name is empty where it has none, or more.
Expected<Entry> entry_of(const std::filesystem::path& file);
/// Whether the certificate in one file is one of those in the other.
Expected<bool> is_among(const std::filesystem::path& one, const std::filesystem::path& others);
/// Whether clients take it for that host: a name, or a numeric address.
Expected<bool> is_for_host(const std::filesystem::path& file, const std::string& host);
/// For whom it is: what `issue` makes another by.
Expected<Subject> subject_of(const std::filesystem::path& file);

}  // namespace muster::certificates
