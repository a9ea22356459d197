#include "apps/bench/bench.hpp"

#include "apps/base/text.hpp"
#include "apps/bench/doors.hpp"
#include "apps/bench/election.hpp"
#include "apps/muster/commands/commands.hpp"
#include "apps/muster/commands/protocol_option.hpp"
#include "apps/muster/commands/range_option.hpp"

#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>

namespace muster::apps {
namespace {

Duration positive_duration(const std::string& name, const std::string& text) {
  const auto duration = parse_duration(text);
  if (!duration || *duration <= Duration::zero())
    throw CLI::ValidationError(name + " " + text, "expected a duration such as 20ms or 30s");
  return *duration;
}

void add_failover(CLI::App& bench, int& exit_code) {
  struct Words {
    FailoverOptions options;
    std::string fault = "all";
    std::string application = "all";
  };
  const auto words = std::make_shared<Words>();
  CLI::App* command = bench.add_subcommand(
      "failover", "From a fault of the coordinator to the last survivor's started application");
  command->add_option("--nodes", words->options.nodes, "How many")
      ->check(CLI::Range(2, 64))
      ->capture_default_str();
  command->add_option("--reps", words->options.reps, "How often")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  command->add_option("--fault", words->fault, "crash (kill -9), silent (network cut) or all")
      ->check(CLI::IsMember({"crash", "silent", "all"}))
      ->capture_default_str();
  command->add_option("--application", words->application, "none, shards or all")
      ->check(CLI::IsMember({"none", "shards", "all"}))
      ->capture_default_str();
  command->add_flag("--tls", words->options.tls, "Each setting with certificates too");
  command->add_flag("--json", words->options.json, "One object a line");
  command->callback([words, &exit_code] {
    words->options.crash = words->fault != "silent";
    words->options.silent = words->fault != "crash";
    words->options.none = words->application != "shards";
    words->options.shards = words->application != "none";
    exit_code = bench_failover(words->options);
  });
}

void add_stability(CLI::App& bench, int& exit_code) {
  struct Words {
    StabilityOptions options;
    std::vector<std::string> T;
    std::string time = "30s";
  };
  const auto words = std::make_shared<Words>();
  CLI::App* command = bench.add_subcommand(
      "stability", "Elections and pauses without a fault, idle and beside two busy loops");
  command->add_option("--nodes", words->options.nodes, "How many")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command->add_option("--T", words->T, "The T to try, such as 20ms; may be repeated");
  command->add_option("--time", words->time, "How long each")->capture_default_str();
  command->add_option("--rounds", words->options.rounds, "How often each")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_flag("--json", words->options.json, "One object a line");
  command->callback([words, &exit_code] {
    for (const std::string& text : words->T)
      words->options.T.push_back(positive_duration("--T", text));
    words->options.time = positive_duration("--time", words->time);
    exit_code = bench_stability(words->options);
  });
}

void add_soak(CLI::App& bench, int& exit_code) {
  struct Words {
    SoakOptions options;
    std::string time;
    std::string T;
  };
  const auto words = std::make_shared<Words>();
  CLI::App* command = bench.add_subcommand(
      "soak", "Random kill -9, restarts, pauses and broken connections, and what came of them");
  command->add_option("--nodes", words->options.nodes, "How many")
      ->check(CLI::Range(2, 64))
      ->capture_default_str();
  auto* faults =
      command->add_option("--faults", words->options.faults, "How many")->capture_default_str();
  command->add_option("--time", words->time, "As many as fit, instead")->excludes(faults);
  add_protocol(*command, words->options.protocol, healing_protocols);
  command->add_option("--T", words->T, "The paper's T (100ms)");
  command->add_option("--seed", words->options.seed, "Of the choice of faults")
      ->capture_default_str();
  command->add_flag("--json", words->options.json, "One object a line");
  command->callback([words, &exit_code] {
    if (!words->time.empty()) words->options.time = positive_duration("--time", words->time);
    if (!words->T.empty()) words->options.T = positive_duration("--T", words->T);
    exit_code = bench_soak(words->options);
  });
}

void add_checker(CLI::App& bench, int& exit_code) {
  const auto options = std::make_shared<CheckerOptions>();
  CLI::App* command =
      bench.add_subcommand("checker", "States a second of muster check, and bytes a state");
  command->add_option("--limit-states", options->limit_states, "Of each world")
      ->capture_default_str();
  command->add_flag("--json", options->json, "One object a line");
  command->callback([options, &exit_code] { exit_code = bench_checker(*options); });
}

void add_election(CLI::App& bench, int& exit_code) {
  struct Words {
    election::Options options;
    std::string nodes = "5..1000";
    std::string svg;
  };
  const auto words = std::make_shared<Words>();
  CLI::App* command = bench.add_subcommand(
      "election",
      "Messages and time of one election in simulated time, by protocol: the paper's text, the "
      "Bully "
      "as it ships, the textbooks' and the Invitation, best and worst case, each compared with its "
      "closed form (docs/figures.md); exit code 1 where one does not hold");
  command
      ->add_option("--nodes", words->nodes,
                   "How many, or a range: both ends and the 1, 2, 5, 10, 20, 50 ... between them")
      ->capture_default_str();
  command
      ->add_option("--down", words->options.down,
                   "So many of the highest stop at once, the coordinator among them")
      ->check(CLI::Range(1, 16))
      ->capture_default_str();
  command->add_option("--svg", words->svg, "Where a plot is left");
  command->add_flag("--json", words->options.json, "One object a line");
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

void add_doors(CLI::App& bench, int& exit_code) {
  struct Words {
    DoorsOptions options;
    std::size_t seconds = 60;
    std::string quorum = "off";
    std::string calm;
    std::string T;
  };
  const auto words = std::make_shared<Words>();
  std::string rows = "Rows:\n";
  std::vector<std::string> names;
  for (const DoorsRow& row : doors_rows()) {
    names.emplace_back(row.name);
    rows += "  " + names.back() + std::string(24 - names.back().size(), ' ') + row.what + '\n';
  }
  CLI::App* command = bench.add_subcommand(
      "doors",
      "Five nodes of muster run, one fault a row: the time at work of those that it should "
      "not concern, and the time that two groups were at work at once");
  command->footer(rows);
  command->add_option("--row", words->options.rows, "Only this; may be repeated")
      ->check(CLI::IsMember(names));
  command->add_option("--seconds", words->seconds, "How long each")
      ->check(CLI::Range(1, 86'400))
      ->capture_default_str();
  command->add_option("--quorum", words->quorum, "off or majority")
      ->check(CLI::IsMember({"off", "majority"}))
      ->capture_default_str();
  add_protocol(*command, words->options.protocol, healing_protocols);
  command->add_option("--calm", words->calm, "The first hold of the Bully (1s); 0s: no calm");
  command->add_option("--T", words->T, "The paper's T (each row its own)");
  command->add_flag("--keep", words->options.keep, "Leave configurations, logs and journals");
  command->add_flag("--json", words->options.json, "One object a line");
  command->callback([words, &exit_code] {
    words->options.time = std::chrono::seconds(words->seconds);
    if (words->quorum == "majority") words->options.quorum = Quorum::majority;
    const bool invites = words->options.protocol == ProtocolName::invitation;
    if (invites && words->options.quorum == Quorum::majority)
      throw CLI::ValidationError("--quorum majority", "the Invitation has no quorum");
    if (invites || words->calm == "0s")
      words->options.calm = Duration::zero();
    else if (!words->calm.empty())
      words->options.calm = positive_duration("--calm", words->calm);
    if (!words->T.empty()) words->options.T = positive_duration("--T", words->T);
    exit_code = bench_doors(words->options);
  });
}

/// What the nodes of `doors` run.
void add_work(CLI::App& bench, int& exit_code) {
  struct Words {
    std::string pipe;
    std::size_t stop_for = 0;
  };
  const auto words = std::make_shared<Words>();
  CLI::App* command = bench.add_subcommand("work", "The program of muster bench doors")->group("");
  command->add_option("PIPE", words->pipe, "Where it says that it works")->required();
  command->add_option("MS", words->stop_for, "How long it goes on when it is told to stop");
  command->callback([words, &exit_code] {
    exit_code = work(words->pipe, std::chrono::milliseconds(words->stop_for));
  });
}

}  // namespace

void add_bench_command(CLI::App& app, int& exit_code) {
  CLI::App* bench = app.add_subcommand(
      "bench",
      "Measure real processes with real safe storage, the lab, and elections in simulated time");
  bench->require_subcommand(1);
  add_failover(*bench, exit_code);
  add_stability(*bench, exit_code);
  add_soak(*bench, exit_code);
  add_doors(*bench, exit_code);
  add_work(*bench, exit_code);
  add_checker(*bench, exit_code);
  add_election(*bench, exit_code);
}

}  // namespace muster::apps
