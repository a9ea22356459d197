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

namespace muster::apps {
namespace {

struct ConfigOptions {
  std::string file;
  bool json = false;
};

/// What failures cost by a configuration.
struct CostsLine {
  std::string file;
  NodeId node;
  std::size_t nodes{};
  Duration silence{};                 ///< until a silent coordinator is taken for failed
  Duration settles{};                 ///< the bound of Assertion 2
  Duration held{};                    ///< and so much later where a node is held (calm)
  std::optional<Duration> ceases_ns;  ///< with a quorum: and then until it has ceased
  std::optional<Duration> grant_ns;   ///< ... and another member out of reach so much more
};
MUSTER_DESCRIBE(CostsLine, file, node, nodes, silence, settles, held, ceases_ns, grant_ns);

std::string in_milliseconds(Duration duration) {
  return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(duration).count()) + " ms";
}

CostsLine costs_of(const std::string& file, const Config& config) {
  CostsLine line;
  line.file = file;
  line.node = config.self;
  line.nodes = config.nodes.size();
  line.silence = config.timings.coordinator_timeout + config.timings.T;
  line.settles = settling_bound(config);
  line.held = holds(config).longest;
  if (config.options.quorum == Quorum::majority) {
    line.ceases_ns = ceases_within(config.timings, config.options.clock_drift);
    line.grant_ns = granted_for(config.timings);
  }
  return line;
}

int check(const ConfigOptions& options) {
  const auto config = load_config(options.file, Look::at_files);
  if (!config) return failed(config.error());
  const CostsLine line = costs_of(options.file, config->core());
  if (options.json) {
    std::cout << to_json(line) << '\n';
    return 0;
  }
  std::cout << line.file << " is right: node " << to_text(line.node) << " of " << line.nodes
            << "\na crash that its machine tells of: an election, and no waiting\n"
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
  return 0;
}

}  // namespace

void add_config_command(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<ConfigOptions>();
  CLI::App* config = app.add_subcommand("config", "Look into a node's configuration");
  config->require_subcommand(1);
  CLI::App* command = config->add_subcommand(
      "check", "Say what is wrong in it, or what failures will cost; starts nothing");
  command->add_option("FILE", options->file, "the node's configuration")->required();
  command->add_flag("--json", options->json, "one JSON object on standard output");
  command->callback([options, &exit_code] { exit_code = check(*options); });
}

}  // namespace muster::apps
