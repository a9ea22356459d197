#pragma once

#include "apps/certificates/authority.hpp"
#include "apps/muster/config/config.hpp"

#include <functional>
#include <string>
#include <vector>

/// Makes the files of a new cluster. Each node gets a directory, to be copied to the node's host.
/// The certificate authority is in none of these directories.

namespace muster::apps {

/// A certificate and its key, and the directory of the bundle that gets them.
struct BundledCertificate {
  std::string directory;
  certificates::Subject subject;
};

struct Bundle {
  std::string name;    ///< the name of its directory: "n3"
  std::string config;  ///< the text of its muster.toml
  std::vector<BundledCertificate> certificates{};
  std::map<std::string, std::string> files{};  ///< other files, by name, mode 0600
  Look look = Look::at_files;  ///< how far muster.toml is checked when the bundle is made
};

inline constexpr const char* bundled_config = "muster.toml";

/// The configuration that all bundles of a cluster share: its nodes, timings for a shared machine,
/// and `[tls]` with files in the directory tls.
NodeConfig bundled(const std::string& cluster, const std::map<NodeId, Address>& nodes);

/// The certificate that a node with that configuration needs. It belongs in the directory tls.
BundledCertificate certificate_of(const NodeConfig& config);

/// The text of muster.toml for that configuration. Its first line is `head`, as a comment.
std::string bundled_text(const NodeConfig& config, const std::string& head);

/// Makes a directory completely or not at all. The directory must be absent or empty. `fill` gets
/// the path of a temporary directory, which only this user may enter, and which is then renamed.
Expected<> make_at_once(const std::filesystem::path& directory,
                        const std::function<Expected<>(const std::filesystem::path&)>& fill);

/// Makes all bundles in `directory`, or nothing. `authority` is the directory of an existing
/// authority; if it is empty, a new authority is made in the directory ca. The failure names the
/// file or directory that is in the way, or the fault in a configuration.
Expected<> make_bundles(const std::filesystem::path& directory, const std::string& cluster,
                        const std::vector<Bundle>& bundles,
                        const std::filesystem::path& authority = {});

/// Lists each bundle and the host to copy it to: "n1 to db1.example, n2 to 10.0.0.2".
std::string copies_text(const std::map<NodeId, Address>& nodes);

}  // namespace muster::apps
