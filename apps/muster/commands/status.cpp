#include "apps/base/failed.hpp"
#include "apps/hosting/one_node.hpp"
#include "apps/muster/commands/commands.hpp"

#include <muster/net/admin.hpp>

#include <CLI/CLI.hpp>

#include <iostream>

namespace muster::apps {
namespace {

int status_command(const OneNode& node) {
  const auto directory = node.directory();
  if (!directory) return failed(directory.error());
  const auto line = net::ask_admin(*directory / "admin.sock", admin_patience);
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
  const auto why = not_normal(*status, "ask again, or ask all nodes with muster members");
  return why ? failed(*why) : 0;
}

}  // namespace

void add_status_command(CLI::App& app, int& exit_code) {
  const auto node = std::make_shared<OneNode>();
  CLI::App* command = app.add_subcommand("status", "Show the status of one node of this machine");
  command->footer(
      "Exit codes: 0 it is Normal, and has heard its coordinator lately; 3 it is not; 5 no node "
      "was reached;\n8 two coordinators halt it in turn.");
  add_options(*command, *node, "Print the node's status as a line of JSON");
  command->callback([node, &exit_code] {
    demand(*node);
    exit_code = status_command(*node);
  });
}

}  // namespace muster::apps
