#include "apps/base/failed.hpp"
#include "apps/base/text.hpp"
#include "apps/muster/config/config.hpp"

#include <muster/protocol/cluster_text.hpp>
#include <muster/values/kinds.hpp>
#include <muster/values/text.hpp>

#include <cerrno>
#include <fstream>
#include <sstream>
#include <vector>

namespace muster::apps {
namespace {

std::vector<std::pair<std::string, std::string>> timing_lines(const Timings& timings) {
  std::vector<std::pair<std::string, std::string>> lines;
  for_each_field(timings, [&](const char* name, const Duration& value) {
    lines.emplace_back(name, format_duration(value));
  });
  return lines;
}

std::string text_of(bool value) {
  return value ? "true" : "false";
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' || byte == 0x7f) {
      (out += "\\u00") += muster::detail::hexadecimal_digits[byte >> 4];
      out += muster::detail::hexadecimal_digits[byte & 15];
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
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
  return cluster_text(lines);
}

Config ClusterConfig::core(NodeId self) const {
  Config config{self, ids(), {}, timings, protocol, {}, importance, {}, options};
  if (literal) {
    config.repairs = Repairs::none();
    config.invitation_repairs = invitation::Repairs::none();
  }
  if (config.can_be_calm()) config.options.calm = calm;
  return config;
}

Config NodeConfig::core() const {
  return cluster.core(self);
}

namespace {

void write_importance(std::ostream& out, const ClusterConfig& cluster) {
  out << "\n[cluster.importance]\n";
  for (const auto& [id, score] : cluster.importance) out << id.value << " = " << score << '\n';
}

void write_tls(std::ostream& out, const net::TlsOptions& tls) {
  const net::TlsOptions as_usual;
  out << "\n[tls]\nca = " << quoted(tls.ca) << "\ncert = " << quoted(tls.certificate)
      << "\nkey = " << quoted(tls.key) << '\n';
  if (!tls.crl.empty()) out << "crl = " << quoted(tls.crl) << '\n';
  if (tls.name != as_usual.name) out << "name = " << quoted(tls.name) << '\n';
  if (tls.observer != as_usual.observer) out << "observer = " << quoted(tls.observer) << '\n';
}

void write_command(std::ostream& out, const char* key, const std::vector<std::string>& command) {
  if (command.empty()) return;
  const char* before = " = [";
  out << key;
  for (const std::string& word : command) out << std::exchange(before, ", ") << quoted(word);
  out << "]\n";
}

}  // namespace

std::string write_config(const NodeConfig& config) {
  std::ostringstream out;
  out << "[node]\nid = " << config.self.value << "\ndata = " << quoted(config.data.string())
      << "\n";
  if (config.listen) out << "listen = " << quoted(config.listen->text()) << '\n';
  out << "\n[cluster]\nname = " << quoted(config.cluster.name) << "\nprotocol = \""
      << enumerator_name(config.cluster.protocol) << "\"\n";
  if (config.cluster.literal) out << "literal = true\n";
  if (config.cluster.insecure) out << "insecure = true\n";
  if (!config.cluster.proofs) out << "proofs = false\n";
  for (const auto& [key, value] : timing_lines(config.cluster.timings)) {
    out << key << " = " << quoted(value) << '\n';
  }
  out << "hold_down = " << quoted(format_duration(config.cluster.hold_down)) << '\n';
  out << "calm = " << quoted(format_duration(config.cluster.calm)) << '\n';
  for (const auto& [name, text] : chosen_options(config.cluster.options))
    out << name << " = " << quoted(text) << '\n';
  out << "\n[cluster.nodes]\n";
  for (const auto& [id, address] : config.cluster.nodes) {
    out << id.value << " = " << quoted(address.text()) << '\n';
  }
  if (!config.cluster.importance.empty()) write_importance(out, config.cluster);
  if (config.tls) write_tls(out, *config.tls);
  if (config.journal) {
    out << "\n[journal]\nfile = " << quoted(config.journal->file.string())
        << "\nlimit = " << quoted(format_size(config.journal->limit))
        << "\nkeep = " << quoted(format_size(config.journal->keep)) << "\ndetail = \""
        << enumerator_name(config.journal->detail) << "\"\n";
  }
  const LogConfig as_usual;
  if (config.log.level != as_usual.level || config.log.format != as_usual.format)
    out << "\n[log]\nlevel = \"" << enumerator_name(config.log.level) << "\"\nformat = \""
        << enumerator_name(config.log.format) << "\"\n";
  out << "\n[application]\nkind = " << quoted(config.application.kind) << '\n';
  if (config.application.kind == "shards") {
    out << "records_per_second = " << config.application.records_per_second << '\n';
  }
  write_command(out, "program", config.application.program);
  if (config.application.inherit) out << "inherit = true\n";
  if (config.hooks) {
    out << "\n[hooks]\n";
    write_command(out, "stop", config.hooks->stop);
    write_command(out, "reorganize", config.hooks->reorganize);
    write_command(out, "start", config.hooks->start);
    if (config.hooks->inherit) out << "inherit = true\n";
  }
  return out.str();
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
                       "; name an existing configuration with --config"};
  }
  text.resize(static_cast<std::size_t>(in.gcount()));
  return parse_config(text, file, look);
}

}  // namespace muster::apps
