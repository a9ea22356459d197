#include "apps/muster/config/config.hpp"
#include "apps/base/failed.hpp"
#include "apps/base/text.hpp"
#include "apps/muster/commands/commands.hpp"

#include <CLI/CLI.hpp>
#include <muster/claims/assertions.hpp>
#include <muster/protocol/protocol.hpp>
#include <muster/values/json.hpp>
#include <muster/values/text.hpp>

#include <chrono>
#include <iostream>
#include <memory>
#include <set>
#include <sstream>

namespace muster::apps {
namespace {

struct ConfigOptions {
  std::vector<std::string> files;
  bool json = false;
};

/// How long the nodes take to handle failures with this configuration.
struct CostsLine {
  std::string file;
  NodeId node;
  std::size_t nodes{};
  bool proofs = true;                 ///< a refused dial proves the end of a life
  Duration T{};                       ///< long enough for two delays, the handling and a commit,
  Duration pause{};                   ///< even if the process pauses for this long meanwhile
  Duration silence{};                 ///< time until a silent coordinator counts as failed
  Duration settles{};                 ///< the bound of Assertion 2
  Duration held{};                    ///< to add to `settles` if a node is kept out (calm)
  std::optional<Duration> ceases_ns;  ///< with a quorum: to add, until the silent node has ceased
  std::optional<Duration> grant_ns;   ///< with a quorum: to add, if another member is also gone
};
MUSTER_DESCRIBE(CostsLine, file, node, nodes, proofs, T, pause, silence, settles, held, ceases_ns,
                grant_ns);

std::string in_milliseconds(Duration duration) {
  return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(duration).count()) + " ms";
}

CostsLine costs_of(const std::string& file, const ProtocolConfig& config, bool proofs) {
  CostsLine line;
  line.file = file;
  line.node = config.self;
  line.nodes = config.nodes.size();
  line.proofs = proofs;
  line.T = config.timings.T;
  line.pause = config.timings.T / 2;
  line.silence = config.timings.coordinator_timeout + config.timings.T;
  line.settles = settling_bound(config);
  line.held = holds(config).longest;
  if (config.options.quorum == Quorum::majority) {
    line.ceases_ns = ceases_within(config.timings, config.options.clock_drift);
    line.grant_ns = granted_for(config.timings);
  }
  return line;
}

void print(const CostsLine& line) {
  std::cout << line.file << " is valid: node " << to_text(line.node) << " of " << line.nodes
            << "\nafter a crash that the machine reports: "
            << (line.proofs ? "an election, without waiting\n"
                            : "the same as after silence (proofs = false)\n")
            << "after silence of the coordinator: " << in_milliseconds(line.silence)
            << " (coordinator_timeout + T), then an election\n";
  if (line.ceases_ns)
    std::cout << "  with a quorum: until the silent node has ceased, "
              << in_milliseconds(*line.ceases_ns)
              << " (stop_deadline by the slowest clock); if another member is unreachable too: "
              << in_milliseconds(*line.grant_ns) << " more\n";
  std::cout << "after the last fault all nodes are Normal within " << in_milliseconds(line.settles)
            << " (Assertion 2)\n";
  if (line.held > Duration::zero())
    std::cout << "  if a node made its group reorganize again and again: up to "
              << in_milliseconds(line.held) << " later (calm)\n";
  std::cout << "T = " << in_milliseconds(line.T)
            << " must cover two network delays, the handling of a letter and one commit.\n  A "
               "pause of a process for more than "
            << in_milliseconds(line.pause)
            << " (T/2) counts as its failure: after such a pause, needed_T_ns of muster status "
               "--json is the T that would cover it\n";
}

// --- Comparing two nodes

/// Splits the `key=value` lines that nodes compare, by key.
ClusterLines lines_of(const std::string& canonical) {
  ClusterLines lines;
  std::istringstream text(canonical);
  for (std::string line; std::getline(text, line);) {
    const std::size_t equals = line.find('=');
    lines[line.substr(0, equals)] = line.substr(equals + 1);
  }
  return lines;
}

/// The part that has to be the same on every node: the cluster's text, and whether there is [tls].
ClusterLines lines_of_cluster(const NodeConfig& config) {
  ClusterLines lines = lines_of(config.cluster.canonical());
  if (config.tls) lines["[tls]"] = "there";
  return lines;
}

/// The part that each node has of its own.
ClusterLines lines_of_node(const NodeConfig& config) {
  ClusterLines lines;
  for (const ConfigLine& line : config_lines(config))
    if (!line.table.starts_with("cluster")) lines[line.table + '.' + line.key] = line.value;
  return lines;
}

/// A key with different values. A value is null if its file does not have the key.
struct KeyDifference {
  std::string key;
  bool cluster = false;
  std::optional<std::string> first;
  std::optional<std::string> second;
};
MUSTER_DESCRIBE(KeyDifference, key, cluster, first, second);

std::vector<KeyDifference> differences(const ClusterLines& first, const ClusterLines& second,
                                       bool cluster) {
  const auto value = [](const ClusterLines& lines, const std::string& key) {
    const auto at = lines.find(key);
    return at == lines.end() ? std::nullopt : std::optional(at->second);
  };
  std::set<std::string> keys;
  for (const auto* lines : {&first, &second})
    for (const auto& [key, text] : *lines) keys.insert(key);
  std::vector<KeyDifference> all;
  for (const std::string& key : keys)
    if (KeyDifference each{key, cluster, value(first, key), value(second, key)};
        each.first != each.second)
      all.push_back(std::move(each));
  return all;
}

void print(const char* head, const std::vector<KeyDifference>& all) {
  if (all.empty()) return;
  std::cout << head << '\n';
  for (const KeyDifference& each : all)
    std::cout << "  " << each.key << ": " << each.first.value_or("absent") << ", and "
              << each.second.value_or("absent") << '\n';
}

Failure refuse_each_other(const std::string& first, const std::string& second) {
  return {
      ExitCode::does_not_hold,
      "the nodes of " + first + " and " + second +
          " would refuse each other: they differ in settings that must be the same on every node"};
}

// --- The commands

int check_files(const ConfigOptions& options) {
  std::optional<NodeConfig> first;
  for (const std::string& file : options.files) {
    const auto config = load_config(file, Look::at_files);
    if (!config) return failed(config.error());
    if (!first) first = *config;
    if (lines_of_cluster(*first) != lines_of_cluster(*config)) {
      Failure differ = refuse_each_other(options.files.front(), file);
      differ.what += "; muster config diff shows the keys";
      return failed(differ);
    }
    const CostsLine line = costs_of(file, config->core(), config->cluster.proofs);
    if (options.json)
      std::cout << to_json(line) << '\n';
    else
      print(line);
  }
  return 0;
}

int show_file(const ConfigOptions& options) {
  const auto config = load_config(options.files.front());
  if (!config) return failed(config.error());
  std::cout << write_config(*config, Remarks::at_defaults);
  return 0;
}

int diff_files(const ConfigOptions& options) {
  std::vector<NodeConfig> both;
  for (const std::string& file : options.files) {
    auto config = load_config(file);
    if (!config) return failed(config.error());
    both.push_back(*std::move(config));
  }
  const auto cluster =
      differences(lines_of_cluster(both.front()), lines_of_cluster(both.back()), true);
  const auto own = differences(lines_of_node(both.front()), lines_of_node(both.back()), false);
  if (options.json) {
    for (const auto* all : {&cluster, &own})
      for (const KeyDifference& each : *all) std::cout << to_json(each) << '\n';
  } else {
    print("cluster settings, which must be the same:", cluster);
    print("each node's own settings:", own);
  }
  return cluster.empty() ? 0 : failed(refuse_each_other(options.files[0], options.files[1]));
}

}  // namespace

