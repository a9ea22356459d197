#include "apps/base/failed.hpp"
#include "apps/hosting/one_node.hpp"
#include "apps/muster/commands/commands.hpp"

#include <muster/values/json.hpp>

#include <CLI/CLI.hpp>
#include <boost/json/parse.hpp>

#include <iostream>
#include <memory>

namespace muster::apps {
namespace {

struct Taken {
  std::string at_next_start;
};
MUSTER_DESCRIBE(Taken, at_next_start);

int reload_command(const OneNode& node) {
  const auto directory = node.directory();
  if (!directory) return failed(directory.error());
  const auto told = tell_node(*directory / "admin.sock", "reload");
  if (!told) return failed(told.error());
  if (node.json) {
    std::cout << *told << '\n';
    return 0;
  }
  boost::json::error_code error;
  const auto taken = read_json<Taken>(boost::json::parse(*told, error));
  std::cout << "the node now uses the new values of all settings that may change while it runs\n";
  if (taken && !taken->at_next_start.empty())
    std::cout << "these changes take effect at its next start: " << taken->at_next_start << '\n';
  return 0;
}

}  // namespace

void add_reload_command(CLI::App& app, int& exit_code) {
  const auto node = std::make_shared<OneNode>();
  CLI::App* command =
      app.add_subcommand("reload", "Make one node of this machine read its configuration again");
  command->footer(
      "These take effect at once: the files of [tls], [log], [http], and limit and keep of "
      "[journal]. Other changes are\nlisted, and take effect at the next start. SIGHUP does the "
      "same. Exit codes: 0 done; 5 no node was reached;\n75 the node refuses, says why, and keeps "
      "the configuration that it had.");
  add_options(*command, *node,
              "Print the changes that take effect at the next start as a line of JSON");
  command->callback([node, &exit_code] {
    demand(*node);
    exit_code = reload_command(*node);
  });
}

}  // namespace muster::apps
