#include "apps/election/election.hpp"

#include "apps/command_line/part_commands.hpp"
#include "apps/lab/commands.hpp"
#include "apps/lab/range_option.hpp"

#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>

namespace muster::apps {

void add_election_command(CLI::App& app, int& exit_code) {
  struct Words {
    election::Options options;
    std::string nodes = "5..1000";
    std::string svg;
  };
  const auto words = std::make_shared<Words>();
  CLI::App* command =
      app.add_subcommand(part_commands::election.name, part_commands::election.what);
  command
      ->add_option(
          "--nodes", words->nodes,
          "How many nodes, or a range: both ends, and 1, 2, 5, 10, 20, 50 ... between them")
      ->capture_default_str();
  command
      ->add_option("--down", words->options.down,
                   "How many of the highest nodes stop at once, with the coordinator")
      ->check(CLI::Range(1, 16))
      ->capture_default_str();
  command->add_option("--svg", words->svg, "Write a plot to this file");
  command->add_flag("--json", words->options.json, "Print one JSON object a line");
  command->callback([words, &exit_code] {
    const auto [least, most] = range_of("--nodes", words->nodes);
    if (least < words->options.down + 1 || most > 1000)
      throw CLI::ValidationError("--nodes", "expected more nodes than --down, and at most 1000");
    words->options.least_nodes = static_cast<std::uint32_t>(least);
    words->options.most_nodes = static_cast<std::uint32_t>(most);
    if (!words->svg.empty()) words->options.svg = words->svg;
    exit_code = election::bench(words->options, std::cout, std::cerr);
  });
}

}  // namespace muster::apps
