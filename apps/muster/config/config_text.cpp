#include "apps/base/failed.hpp"
#include "apps/base/text.hpp"
#include "apps/base/user.hpp"
#include "apps/muster/config/config.hpp"

#include <muster/detail/values/kinds.hpp>
#include <muster/protocol/cluster_text.hpp>
#include <muster/values/text.hpp>

#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>
#include <vector>

namespace muster::apps {
namespace {

std::string text_of(bool value) {
  return value ? "true" : "false";
}

}  // namespace

NodeSet ClusterConfig::ids() const {
  NodeSet ids;
  for (const auto& [id, address] : nodes) ids.insert(id);
  return ids;
}

std::string ClusterConfig::canonical() const {
  ClusterLines lines = cluster_lines(core({}));
  lines["hold_down"] = format_duration(hold_down);
  lines["calm"] = format_duration(core({}).options.calm);
  lines["name"] = name;
  lines["insecure"] = text_of(insecure);
  if (!proofs) lines["proofs"] = text_of(proofs);
  for (const auto& [id, address] : nodes) lines["nodes." + to_text(id)] = address.text();
  if (postgres) {
    lines["postgres.copies"] = std::to_string(postgres->copies);
    if (postgres->generation != 1)
      lines["postgres.generation"] = std::to_string(postgres->generation);
    for (const auto& [id, address] : postgres->nodes)
      lines["postgres." + to_text(id)] = address.text();
  }
  return cluster_text(lines);
}

ProtocolConfig ClusterConfig::core(NodeId self) const {
  ProtocolConfig config{self, ids(), {}, timings, protocol, {}, importance, options};
  if (literal) {
    config.repairs = Repairs::none();
    config.invitation_repairs = invitation::Repairs::none();
  }
  if (config.can_be_calm()) config.options.calm = calm;
  return config;
}

ProtocolConfig NodeConfig::core() const {
  return cluster.core(self);
}

Expected<NodeConfig> load_config(const std::filesystem::path& file, Look look) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) {
    return Failure{ExitCode::bad_configuration,
                   file.string() + ": is a directory: expected a configuration file"};
  }
  std::ifstream in(file, std::ios::binary);
  std::string text(longest_config + 1, '\0');
  if (in) in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!in && !in.eof()) {
    const int why = errno;
    if (why == EMFILE || why == ENFILE)
      return Failure{ExitCode::temporary, file.string() + ": cannot be read: " + no_descriptors};
    return Failure{ExitCode::bad_configuration,
                   file.string() + ": cannot be read: " + std::generic_category().message(why) +
                       (why == EACCES ? "; let " + name_of(::geteuid()) + " read it"
                                      : "; name an existing configuration")};
  }
  text.resize(static_cast<std::size_t>(in.gcount()));
  auto config = parse_config(text, file, look);
  if (config && config->tls && look == Look::at_files) {
    const auto fits = net::look_at(*config->tls, config->cluster.ids(), config->self);
    if (!fits) return Failure{fits.error().code, file.string() + ": " + fits.error().what};
  }
  return config;
}

}  // namespace muster::apps
