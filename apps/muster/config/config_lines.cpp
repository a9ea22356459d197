#include "apps/base/text.hpp"
#include "apps/muster/config/config.hpp"

#include <muster/detail/values/kinds.hpp>
#include <muster/protocol/cluster_text.hpp>
#include <muster/values/text.hpp>

#include <algorithm>
#include <type_traits>
#include <utility>

/// A configuration as lines, to write, show or compare it.

namespace muster::apps {
namespace {

std::string toml(const std::string& text) {
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
std::string toml(bool value) {
  return value ? "true" : "false";
}
std::string toml(std::uint64_t number) {
  return std::to_string(number);
}
std::string toml(Duration duration) {
  return toml(format_duration(duration));
}
std::string toml(const std::filesystem::path& path) {
  return toml(path.string());
}
template <class E>
requires std::is_enum_v<E> std::string toml(E value) {
  return toml(std::string(enumerator_name(value)));
}
std::string toml(const std::vector<std::string>& command) {
  std::string out;
  for (const std::string& word : command) out += (out.empty() ? "[" : ", ") + toml(word);
  return out + "]";
}

class Lines {
 public:
  void begin(std::string table) { table_ = std::move(table); }
  template <class T>
  void add(const std::string& key, const T& value) {
    lines.push_back({table_, key, toml(value), {}});
  }
  template <class T>
  void add(const std::string& key, const T& value, const T& usual) {
    lines.push_back({table_, key, toml(value), toml(usual)});
  }
  /// Adds the key, unless the value is empty.
  template <class T>
  void add_some(const std::string& key, const T& value) {
    if (!value.empty()) add(key, value);
  }

  std::vector<ConfigLine> lines;

 private:
  std::string table_;
};

void add_cluster(Lines& lines, const ClusterConfig& cluster) {
  const ClusterConfig usual;
  lines.begin("cluster");
  lines.add("name", cluster.name);
  lines.add("protocol", cluster.protocol, usual.protocol);
  lines.add("literal", cluster.literal, usual.literal);
  lines.add("insecure", cluster.insecure, usual.insecure);
  lines.add("proofs", cluster.proofs, usual.proofs);
  Timings usually;
  usually.coordinator_timeout = cluster.timings.check_every + cluster.timings.T;
  ClusterLines usual_times;
  for_each_field(usually, [&](const char* key, const Duration& time) {
    usual_times[key] = format_duration(time);
  });
  for_each_field(cluster.timings, [&](const char* key, const Duration& time) {
    lines.add(key, format_duration(time), usual_times.at(key));
  });
  lines.add("hold_down", cluster.hold_down, usual.hold_down);
  lines.add("calm", cluster.calm, usual.calm);
  const ClusterLines usual_options = option_lines({});
  for (const auto& [key, text] : option_lines(cluster.options))
    lines.add(key, text, usual_options.at(key));
  lines.begin("cluster.nodes");
  for (const auto& [id, address] : cluster.nodes) lines.add(to_text(id), address.text());
  lines.begin("cluster.postgres");
  if (cluster.postgres) {
    lines.add("copies", std::uint64_t{cluster.postgres->copies});
    lines.add("generation", std::uint64_t{cluster.postgres->generation});
    for (const auto& [id, address] : cluster.postgres->nodes)
      lines.add(to_text(id), address.text());
  }
  lines.begin("cluster.importance");
  for (const auto& [id, score] : cluster.importance) lines.add(to_text(id), score);
}

void add_tls(Lines& lines, const net::TlsOptions& tls) {
  const net::TlsOptions usual;
  lines.begin("tls");
  lines.add("ca", tls.ca);
  lines.add("cert", tls.certificate);
  lines.add("key", tls.key);
  lines.add_some("crl", tls.crl);
  lines.add("name", tls.name, usual.name);
  lines.add("observer", tls.observer, usual.observer);
}

void add_http(Lines& lines, const HttpConfig& http) {
  lines.begin("http");
  lines.add("listen", http.listen.text());
  lines.add("insecure", http.insecure, false);
}

void add_journal(Lines& lines, const JournalConfig& journal) {
  const JournalConfig usual;
  lines.begin("journal");
  lines.add("file", journal.file);
  lines.add("limit", format_size(journal.limit), format_size(usual.limit));
  lines.add("keep", format_size(journal.keep),
            format_size(std::max(usual.keep, 2 * journal.limit)));
  lines.add("detail", journal.detail, usual.detail);
}

void add_application(Lines& lines, const ApplicationConfig& application) {
  const ApplicationConfig usual;
  lines.begin("application");
  lines.add("kind", application.kind, usual.kind);
  if (application.kind == "shards")
    lines.add("records_per_second", std::uint64_t{application.records_per_second},
              std::uint64_t{usual.records_per_second});
  if (application.witness) lines.add("role", std::string("witness"));
  lines.add_some("database", application.database);
  lines.add_some("programs", application.programs);
  lines.add_some("listen", application.listen);
  lines.add_some("hba", application.hba);
  if (application.kind == "postgres" && !application.witness) {
    lines.add("wal_keep", std::uint64_t{application.wal_keep}, std::uint64_t{usual.wal_keep});
    lines.add_some("marker_key", application.marker_key);
    lines.add("marker_period", application.marker_period, usual.marker_period);
    lines.add("marker_deadline", application.marker_deadline, usual.marker_deadline);
  }
  lines.add_some("program", application.program);
  if (!application.program.empty()) lines.add("inherit", application.inherit, usual.inherit);
  if (!application.tls) return;
  lines.begin("application.tls");
  lines.add("ca", application.tls->ca);
  lines.add_some("crl", application.tls->crl);
  lines.add("cert", application.tls->certificate);
  lines.add("key", application.tls->key);
  lines.add("client_cert", application.tls->client_certificate);
  lines.add("client_key", application.tls->client_key);
}

void add_hooks(Lines& lines, const HooksConfig& hooks) {
  lines.begin("hooks");
  lines.add_some("stop", hooks.stop);
  lines.add_some("reorganize", hooks.reorganize);
  lines.add_some("start", hooks.start);
  lines.add("inherit", hooks.inherit, HooksConfig{}.inherit);
}

}  // namespace

std::vector<ConfigLine> config_lines(const NodeConfig& config) {
  Lines lines;
  lines.begin("node");
  lines.add("id", std::uint64_t{config.self.value});
  lines.add("data", config.data);
  if (config.listen) lines.add("listen", config.listen->text());
  add_cluster(lines, config.cluster);
  if (config.tls) add_tls(lines, *config.tls);
  if (config.http) add_http(lines, *config.http);
  if (config.journal) add_journal(lines, *config.journal);
  const LogConfig usual;
  lines.begin("log");
  lines.add("level", config.log.level, usual.level);
  lines.add("format", config.log.format, usual.format);
  add_application(lines, config.application);
  if (config.hooks) add_hooks(lines, *config.hooks);
  return std::move(lines.lines);
}

std::vector<std::string> keys_that_differ(const NodeConfig& one, const NodeConfig& other) {
  std::map<std::string, std::string> values;
  for (const ConfigLine& line : config_lines(one)) values[line.table + '.' + line.key] = line.value;
  std::vector<std::string> keys;
  for (const ConfigLine& line : config_lines(other)) {
    const std::string key = line.table + '.' + line.key;
    const auto before = values.extract(key);
    if (before.empty() || before.mapped() != line.value) keys.push_back(key);
  }
  for (const auto& [key, value] : values) keys.push_back(key);
  return keys;
}

std::string write_config(const NodeConfig& config, Remarks remarks) {
  std::string text;
  std::string table;
  for (const ConfigLine& line : config_lines(config)) {
    if (line.table != table) text += (table.empty() ? "[" : "\n[") + (table = line.table) + "]\n";
    text += line.key + " = " + line.value;
    if (remarks == Remarks::at_defaults && line.value == line.usual) text += "  # default";
    text += '\n';
  }
  return text;
}

}  // namespace muster::apps
