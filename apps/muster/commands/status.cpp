#include "apps/base/failed.hpp"
#include "apps/muster/commands/commands.hpp"
#include "apps/muster/commands/one_node.hpp"
#include "apps/muster/config/config.hpp"

#include <muster/net/admin.hpp>
#include <muster/values/json.hpp>

#include <CLI/CLI.hpp>

#include <iomanip>
#include <iostream>

namespace muster::apps {
namespace {

int status_command(const OneNode& node) {
  const auto directory = node.directory();
  if (!directory) return failed(directory.error());
  const auto line = net::ask_admin(*directory / "admin.sock", patience);
  if (!line) return failed(line.error());
  const auto status = parse_status(*line);
  if (!status) return failed(status.error());
  if (node.json) {
    std::cout << *line << '\n';
  } else {
    print_header(std::cout);
    print_status(std::cout, *status);
    for (const std::string& more : {heard_in_words(*status), certificate_in_words(*status)})
      if (!more.empty()) std::cout << more << '\n';
  }
  const auto why = not_normal(*status);
  return why ? failed(*why) : 0;
}

/// What the answers of all together amount to.
Failure judge(const std::vector<net::NodeStatus>& answers) {
  if (answers.empty()) return {ExitCode::unreachable, "no node of the cluster answers; start one"};
  std::optional<net::NodeStatus> first;
  for (const net::NodeStatus& status : answers) {
    if (status.status != Status::Normal) continue;
    if (first && (first->coordinator != status.coordinator || first->group != status.group)) {
      return {ExitCode::disagreement,
              "nodes " + std::to_string(first->node.value) + " and " +
                  std::to_string(status.node.value) +
                  " are Normal in different groups; see whether the network is cut"};
    }
    if (!first) first = status;
  }
  if (!first) return {ExitCode::no_coordinator, "no node that answers is Normal; ask again"};
  for (const net::NodeStatus& status : answers)
    if (auto why = not_normal(status)) return *std::move(why);
  return {};
}

int members_command(const std::string& file, bool json) {
  const auto config = load_config(file);
  if (!config) return failed(config.error());
  std::vector<net::NodeStatus> answers;
  if (!json) print_header(std::cout);
  for (const auto& [id, address] : config->cluster.nodes) {
    const auto line = net::ask_observer(address.text(), config->cluster.canonical(), patience,
                                        {config->tls, config->cluster.ids()});
    const auto status = line ? parse_status(*line) : Expected<net::NodeStatus>(line.error());
    if (!status && status.error().code == ExitCode::bad_configuration)
      return failed(status.error());
    if (status) {
      answers.push_back(*status);
      json ? void(std::cout << *line << '\n') : print_status(std::cout, *status);
    } else if (json) {
      std::string why;
      write_json(why, status.error().what);
      std::cout << "{\"node\":" << id.value << ",\"unreachable\":" << why << "}\n";
    } else {
      std::cout << std::left << std::setw(6) << id.value << status.error().what << '\n';
    }
  }
  const Failure verdict = judge(answers);
  return verdict.code == ExitCode::ok ? 0 : failed(verdict);
}

}  // namespace

void add_status_command(CLI::App& app, int& exit_code) {
  const auto node = std::make_shared<OneNode>();
  CLI::App* command = app.add_subcommand("status", "Ask one node of this machine what it is");
  add_options(*command, *node, "The node's own line of JSON");
  command->callback([node, &exit_code] {
    demand(*node);
    exit_code = status_command(*node);
  });
}

void add_members_command(CLI::App& app, int& exit_code) {
  struct Options {
    std::string config;
    bool json = false;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("members", "Ask every node of a cluster over the network, as an observer");
  command->add_option("--config", options->config, "The configuration of any of its nodes")
      ->required();
  command->add_flag("--json", options->json, "One object a line for each node");
  command->callback(
      [options, &exit_code] { exit_code = members_command(options->config, options->json); });
}

}  // namespace muster::apps
