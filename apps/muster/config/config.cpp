#include "apps/muster/config/config.hpp"

#include "apps/base/text.hpp"
#include "apps/muster/config/config_reader.hpp"
#include "apps/muster/config/config_sections.hpp"

#include <muster/detail/values/kinds.hpp>
#include <muster/host/hold_down.hpp>
#include <muster/protocol/misfit.hpp>
#include <muster/values/text.hpp>

#include <algorithm>

namespace muster::apps {
namespace {

void read_node(Reader& reader, const toml::table& root, const std::filesystem::path& file,
               NodeConfig& config) {
  const toml::table* node = reader.table(root, "node", true);
  if (node == nullptr) return;
  reader.only(*node, "[node]", {"id", "data", "listen"});
  const auto line = Reader::line_of(*node);
  if (node->get("id") == nullptr)
    reader.refuse(line, "[node] has no id: expected a line such as id = 3");
  config.self.value = reader.number(*node, "id", 0, 1, std::numeric_limits<std::uint32_t>::max());
  const std::string data = reader.text(*node, "data", "");
  if (data.empty())
    reader.refuse(
        line,
        "[node] has no data: expected data = \"DIRECTORY\", the directory of its safe storage");
  config.data = beside(file, data);
  const toml::node* at = node->get("data");
  check_length(reader, Reader::line_of(at != nullptr ? *at : *node), "data = \"" + data + "\"",
               config.admin_socket());
}

void read_timings(Reader& reader, const toml::table& cluster, Timings& timings) {
  const Timings defaults;
  timings.T = reader.duration(cluster, "T", defaults.T);
  timings.stop_deadline = reader.duration(cluster, "stop_deadline", defaults.stop_deadline);
  timings.start_deadline = reader.duration(cluster, "start_deadline", defaults.start_deadline);
  timings.reorganize_deadline =
      reader.duration(cluster, "reorganize_deadline", defaults.reorganize_deadline);
  timings.check_every = reader.duration(cluster, "check_every", defaults.check_every);
  timings.coordinator_timeout =
      reader.duration(cluster, "coordinator_timeout", timings.check_every + timings.T);
}

// Older configuration files could turn single switches off.
void refuse_switches(Reader& reader, const toml::table& cluster) {
  if (const toml::node* table = cluster.get("repairs"))
    reader.refuse(Reader::line_of(*table),
                  "[cluster.repairs] is no longer read, and every switch is on: remove it, or set "
                  "literal = true in [cluster], which turns all switches off; only the lab turns "
                  "off single switches: muster check --repair NAME=off");
}

void read_options(Reader& reader, const toml::table& cluster, ClusterConfig& to) {
  for (const auto& [name, usual] : option_lines({})) {
    const toml::node* node = cluster.get(name);
    if (node == nullptr) continue;
    if (const auto expected = read_option(name, reader.text(cluster, name, usual), to.options))
      reader.refuse(*node, name, *expected);
  }
}

void read_importance(Reader& reader, const toml::table& cluster, ClusterConfig& to) {
  const toml::table* table = reader.table(cluster, "importance", false);
  if (table == nullptr) return;
  if (to.protocol != ProtocolName::textbook) {
    return reader.refuse(Reader::line_of(*table),
                         "[cluster.importance] is only for the textbook protocol; in the others "
                         "the id is the priority: expected protocol = \"textbook\"");
  }
  for (const auto& [key, node] : *table) {
    const auto id = parse_number(key.str());
    const auto score = node.value_exact<std::int64_t>();
    if (!id || *id > std::numeric_limits<std::uint32_t>::max() || !score || *score < 0)
      return reader.refuse(node, key.str(), "the id of a node and a whole number of at least 0");
    to.importance[NodeId{static_cast<std::uint32_t>(*id)}] = static_cast<std::uint64_t>(*score);
  }
}

// Call this after [tls] and [cluster] are read: the check depends on both.
void read_listen(Reader& reader, const toml::table& root, NodeConfig& config) {
  const toml::node* at = root["node"]["listen"].node();
  if (at == nullptr) return;
  const auto words = at->value_exact<std::string>();
  config.listen = words ? address_of(*words) : std::nullopt;
  if (!config.listen)
    return reader.refuse(*at, "listen",
                         "an address of this machine and a port from 1 to 65535, such as "
                         "\"0.0.0.0:7101\"");
  if (!config.tls && !config.cluster.insecure && !config.listen->is_loopback())
    reader.refuse(*at, "listen",
                  "a loopback address, or [tls], or insecure = true in [cluster]: connections "
                  "without [tls] are neither encrypted nor authenticated");
}

// Call this after [tls] is read.
void read_http(Reader& reader, const toml::table& root, NodeConfig& config) {
  const toml::table* http = reader.table(root, "http", false);
  if (http == nullptr) return;
  reader.only(*http, "[http]", {"listen", "insecure"});
  const bool insecure = reader.flag(*http, "insecure", false);
  const std::string words = reader.text(*http, "listen", "");
  if (words.empty())
    return reader.refuse(
        Reader::line_of(*http),
        "[http] has no listen: expected a line such as listen = \"127.0.0.1:9100\"");
  const auto listen = address_of(words);
  if (!listen)
    return reader.refuse(*http->get("listen"), "listen",
                         "an address of this machine and a port from 1 to 65535, such as "
                         "\"127.0.0.1:9100\"");
  if (!config.tls && !insecure && !listen->is_loopback())
    return reader.refuse(*http->get("listen"), "listen",
                         "a loopback address, or [tls], or insecure = true in [http]: otherwise "
                         "anyone who can reach the port can read the node's status and metrics");
  config.http = HttpConfig{*listen, insecure};
}

void read_nodes(Reader& reader, const toml::table& cluster, ClusterConfig& config) {
  const toml::table* nodes = reader.table(cluster, "nodes", false);
  if (nodes == nullptr || nodes->empty()) {
    reader.refuse(
        Reader::line_of(nodes != nullptr ? *nodes : cluster),
        "[cluster.nodes] is missing or empty: expected a line such as 1 = \"127.0.0.1:7101\" "
        "for each node");
    return;
  }
  read_addresses(reader, *nodes, "[cluster.nodes]", config.nodes);
}

void read_protocol(Reader& reader, const toml::table& cluster, ClusterConfig& config) {
  const toml::node* at = cluster.get("protocol");
  if (at == nullptr) return;
  const auto named = enumerator_named<ProtocolName>(reader.text(cluster, "protocol", ""));
  if (!named)
    reader.refuse(*at, "protocol", "\"bully\", \"invitation\" or \"textbook\"");
  else
    config.protocol = *named;
}

/// The place in the file of the value that does not fit, by its key.
const toml::node* place_of(const toml::table& cluster, const std::string& key) {
  for (const char* table : {"nodes", "importance"})
    if (const toml::table* in = cluster[table].as_table(); in && in->contains(key))
      return in->get(key);
  return cluster.get(key);
}

// Refuses what `misfit` finds: a configuration with which no node may begin.
void refuse_misfit(Reader& reader, const toml::table& root, const toml::table& cluster,
                   const NodeConfig& config) {
  std::map<NodeId, std::string> addresses;
  for (const auto& [id, address] : config.cluster.nodes) addresses[id] = address.text();
  auto wrong = misfit(config.core());
  if (!wrong)
    wrong = misfit(addresses, config.cluster.ids(), config.tls || config.cluster.insecure);
  if (!wrong) return;
  if (wrong->key == "id") return reader.refuse(*root["node"]["id"].node(), "id", wrong->expected);
  const toml::node* at = place_of(cluster, wrong->key);
  if (at != nullptr && at->is_table())
    return reader.refuse(Reader::line_of(*at),
                         "[cluster." + wrong->key + "]: expected " + wrong->expected);
  if (at != nullptr) return reader.refuse(*at, wrong->key, wrong->expected);
  // The file does not set that key, so it is the key's default that does not fit T.
  const toml::node* T = cluster.get("T");
  reader.refuse(Reader::line_of(T ? *T : cluster),
                "T = " + (T ? Reader::value_text(*T) : format_duration(config.cluster.timings.T)) +
                    ": expected " + wrong->key + " to be " + wrong->expected);
}

void read_cluster(Reader& reader, const toml::table& root, NodeConfig& config) {
  const toml::table* cluster = reader.table(root, "cluster", true);
  if (cluster == nullptr) return;
  reader.only(*cluster, "[cluster]",
              {"name",
               "protocol",
               "literal",
               "T",
               "stop_deadline",
               "start_deadline",
               "reorganize_deadline",
               "check_every",
               "coordinator_timeout",
               "hold_down",
               "calm",
               "preempt",
               "quorum",
               "clock_drift",
               "resume",
               "settle",
               "nodes",
               "postgres",
               "repairs",
               "importance",
               "insecure",
               "proofs"});
  ClusterConfig& to = config.cluster;
  to.name = reader.text(*cluster, "name", "");
  if (config.tls) config.tls->cluster = to.name;
  if (!is_cluster_name(to.name)) {
    const toml::node* name = cluster->get("name");
    reader.refuse(
        Reader::line_of(name != nullptr ? *name : *cluster),
        "name = " + (name != nullptr ? Reader::value_text(*name) : std::string("nothing")) +
            " in [cluster]: expected 1 to 64 letters, digits, '.', '_', '-'");
  }
  read_protocol(reader, *cluster, to);
  to.insecure = reader.flag(*cluster, "insecure", false);
  to.proofs = reader.flag(*cluster, "proofs", true);
  read_timings(reader, *cluster, to.timings);
  to.hold_down = reader.duration(*cluster, "hold_down", to.hold_down, {}, HoldDown::longest);
  to.calm = reader.duration(*cluster, "calm", to.calm, {}, longest_calm);
  to.literal = reader.flag(*cluster, "literal", false);
  refuse_switches(reader, *cluster);
  read_options(reader, *cluster, to);
  read_nodes(reader, *cluster, to);
  read_importance(reader, *cluster, to);
  read_postgres(reader, *cluster, to);
  refuse_misfit(reader, root, *cluster, config);
}

// Refuses long lines and files. A key with a hundred thousand parts, or tables nested as deep,
// would overflow the stack of the TOML parser.
void refuse_long_texts(Reader& reader, std::string_view text) {
  constexpr std::size_t longest = 4096;
  if (text.size() > longest_config)
    return reader.refuse(1, "the file is longer than the " + std::to_string(longest_config) +
                                " bytes that a configuration may have");
  for (std::uint32_t line = 1; !text.empty(); ++line) {
    const std::size_t length = std::min(text.find('\n'), text.size());
    if (length > longest)
      return reader.refuse(line, "the line has " + std::to_string(length) +
                                     " characters: write at most " + std::to_string(longest));
    text.remove_prefix(std::min(length + 1, text.size()));
  }
}

}  // namespace

Expected<NodeConfig> parse_config(std::string_view text, const std::filesystem::path& file,
                                  Look look) {
  Reader reader(file, look);
  NodeConfig config;
  config.file = std::filesystem::absolute(file);
  refuse_long_texts(reader, text);
  if (reader.failure()) return *reader.failure();
  try {
    const toml::table root = toml::parse(text, file.string());
    reader.only(root, "the file",
                {"node", "cluster", "tls", "http", "journal", "log", "application", "hooks"});
    read_node(reader, root, file, config);
    read_tls(reader, root, file, config);
    if (!reader.failure()) read_cluster(reader, root, config);
    if (!reader.failure()) read_listen(reader, root, config);
    read_http(reader, root, config);
    read_journal(reader, root, file, config);
    read_log(reader, root, config.log);
    read_application(reader, root, file, config);
    read_hooks(reader, root, file, config);
  } catch (const toml::parse_error& error) {
    reader.refuse(error.source().begin.line, "not TOML: " + std::string(error.description()) +
                                                 " (column " +
                                                 std::to_string(error.source().begin.column) + ")");
  }
  if (reader.failure()) return *reader.failure();
  return config;
}

}  // namespace muster::apps
