#include "apps/base/text.hpp"
#include "apps/postgres/commands/commands.hpp"
#include "apps/postgres/server/facts.hpp"

#include <muster/values/json.hpp>

#include <boost/asio/io_context.hpp>

#include <iostream>

namespace muster::postgres {
namespace {

/// The output of --json.
struct Found {
  NodeId node;
  std::string version;
  bool standby{};
  std::vector<Finding> findings;
};
MUSTER_DESCRIBE(Found, node, version, standby, findings);

}  // namespace

int check(const AskFlags& flags) {
  const auto config = apps::load_config(flags.config);
  if (!config) return apps::failed(config.error());
  const auto options = options_of_running(*config);
  if (!options) return apps::failed(options.error());
  boost::asio::io_context context(1);
  std::optional<Expected<Facts>> facts;
  const FactsRead read(context.get_executor(), *options,
                       [&](Expected<Facts> heard) { facts.emplace(std::move(heard)); });
  context.run();
  if (!*facts) return apps::failed(facts->error());
  const Found found{options->node, version_text((*facts)->version), (*facts)->standby,
                    check(**facts)};
  const std::string who =
      "PostgreSQL " + found.version + " of node " + std::to_string(found.node.value);
  if (flags.json)
    std::cout << to_json(found) << '\n';
  else if (found.findings.empty())
    std::cout
        << who
        << " has no findings: its settings endanger neither acknowledged commits nor a fail-over\n";
  else
    for (const Finding& finding : found.findings) std::cout << finding.sentence << '\n';
  if (found.findings.empty()) return 0;
  return apps::failed(
      {ExitCode::does_not_hold, who + " may lose acknowledged commits or hinder a fail-over: " +
                                    apps::counted(found.findings.size(), "finding") +
                                    ", each with its cure"});
}

}  // namespace muster::postgres