void add_config_command(CLI::App& app, int& exit_code) {
  CLI::App* config = app.add_subcommand("config", "Check, show or compare configurations of nodes");
  config->require_subcommand(1);
  const auto add = [&](const char* name, const char* what, int (*run)(const ConfigOptions&),
                       std::optional<int> files) {
    const auto options = std::make_shared<ConfigOptions>();
    CLI::App* command = config->add_subcommand(name, what);
    CLI::Option* named = command->add_option("FILE", options->files, "A node's configuration");
    named->required();
    if (files) named->expected(*files);
    if (run != show_file)
      command->add_flag("--json", options->json, "JSON Lines on standard output");
    command->callback([options, run, &exit_code] { exit_code = run(*options); });
    return command;
  };
  add("check", "Report the first error, or how long failures will take to handle; starts nothing",
      check_files, {})
      ->footer(
          "Exit codes: 0 all are valid; 1 each is valid, but they do not fit each other; 64 one is "
          "invalid.");
  add("show", "Print a configuration as TOML, with the defaults of all keys that it does not set",
      show_file, 1);
  add("diff",
      "Show the keys in which two differ: those that must be the same on every node, and the "
      "others",
      diff_files, 2)
      ->footer(
          "Exit codes: 0 they fit each other; 1 these nodes would refuse each other; 64 one is "
          "invalid.");
}

}  // namespace muster::apps
