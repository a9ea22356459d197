#include "apps/muster/config/config.hpp"

#include "apps/base/text.hpp"
#include "apps/muster/config/config_reader.hpp"

#include <muster/host/hold_down.hpp>
#include <muster/protocol/misfit.hpp>
#include <muster/values/kinds.hpp>
#include <muster/values/text.hpp>

#include <arpa/inet.h>

#include <array>
#include <set>
#include <sstream>

namespace muster::apps {
namespace {

std::filesystem::path beside(const std::filesystem::path& file, const std::string& path) {
  return (std::filesystem::absolute(file).parent_path() / path).lexically_normal();
}

void check_length(Reader& reader, std::size_t line, const std::string& what,
                  const std::filesystem::path& socket) {
  const std::size_t length = socket.native().size();
  if (length <= longest_socket_path) return;
  reader.refuse(line, what + ": the socket " + socket.string() + " has " + std::to_string(length) +
                          " bytes: expected at most " + std::to_string(longest_socket_path) +
                          "; choose a shorter directory");
}

void read_node(Reader& reader, const toml::table& root, const std::filesystem::path& file,
               NodeConfig& config) {
  const toml::table* node = reader.table(root, "node", true);
  if (node == nullptr) return;
  reader.only(*node, "[node]", {"id", "data"});
  const auto line = Reader::line_of(*node);
  if (node->get("id") == nullptr) reader.refuse(line, "[node] has no id: expected id = 3, say");
  config.self.value = reader.number(*node, "id", 0, 1, std::numeric_limits<std::uint32_t>::max());
  const std::string data = reader.text(*node, "data", "");
  if (data.empty())
    reader.refuse(line,
                  "[node] has no data: expected data = \"DIRECTORY\", where its safe storage is");
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

// Files of before had single switches.
void refuse_switches(Reader& reader, const toml::table& cluster) {
  if (const toml::node* table = cluster.get("repairs"))
    reader.refuse(
        Reader::line_of(*table),
        "[cluster.repairs] is no longer read, and every switch is on: expected nothing, or "
        "literal = true in [cluster], which turns all of them off; single ones are for the "
        "lab: muster check --repair NAME=off");
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
                         "[cluster.importance] is of the textbook protocol; with any other the id "
                         "is the priority: expected protocol = \"textbook\"");
  }
  for (const auto& [key, node] : *table) {
    const auto id = parse_number(key.str());
    const auto score = node.value_exact<std::int64_t>();
    if (!id || *id > std::numeric_limits<std::uint32_t>::max() || !score || *score < 0)
      return reader.refuse(node, key.str(), "the id of a node and a whole number from 0 on");
    to.importance[NodeId{static_cast<std::uint32_t>(*id)}] = static_cast<std::uint64_t>(*score);
  }
}

/// A numeric address that others can dial, in one text: "127.0.0.01" and "127.0.0.1" are the same.
std::optional<Address> numeric_address(const std::string& text) {
  auto address = parse_address(text);
  if (!address || address->port == 0) return std::nullopt;
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  std::array<char, INET6_ADDRSTRLEN> normal{};
  const int family = text.front() == '[' ? AF_INET6 : AF_INET;
  if (inet_pton(family, address->host.c_str(), bytes.data()) != 1) return std::nullopt;
  if (inet_ntop(family, bytes.data(), normal.data(), normal.size()) == nullptr) return std::nullopt;
  address->host = normal.data();
  if (address->host == "0.0.0.0" || address->host == "::") return std::nullopt;
  return *std::move(address);
}

void read_address(Reader& reader, std::string_view key, std::size_t key_line,
                  const toml::node& node, ClusterConfig& cluster) {
  const auto id = parse_number(key);
  if (!id || *id == 0 || *id > std::numeric_limits<std::uint32_t>::max()) {
    reader.refuse(key_line, std::string(key) + " = " + Reader::value_text(node) +
                                " in [cluster.nodes]: expected a node's id from 1 on, such as 1");
    return;
  }
  const auto words = node.value_exact<std::string>();
  const auto address = words ? numeric_address(*words) : std::nullopt;
  if (!address) {
    reader.refuse(node, key,
                  "a numeric IP address and a port from 1 to 65535, such as \"127.0.0.1:7101\"");
    return;
  }
  cluster.nodes.emplace(NodeId{static_cast<std::uint32_t>(*id)}, *address);
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
  for (const auto& [key, node] : *nodes)
    read_address(reader, key.str(), key.source().begin.line, node, config);
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

/// Where a file says what does not fit.
const toml::node* place_of(const toml::table& cluster, const std::string& key) {
  for (const char* table : {"nodes", "importance"})
    if (const toml::table* in = cluster[table].as_table(); in && in->contains(key))
      return in->get(key);
  return cluster.get(key);
}

// What no node may begin with, however it is configured.
void refuse_misfit(Reader& reader, const toml::table& root, const toml::table& cluster,
                   const NodeConfig& config) {
  std::map<NodeId, std::string> addresses;
  for (const auto& [id, address] : config.cluster.nodes) addresses[id] = address.text();
  auto wrong = misfit(config.core());
  if (!wrong) wrong = misfit(addresses, config.cluster.ids(), config.cluster.insecure);
  if (!wrong) return;
  if (wrong->key == "id") return reader.refuse(*root["node"]["id"].node(), "id", wrong->expected);
  const toml::node* at = place_of(cluster, wrong->key);
  if (at != nullptr && at->is_table())
    return reader.refuse(Reader::line_of(*at),
                         "[cluster." + wrong->key + "]: expected " + wrong->expected);
  if (at != nullptr) return reader.refuse(*at, wrong->key, wrong->expected);
  // Where it is not told T is what does not fit its default.
  const toml::node* T = cluster.get("T");
  reader.refuse(Reader::line_of(T ? *T : cluster),
                "T = " + (T ? Reader::value_text(*T) : format_duration(config.cluster.timings.T)) +
                    ": expected " + wrong->key + " to be " + wrong->expected);
}

void read_cluster(Reader& reader, const toml::table& root, NodeConfig& config) {
  const toml::table* cluster = reader.table(root, "cluster", true);
  if (cluster == nullptr) return;
  reader.only(*cluster, "[cluster]",
              {"name", "protocol", "literal", "T", "stop_deadline", "start_deadline",
               "reorganize_deadline", "check_every", "coordinator_timeout", "hold_down", "preempt",
               "quorum", "resume", "settle", "nodes", "repairs", "importance", "insecure"});
  ClusterConfig& to = config.cluster;
  to.name = reader.text(*cluster, "name", "");
  const bool plain =
      to.name.find_first_not_of(
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == std::string::npos;
  if (to.name.empty() || to.name.size() > 64 || !plain) {
    const toml::node* name = cluster->get("name");
    reader.refuse(
        Reader::line_of(name != nullptr ? *name : *cluster),
        "name = " + (name != nullptr ? Reader::value_text(*name) : std::string("nothing")) +
            " in [cluster]: expected 1 to 64 letters, digits, '.', '_', '-'");
  }
  read_protocol(reader, *cluster, to);
  to.insecure = reader.flag(*cluster, "insecure", false);
  read_timings(reader, *cluster, to.timings);
  to.hold_down = reader.duration(*cluster, "hold_down", to.hold_down, {}, HoldDown::longest);
  to.literal = reader.flag(*cluster, "literal", false);
  refuse_switches(reader, *cluster);
  read_options(reader, *cluster, to);
  read_nodes(reader, *cluster, to);
  read_importance(reader, *cluster, to);
  refuse_misfit(reader, root, *cluster, config);
}

/// One of the names of an enumeration.
template <class E>
void read_named(Reader& reader, const toml::table& table, std::string_view key,
                const std::string& expected, E& to) {
  const auto named = enumerator_named<E>(reader.text(table, key, std::string(enumerator_name(to))));
  if (named)
    to = *named;
  else
    reader.refuse(*table.get(key), key, expected);
}

void read_journal(Reader& reader, const toml::table& root, const std::filesystem::path& file,
                  NodeConfig& config) {
  const toml::table* journal = reader.table(root, "journal", false);
  if (journal == nullptr) return;
  reader.only(*journal, "[journal]", {"file", "limit", "keep", "detail"});
  JournalConfig to;
  const std::string name = reader.text(*journal, "file", "");
  if (name.empty())
    reader.refuse(Reader::line_of(*journal),
                  "[journal] has no file: expected file = \"n3/journal.jsonl\", say");
  to.file = beside(file, name);
  if (const toml::node* limit = journal->get("limit")) {
    const auto size = parse_size(reader.text(*journal, "limit", ""));
    if (size && *size >= 1'000'000) {
      to.limit = *size;
    } else {
      reader.refuse(*limit, "limit", "a size of at least \"1MB\", such as \"64MB\"");
    }
  }
  to.keep = std::max(to.keep, 2 * to.limit);
  if (const toml::node* keep = journal->get("keep")) {
    const auto size = parse_size(reader.text(*journal, "keep", ""));
    if (size && *size >= 2 * to.limit) {
      to.keep = *size;
    } else {
      reader.refuse(*keep, "keep",
                    "a size of at least two segments, \"" + format_size(2 * to.limit) +
                        "\" with this limit, such as \"1GB\"");
    }
  }
  read_named(reader, *journal, "detail", "\"all\" or \"changes\"", to.detail);
  config.journal = to;
}

void read_log(Reader& reader, const toml::table& root, LogConfig& to) {
  const toml::table* log = reader.table(root, "log", false);
  if (log == nullptr) return;
  reader.only(*log, "[log]", {"level", "format"});
  read_named(reader, *log, "level", "\"error\", \"warning\" or \"info\"", to.level);
  read_named(reader, *log, "format", "\"text\" or \"json\"", to.format);
}

std::vector<std::string> read_command(Reader& reader, const toml::table& table,
                                      std::string_view key, const std::filesystem::path& file) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return {};
  std::vector<std::string> command;
  if (const toml::array* words = node->as_array(); words && words->is_homogeneous<std::string>())
    for (const toml::node& word : *words) command.push_back(word.value_or(std::string()));
  if (command.empty() || command.front().empty()) {
    reader.refuse(*node, key, "a program and its arguments, such as [\"./deal.py\", \"--fair\"]");
  } else if (command.front().find('/') != std::string::npos) {  // else it is looked for in PATH
    command.front() = beside(file, command.front()).string();
  }
  return command;
}

void read_application(Reader& reader, const toml::table& root, const std::filesystem::path& file,
                      NodeConfig& config) {
  const toml::table* application = reader.table(root, "application", false);
  if (application == nullptr) return;
  reader.only(*application, "[application]", {"kind", "records_per_second", "program"});
  ApplicationConfig& to = config.application;
  to.kind = reader.text(*application, "kind", to.kind);
  if (to.kind != "none" && to.kind != "shards" && to.kind != "socket") {
    reader.refuse(*application->get("kind"), "kind", "\"none\", \"shards\" or \"socket\"");
  }
  const auto only_beside = [&](const char* key, const std::string& kind) {
    if (to.kind != kind && application->get(key) != nullptr) {
      reader.refuse(*application->get(key), key, "this key only beside kind = \"" + kind + "\"");
    }
  };
  if (to.kind == "socket") {
    check_length(reader, Reader::line_of(*application->get("kind")), "kind = \"socket\"",
                 config.application_socket());
  }
  only_beside("records_per_second", "shards");
  only_beside("program", "socket");
  to.records_per_second =
      reader.number(*application, "records_per_second", to.records_per_second, 1, 10'000);
  to.program = read_command(reader, *application, "program", file);
  to.directory = beside(file, ".");
}

void read_hooks(Reader& reader, const toml::table& root, const std::filesystem::path& file,
                NodeConfig& config) {
  const toml::table* hooks = reader.table(root, "hooks", false);
  if (hooks == nullptr) return;
  reader.only(*hooks, "[hooks]", {"stop", "reorganize", "start"});
  const auto command = [&](const char* key) { return read_command(reader, *hooks, key, file); };
  config.hooks = {command("stop"), command("reorganize"), command("start"), beside(file, ".")};
  if (config.application.kind != "none") {
    reader.refuse(Reader::line_of(*hooks), "[hooks] stands beside [application] kind = \"" +
                                               config.application.kind +
                                               "\": expected one of the two");
  }
}

}  // namespace

Expected<NodeConfig> parse_config(std::string_view text, const std::filesystem::path& file) {
  Reader reader(file);
  NodeConfig config;
  try {
    const toml::table root = toml::parse(text, file.string());
    reader.only(root, "the file", {"node", "cluster", "journal", "log", "application", "hooks"});
    read_node(reader, root, file, config);
    if (!reader.failure()) read_cluster(reader, root, config);
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
