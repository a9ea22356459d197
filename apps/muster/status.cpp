#include "apps/muster/commands.hpp"
#include "apps/muster/config.hpp"
#include "apps/muster/failed.hpp"
#include "apps/muster/text.hpp"

#include <muster/json.hpp>
#include <muster/net/admin.hpp>
#include <muster/net/status.hpp>

#include <CLI/CLI.hpp>
#include <boost/json/parse.hpp>

#include <iomanip>
#include <iostream>

namespace muster::apps {
namespace {

using namespace std::chrono_literals;

/// How long a node may take to answer; longer than any T that one would watch by hand.
constexpr Duration patience = 2s;

Expected<net::NodeStatus> parse_status(const std::string& line) {
  boost::json::error_code error;
  const auto value = boost::json::parse(line, error);
  if (!error) {
    if (auto status = read_json<net::NodeStatus>(value)) return status;
  }
  return Failure{ExitCode::unreachable,
                 "the answer is no status of this version of muster: " + line};
}

void print_header(std::ostream& out) {
  out << "node  status          coordinator  group       members                  life  does\n";
}

void print_status(std::ostream& out, const net::NodeStatus& status) {
  const auto number = [](std::optional<NodeId> node) {
    return node ? std::to_string(node->value) : std::string("-");
  };
  out << std::left << std::setw(6) << status.node.value << std::setw(16)
      << enumerator_name(status.status) << std::setw(13) << number(status.coordinator)
      << std::setw(12) << (status.group ? format_group(*status.group) : "-") << std::setw(25)
      << (status.up ? format_nodes(*status.up) : "-") << std::setw(6) << status.incarnation.value
      << status.procedure << ", application " << enumerator_name(status.application)
      << (status.progress.empty() ? "" : ": ") << status.progress << '\n';
}

struct StatusOptions {
  std::string config;
  std::string dir;
  bool json = false;
};

int status_command(const StatusOptions& options) {
  std::string socket = options.dir + "/admin.sock";
  if (options.dir.empty()) {
    const auto config = load_config(options.config);
    if (!config) return failed(config.error());
    socket = config->admin_socket();
  }
  const auto line = net::ask_admin(socket, patience);
  if (!line) return failed(line.error());
  const auto status = parse_status(*line);
  if (!status) return failed(status.error());
  if (options.json) {
    std::cout << *line << '\n';
  } else {
    print_header(std::cout);
    print_status(std::cout, *status);
  }
  if (status->status == Status::Normal) return 0;
  return failed(
      {ExitCode::not_normal, "node " + std::to_string(status->node.value) + " is in " +
                                 std::string(enumerator_name(status->status)) +
                                 ", not Normal; ask again, or ask the others with muster members"});
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
  for (const net::NodeStatus& status : answers) {
    if (status.status == Status::Normal) continue;
    return {ExitCode::not_normal, "node " + std::to_string(status.node.value) + " is in " +
                                      std::string(enumerator_name(status.status)) +
                                      ", not Normal; ask again"};
  }
  return {};
}

int members_command(const std::string& file, bool json) {
  const auto config = load_config(file);
  if (!config) return failed(config.error());
  std::vector<net::NodeStatus> answers;
  if (!json) print_header(std::cout);
  for (const auto& [id, address] : config->cluster.nodes) {
    const auto line = net::ask_observer(address.text(), config->cluster.canonical(), patience);
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
  const auto options = std::make_shared<StatusOptions>();
  CLI::App* command = app.add_subcommand("status", "Ask one node of this machine what it is");
  auto* config = command->add_option("--config", options->config, "The node's configuration");
  auto* dir =
      command->add_option("--dir", options->dir, "Its data directory, which has admin.sock");
  config->excludes(dir);
  command->add_flag("--json", options->json, "The node's own line of JSON");
  command->callback([options, &exit_code] {
    if (options->config.empty() && options->dir.empty()) {
      throw CLI::RequiredError("--config FILE or --dir DIR");
    }
    exit_code = status_command(*options);
  });
}

void add_members_command(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<StatusOptions>();
  CLI::App* command =
      app.add_subcommand("members", "Ask every node of a cluster over the network, as an observer");
  command->add_option("--config", options->config, "The configuration of any of its nodes")
      ->required();
  command->add_flag("--json", options->json, "One object a line for each node");
  command->callback(
      [options, &exit_code] { exit_code = members_command(options->config, options->json); });
}

}  // namespace muster::apps
