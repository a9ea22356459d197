#include "apps/base/failed.hpp"
#include "apps/base/text.hpp"
#include "apps/bundles/bundles.hpp"
#include "apps/bundles/hosts.hpp"
#include "apps/muster/commands/commands.hpp"

#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>

// `muster init`: makes the files of a cluster, a directory for each node.

namespace muster::apps {
namespace {

namespace fs = std::filesystem;

struct InitOptions {
  std::string nodes;
  std::string cluster = "muster";
  std::string directory;
  std::uint16_t port = 7100;
  bool observer = false;
};

constexpr const char* observer = "observer";

constexpr const char* programs = R"(
# With "none" the node only takes part in elections. To give it work (docs/how-to/programs.md):
# a program that runs while the node is Normal: muster run --config FILE -- PROGRAM ARGUMENTS
# or a program that always runs and talks to the node (docs/reference/socket.md):
#   kind = "socket"
#   program = ["./worker"]
# or, with kind = "none", a program for each hook:
#   [hooks]
#   stop = ["./shards.py"]
#   reorganize = ["./shards.py"]
#   start = ["./shards.py"]
)";

std::vector<Bundle> bundles_of(const InitOptions& options, const std::map<NodeId, Address>& nodes) {
  NodeConfig config = bundled(options.cluster, nodes);
  std::vector<Bundle> bundles;
  for (const auto& [id, address] : nodes) {
    config.self = id;
    const std::string number = std::to_string(id.value);
    bundles.push_back(
        {"n" + number,
         bundled_text(config, "Node " + number + " of the cluster " + options.cluster + ", at " +
                                  address.text() + ": made by muster init.") +
             programs,
         {certificate_of(config)}});
  }
  if (options.observer)
    bundles.push_back(
        {observer,
         bundled_text(config,
                      "For observers of the cluster " + options.cluster +
                          ": muster members --config FILE. No node may run with this file."),
         {{"tls", {net::observer_name(*config.tls)}}},
         {},
         Look::at_text});  // no node runs with it
  return bundles;
}

void tell(const fs::path& directory, const std::vector<Bundle>& bundles,
          const std::map<NodeId, Address>& nodes) {
  const std::string at = directory.string();
  std::cout << at << " has a directory for each node, n1" << (nodes.size() > 1 ? ", n2, ..." : "")
            << ", and ca, the authority of their certificates: keep ca off every node\n"
            << "next, for each node:\n  set its program under [application] in its muster.toml, "
            << "and check the files: muster config check " << at << "/n*/muster.toml\n";
  if (!nodes.begin()->second.is_loopback()) {
    std::cout << "  copy it to its host: " << copies_text(nodes) << '\n';
  }
  std::cout << "  start it: muster node --config n1/muster.toml, or with the package, in "
               "/var/lib/muster: systemctl enable --now muster@n1\nthen look at all nodes: muster "
               "members --config "
            << at << '/' << bundles.back().name
            << "/muster.toml\nTLS does not prove that a node is dead: only a refused dial does, by "
               "the system at the node's address (docs/how-to/certificates.md)\n";
}

int init(const InitOptions& options) {
  if (!is_cluster_name(options.cluster))
    return failed({ExitCode::usage, "--cluster " + options.cluster +
                                        ": expected 1 to 64 letters, digits, '.', '_', '-'"});
  const auto nodes = addresses_of(options.nodes, options.port);
  if (!nodes) return failed(nodes.error());
  const fs::path directory =
      fs::path(options.directory.empty() ? options.cluster : options.directory) / "";
  const fs::path named = directory.parent_path();  // without the slash at its end
  const auto bundles = bundles_of(options, *nodes);
  if (const auto made = make_bundles(named, options.cluster, bundles); !made)
    return failed(made.error());
  tell(named, bundles, *nodes);
  return 0;
}

}  // namespace

void add_init_command(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<InitOptions>();
  CLI::App* command = app.add_subcommand(
      "init", "Make the files of a cluster: for each node a configuration and a certificate");
  command
      ->add_option(
          "--nodes", options->nodes,
          "Address of each node, the lowest id first; the last node is the first coordinator")
      ->option_text("HOST[:PORT],...")
      ->required();
  command->add_option("--cluster", options->cluster, "The cluster's name")->capture_default_str();
  command->add_option("--dir", options->directory, "A new directory [the cluster's name]")
      ->option_text("DIR");
  command->add_option("--port", options->port, "Port of the hosts that are given without one")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  command->add_flag("--observer", options->observer,
                    "Make a directory for an observer too (muster members)");
  command->footer(
      "Nodes on this machine (localhost,localhost,localhost) get a port each. Exit codes: 0 made; "
      "2 usage;\n64 the directory already exists; 74 an I/O error: nothing was made.");
  command->callback([options, &exit_code] { exit_code = init(*options); });
}

}  // namespace muster::apps
