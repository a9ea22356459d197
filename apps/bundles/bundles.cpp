#include "apps/bundles/bundles.hpp"

#include "apps/certificates/files.hpp"
#include "apps/certificates/issued.hpp"

#include <stdlib.h>

#include <utility>

namespace muster::apps {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using certificates::Authority;

constexpr certificates::Days a_year(365);

/// Opens the authority at `there`, which has to belong to this cluster. Makes a new authority if
/// `there` is empty.
Expected<Authority> authority_of(const std::string& cluster, const fs::path& there,
                                 const fs::path& new_one) {
  if (there.empty()) return Authority::create(new_one, cluster, 10 * a_year);
  auto authority = Authority::open(there);
  if (!authority) return authority;
  const auto its = authority->cluster();
  if (!its) return its.error();
  if (*its == cluster) return authority;
  return Failure{ExitCode::bad_configuration,
                 there.string() + " is the authority of the cluster " + *its + ", not of " +
                     cluster + ": name that cluster, or the directory of the right authority"};
}

Expected<> write(const fs::path& directory, const std::string& cluster,
                 const std::vector<Bundle>& bundles, const fs::path& there) {
  const auto authority = authority_of(cluster, there, directory / "ca");
  if (!authority) return authority.error();
  for (const Bundle& bundle : bundles) {
    const fs::path its = directory / bundle.name;
    if (auto made = certificates::make_private_directory(its); !made) return made;
    if (auto written = certificates::write_public(its / bundled_config, bundle.config); !written)
      return written;
    for (const auto& [name, text] : bundle.files)
      if (auto written = certificates::write_private(its / name, text); !written) return written;
    for (const auto& [where, subject] : bundle.certificates) {
      if (auto made = certificates::make_private_directory(its / where); !made) return made;
      const auto issued = certificates::issue_into(its / where, *authority, subject, a_year, false);
      if (!issued) return issued.error();
    }
    if (const auto read = load_config(its / bundled_config, bundle.look); !read)
      return read.error();
  }
  return {};
}

}  // namespace

NodeConfig bundled(const std::string& cluster, const std::map<NodeId, Address>& nodes) {
  NodeConfig config;
  config.data = "data";
  config.cluster.name = cluster;
  config.cluster.nodes = nodes;
  Timings& timings = config.cluster.timings;
  timings.T = 250ms;  // timings for a shared machine (docs/reference/configuration.md)
  timings.check_every = timings.T / 2;
  timings.coordinator_timeout = timings.check_every + timings.T;
  config.tls = net::TlsOptions{"tls/ca.crt", "tls/tls.crt", "tls/tls.key", "tls/crl.pem", cluster};
  return config;
}

BundledCertificate certificate_of(const NodeConfig& config) {
  return {"tls", {net::certificate_name(*config.tls, config.self)}};
}

std::string bundled_text(const NodeConfig& config, const std::string& head) {
  return "# " + head +
         "\n# docs/reference/configuration.md explains each key; muster config check FILE reports "
         "errors.\n# "
         "[cluster] must be the same on all nodes. Paths are relative to this file.\n\n" +
         write_config(config);
}

Expected<> make_bundles(const fs::path& directory, const std::string& cluster,
                        const std::vector<Bundle>& bundles, const fs::path& authority) {
  std::error_code none;
  if (fs::exists(directory, none) && !fs::is_empty(directory, none))
    return Failure{ExitCode::bad_configuration,
                   directory.string() +
                       " already exists and is not empty: name a new directory, or remove it"};
  for (const Bundle& bundle : bundles)
    if (const auto read = parse_config(bundle.config, directory / bundle.name / bundled_config);
        !read)
      return read.error();
  return make_at_once(
      directory, [&](const fs::path& fresh) { return write(fresh, cluster, bundles, authority); });
}

Expected<> make_at_once(const fs::path& directory,
                        const std::function<Expected<>(const fs::path&)>& fill) {
  std::error_code error;
  if (directory.has_parent_path()) fs::create_directories(directory.parent_path(), error);
  std::string fresh = directory.string() + ".XXXXXX";
  if (::mkdtemp(fresh.data()) == nullptr)
    return certificates::cannot("make", directory, std::generic_category().message(errno));
  auto done = fill(fresh);
  if (done) {
    fs::rename(fresh, directory, error);
    if (!error) return {};
    done = certificates::cannot("make", directory, error.message());
  }
  fs::remove_all(fresh, error);
  return done;
}

std::string copies_text(const std::map<NodeId, Address>& nodes) {
  std::string text;
  for (const auto& [id, address] : nodes)
    text += (text.empty() ? "n" : ", n") + std::to_string(id.value) + " to " + address.host;
  return text;
}

}  // namespace muster::apps
