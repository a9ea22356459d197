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

/// What failures cost by a configuration.
struct CostsLine {
  std::string file;
  NodeId node;
  std::size_t nodes{};
  bool proofs = true;                 ///< a machine's word that nobody listens is one
  Duration T{};                       ///< two delays, the handling and one commit fit into it ...
  Duration pause{};                   ///< ... beside whatever holds the process up, up to this
  Duration silence{};                 ///< until a silent coordinator is taken for failed
  Duration settles{};                 ///< the bound of Assertion 2
  Duration held{};                    ///< and so much later where a node is held (calm)
  std::optional<Duration> ceases_ns;  ///< with a quorum: and then until it has ceased
  std::optional<Duration> grant_ns;   ///< ... and another member out of reach so much more
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
  std::cout << line.file << " is right: node " << to_text(line.node) << " of " << line.nodes
            << "\na crash that its machine tells of: "
            << (line.proofs ? "an election, and no waiting\n" : "as silence (proofs = false)\n")
            << "a silent coordinator: " << in_milliseconds(line.silence)
            << " (coordinator_timeout + T), and an election\n";
  if (line.ceases_ns)
    std::cout << "  with a quorum: until it has ceased, " << in_milliseconds(*line.ceases_ns)
              << " (stop_deadline by the slowest clock); another member out of reach: "
              << in_milliseconds(*line.grant_ns) << " more\n";
  std::cout << "after the last disturbance all is Normal within " << in_milliseconds(line.settles)
            << " (Assertion 2)\n";
  if (line.held > Duration::zero())
    std::cout << "  where a node made its group reorganize again and again: up to "
              << in_milliseconds(line.held) << " later (calm)\n";
  std::cout << "T = " << in_milliseconds(line.T)
            << " has to have room for two delays of the network, the handling of a letter and one "
               "commit;\n  what holds a process up for more than "
            << in_milliseconds(line.pause)
            << " (T/2) counts as its failure: where that was, muster status --json says in "
               "needed_T_ns how much T it takes\n";
}

// --- Two nodes

/// `key=value` lines as they are compared by nodes, by their keys.
ClusterLines lines_of(const std::string& canonical) {
  ClusterLines lines;
  std::istringstream text(canonical);
  for (std::string line; std::getline(text, line);) {
    const std::size_t equals = line.find('=');
    lines[line.substr(0, equals)] = line.substr(equals + 1);
  }
  return lines;
}

/// What has to be the same: the cluster's text, and whether there is TLS.
ClusterLines lines_of_cluster(const NodeConfig& config) {
  ClusterLines lines = lines_of(config.cluster.canonical());
  if (config.tls) lines["[tls]"] = "there";
  return lines;
}

/// What is each node's own affair.
ClusterLines lines_of_node(const NodeConfig& config) {
  ClusterLines lines;
  for (const ConfigLine& line : config_lines(config))
    if (!line.table.starts_with("cluster")) lines[line.table + '.' + line.key] = line.value;
  return lines;
}

/// A key whose values are not the same; null where one has none.
struct Difference {
  std::string key;
  bool cluster = false;
  std::optional<std::string> first;
  std::optional<std::string> second;
};
MUSTER_DESCRIBE(Difference, key, cluster, first, second);

std::vector<Difference> differences(const ClusterLines& first, const ClusterLines& second,
                                    bool cluster) {
  const auto value = [](const ClusterLines& lines, const std::string& key) {
    const auto at = lines.find(key);
    return at == lines.end() ? std::nullopt : std::optional(at->second);
  };
  std::set<std::string> keys;
  for (const auto* lines : {&first, &second})
    for (const auto& [key, text] : *lines) keys.insert(key);
  std::vector<Difference> all;
  for (const std::string& key : keys)
    if (Difference each{key, cluster, value(first, key), value(second, key)};
        each.first != each.second)
      all.push_back(std::move(each));
  return all;
}

void print(const char* head, const std::vector<Difference>& all) {
  if (all.empty()) return;
  std::cout << head << '\n';
  for (const Difference& each : all)
    std::cout << "  " << each.key << ": " << each.first.value_or("absent") << ", and "
              << each.second.value_or("absent") << '\n';
}

Failure refuse_each_other(const std::string& first, const std::string& second) {
  return {
      ExitCode::does_not_hold,
      "the nodes of " + first + " and " + second +
          " would refuse each other: what has to be the same on every node of a cluster is not"};
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
      differ.what += "; muster config diff says in which keys";
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
      for (const Difference& each : *all) std::cout << to_json(each) << '\n';
  } else {
    print("of the cluster:", cluster);
    print("of each node's own:", own);
  }
  return cluster.empty() ? 0 : failed(refuse_each_other(options.files[0], options.files[1]));
}

}  // namespace

void add_config_command(CLI::App& app, int& exit_code) {
  CLI::App* config = app.add_subcommand("config", "Look into configurations of nodes");
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
  add("check", "Say what is wrong in them, or what failures will cost; starts nothing", check_files,
      {})
      ->footer(
          "Exit codes: 0 they are right; 1 each is, and they do not fit each other; 64 what is "
          "wrong is said.");
  add("show", "All that one says, and what it does not say, as TOML that may take its place",
      show_file, 1);
  add("diff", "In what two differ: what has to be the same on every node, and what is their own",
      diff_files, 2)
      ->footer(
          "Exit codes: 0 at most in their own; 1 these nodes would refuse each other; 64 one of "
          "them is wrong.");
}

}  // namespace muster::apps
