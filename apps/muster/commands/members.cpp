#include "apps/base/failed.hpp"
#include "apps/hosting/one_node.hpp"
#include "apps/muster/commands/commands.hpp"
#include "apps/muster/config/config.hpp"

#include <muster/net/admin.hpp>
#include <muster/values/json.hpp>

#include <CLI/CLI.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <future>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <thread>

/// `muster members` and `muster top`: ask every node of a cluster over the network, as an observer.

namespace muster::apps {
namespace {

using namespace std::chrono_literals;

/// The answer of one node: its line and the status in it, or why there is none.
struct Said {
  NodeId node;
  std::string line;
  Expected<net::NodeStatus> status;
};

Said ask(const NodeConfig& config, NodeId node) {
  const auto line =
      net::ask_observer(config.cluster.nodes.at(node).text(), config.cluster.canonical(),
                        admin_patience, {config.tls, config.cluster.ids()});
  if (!line) return {node, {}, line.error()};
  return {node, *line, parse_status(*line)};
}

/// Asks all nodes at the same time, so that a silent one does not delay the others.
std::vector<Said> ask_all(const NodeConfig& config) {
  std::vector<std::future<Said>> asked;
  for (const auto& [node, address] : config.cluster.nodes)
    asked.push_back(
        std::async(std::launch::async, [&config, id = node] { return ask(config, id); }));
  std::vector<Said> said;
  for (auto& one : asked) said.push_back(one.get());
  return said;
}

std::string row(const Said& said) {
  std::ostringstream out;
  if (said.status)
    print_status(out, *said.status);
  else
    out << std::left << std::setw(6) << said.node.value << said.status.error().what << '\n';
  return out.str();
}

std::string json_line(const Said& said) {
  if (said.status) return said.line + '\n';
  std::string why;
  write_json(why, said.status.error().what);
  return "{\"node\":" + std::to_string(said.node.value) + ",\"unreachable\":" + why + "}\n";
}

/// The verdict on all answers together.
Failure judge(const std::vector<Said>& all) {
  std::vector<net::NodeStatus> answers;
  std::optional<Failure> absent;
  for (const Said& said : all) {
    if (said.status)
      answers.push_back(*said.status);
    else if (said.status.error().code == ExitCode::bad_configuration)
      return said.status.error();
    else if (!absent)
      absent = {ExitCode::unreachable,
                "node " + std::to_string(said.node.value) +
                    " does not answer: check that it runs and can be reached"};
  }
  if (answers.empty()) return {ExitCode::unreachable, "no node of the cluster answers; start one"};
  std::optional<net::NodeStatus> first;
  for (const net::NodeStatus& status : answers) {
    if (status.status != Status::Normal) continue;
    if (first && (first->coordinator != status.coordinator || first->group != status.group)) {
      return {
          ExitCode::disagreement,
          in_words(*first) + ", and " + in_words(status) +
              ": the nodes disagree; check whether the network is cut or a certificate is refused"};
    }
    if (!first) first = status;
  }
  if (!first)
    return {ExitCode::no_coordinator, "no node that answers is Normal; ask again in a moment"};
  for (const net::NodeStatus& status : answers)
    if (auto why = not_normal(status)) return *std::move(why);
  return absent.value_or(Failure{});
}

int members_command(const std::string& file, bool json) {
  const auto config = load_config(file);
  if (!config) return failed(config.error());
  const std::vector<Said> all = ask_all(*config);
  if (!json) print_header(std::cout);
  for (const Said& said : all) std::cout << (json ? json_line(said) : row(said));
  const Failure verdict = judge(all);
  return verdict.code == ExitCode::ok ? 0 : failed(verdict);
}

std::string now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::ostringstream out;
  out << std::put_time(&parts, "%FT%TZ");
  return out.str();
}

/// The output of `muster top`. A terminal shows the whole table, which replaces the one before.
/// Otherwise only lines that have changed are printed, with the time.
class Screen {
 public:
  explicit Screen(bool json) : json_(json), draws_(!json && ::isatty(STDOUT_FILENO) == 1) {}

  // Shows a node that is in Check as idle. Every node checks again and again, so this is no news.
  void show(std::vector<Said> all) {
    for (Said& said : all)
      if (said.status && said.status->procedure == Wait::Checking)
        said.status->procedure = Wait::Idle;
    if (draws_) {
      std::cout << "\x1b[H\x1b[J" << now() << "\n\n";
      print_header(std::cout);
    }
    for (const Said& said : all) {
      if (draws_ || json_)
        std::cout << (json_ ? json_line(said) : row(said));
      else if (std::string line = row(said); line != shown_[said.node])
        std::cout << now() << ' ' << (shown_[said.node] = std::move(line));
    }
    const Failure verdict = judge(all);
    if (draws_) std::cout << '\n' << (verdict.code == ExitCode::ok ? "all agree" : verdict.what);
    std::cout << std::flush;
  }

 private:
  const bool json_;
  const bool draws_;
  std::map<NodeId, std::string> shown_;
};

int top_command(const std::string& file, bool json, unsigned times) {
  const auto config = load_config(file);
  if (!config) return failed(config.error());
  Screen screen(json);
  auto next = std::chrono::steady_clock::now();
  for (unsigned looks = 1;; ++looks) {
    const std::vector<Said> all = ask_all(*config);
    screen.show(all);
    if (!std::cout) return 0;  // the reader has gone
    const Failure verdict = judge(all);
    if (verdict.code == ExitCode::bad_configuration) return failed(verdict);
    if (looks == times) return verdict.code == ExitCode::ok ? 0 : failed(verdict);
    next = std::max(next + 1s, std::chrono::steady_clock::now());
    std::this_thread::sleep_until(next);
  }
}

constexpr const char* exit_codes =
    "Exit codes: 0 all nodes are Normal in one group; 3 a node that answers is not; 4 no node that "
    "answers is\nNormal; 5 a node, or every node, does not answer; 8 nodes are Normal in different "
    "groups; 64 the configuration\nis invalid, or differs from that of the nodes.";

struct OfAll {
  std::string config;
  bool json = false;
  unsigned times = 0;
};

std::shared_ptr<OfAll> add_options_of_all(CLI::App& command) {
  const auto options = std::make_shared<OfAll>();
  command.add_option("--config", options->config, "Configuration of any node of the cluster")
      ->required();
  command.add_flag("--json", options->json, "Print a JSON object for each node, one a line");
  return options;
}

}  // namespace

void add_members_command(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("members", "Ask every node of a cluster over the network, as an observer");
  command->footer(exit_codes);
  const auto options = add_options_of_all(*command);
  command->callback(
      [options, &exit_code] { exit_code = members_command(options->config, options->json); });
}

void add_top_command(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("top", "Show every node of a cluster, and update that each second");
  command->footer(exit_codes);
  const auto options = add_options_of_all(*command);
  command
      ->add_option("--times", options->times,
                   "End after this many updates, with the exit code of members")
      ->check(CLI::Range(1U, 1'000'000'000U));
  command->callback([options, &exit_code] {
    exit_code = top_command(options->config, options->json, options->times);
  });
}

}  // namespace muster::apps
