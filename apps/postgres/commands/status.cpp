#include "apps/postgres/decide/status.hpp"

#include "apps/hosting/one_node.hpp"
#include "apps/postgres/commands/commands.hpp"
#include "apps/postgres/server/primary_read.hpp"

#include <muster/net/admin.hpp>
#include <muster/values/json.hpp>

#include <boost/asio/io_context.hpp>

#include <future>
#include <iostream>

namespace muster::postgres {
namespace {

NodeSaid ask(const apps::NodeConfig& config, NodeId node) {
  NodeSaid said;
  const auto line =
      net::ask_observer(config.cluster.nodes.at(node).text(), config.cluster.canonical(),
                        apps::admin_patience, {config.tls, config.cluster.ids()});
  const auto status = line ? apps::parse_status(*line) : line.error();
  if (!status) {
    said.unreachable = status.error().what;
    return said;
  }
  said.normal = status->status == Status::Normal;
  said.is = apps::in_words(*status);
  said.group = status->group;
  said.doing = status->shown.text;
  const auto has = [&](const char* role) {
    const auto found = status->shown.roles.find(role);
    return found != status->shown.roles.end() && found->second;
  };
  said.primary = has("primary");
  said.replica = has("replica");
  return said;
}

/// Asks all nodes at once, so that a node that does not answer does not delay the other answers.
std::map<NodeId, NodeSaid> ask_all(const apps::NodeConfig& config) {
  std::map<NodeId, std::future<NodeSaid>> asked;
  for (const auto& [node, address] : config.cluster.nodes)
    asked[node] = std::async(std::launch::async, [&config, id = node] { return ask(config, id); });
  std::map<NodeId, NodeSaid> said;
  for (auto& [node, one] : asked) said[node] = one.get();
  return said;
}

void ask_primary(const InstanceOptions& options, NodeId primary, Heard& heard) {
  boost::asio::io_context context(1);
  const PrimaryRead read(context.get_executor(), options, primary, apps::admin_patience,
                         [&](SqlExpected<PrimarySaid> said) {
                           if (said)
                             heard.primary = std::move(*said);
                           else
                             heard.primary_silent = said.error().what;
                         });
  context.run();
}

int judge(const ClusterStatus& status) {
  if (!status.writable)
    return apps::failed({ExitCode::not_normal, status.counts_on + ": " + status.why});
  if (!status.warnings.empty()) return apps::failed({ExitCode::does_not_hold, status.counts_on});
  for (const StatusOfNode& node : status.nodes)
    if (node.role == "unreachable")
      return apps::failed(
          {ExitCode::unreachable, "node " + std::to_string(node.node.value) +
                                      " does not answer; commits are still acknowledged"});
  if (!status.not_following.empty())
    return apps::failed(
        {ExitCode::fewer_copies, named(status.not_following) +
                                     (status.not_following.size() == 1 ? " does" : " do") +
                                     " not follow; commits are still acknowledged"});
  return 0;
}

}  // namespace

int status(const AskFlags& flags) {
  const auto config = apps::load_config(flags.config);
  if (!config) return apps::failed(config.error());
  const auto options = options_of_running(*config);
  if (!options) return apps::failed(options.error());
  Heard heard{options->copies(), ask_all(*config), {}, {}};
  if (const auto primary = primary_of(heard.nodes)) ask_primary(*options, *primary, heard);
  const ClusterStatus status = status_of(heard);
  std::cout << (flags.json ? to_json(status) + "\n" : in_words(status)) << std::flush;
  return judge(status);
}

}  // namespace muster::postgres
