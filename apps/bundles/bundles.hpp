#pragma once

#include "apps/certificates/authority.hpp"
#include "apps/muster/config/config.hpp"

#include <functional>
#include <string>
#include <vector>

/// The files of a new cluster: a directory for each node, to be copied to its host, and the
/// authority of their certificates, which is in none of them.

namespace muster::apps {

/// A certificate and its key, and the directory of the bundle that they are put into.
struct BundledCertificate {
  std::string directory;
  certificates::Subject subject;
};

struct Bundle {
  std::string name;    ///< of its directory: "n3"
  std::string config;  ///< its muster.toml
  std::vector<BundledCertificate> certificates{};
  std::map<std::string, std::string> files{};  ///< others, by their names; for their owner alone
  Look look = Look::at_files;  ///< how far its muster.toml is looked into when it is made
};

inline constexpr const char* bundled_config = "muster.toml";

/// What bundles of a cluster of that name have in common: its nodes, timings of a machine that is
/// shared, and `[tls]` with files in tls.
NodeConfig bundled(const std::string& cluster, const std::map<NodeId, Address>& nodes);

/// What a node with that configuration proves of itself to the others: in tls.
BundledCertificate certificate_of(const NodeConfig& config);

/// muster.toml of that configuration; its first line is `head`.
std::string bundled_text(const NodeConfig& config, const std::string& head);

/// Makes a directory at once, in the place of none or an empty one, or nothing: `fill` is given
/// where it is meanwhile, for this user alone.
Expected<> make_at_once(const std::filesystem::path& directory,
                        const std::function<Expected<>(const std::filesystem::path&)>& fill);

/// Makes all of it at once under that name, or nothing: by the authority that is there already, or,
/// where none is named, by a new one in ca. The failure says what is in the way, or wrong in a
/// configuration.
Expected<> make_bundles(const std::filesystem::path& directory, const std::string& cluster,
                        const std::vector<Bundle>& bundles,
                        const std::filesystem::path& authority = {});

/// "n1 to db1.example, n2 to 10.0.0.2": what is to be copied, and where.
std::string copies_text(const std::map<NodeId, Address>& nodes);

}  // namespace muster::apps
