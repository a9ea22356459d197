#include "apps/base/failed.hpp"
#include "apps/base/text.hpp"
#include "apps/command_line/protocol_option.hpp"
#include "bench/nodes/bench.hpp"
#include "bench/nodes/fault_tests.hpp"

#include <CLI/CLI.hpp>

#include <unistd.h>

#include <csignal>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>

/// `muster-bench NAME`: one name for each bench. A bench is in this program, in another program, or
/// in a script.

namespace muster::apps {
namespace {

constexpr const char* command_name = "muster-bench";
constexpr const char* old_fault_tests = "doors";

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
      "failover",
      "Time from a fault of the coordinator until the application of each survivor has started");
  command->add_option("--nodes", words->options.nodes, "How many")
      ->check(CLI::Range(2, 64))
      ->capture_default_str();
  command->add_option("--reps", words->options.reps, "Number of runs")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  command->add_option("--fault", words->fault, "crash (kill -9), silent (network cut) or all")
      ->check(CLI::IsMember({"crash", "silent", "all"}))
      ->capture_default_str();
  command->add_option("--application", words->application, "none, shards or all")
      ->check(CLI::IsMember({"none", "shards", "all"}))
      ->capture_default_str();
  command->add_flag("--tls", words->options.tls, "Run each setting with certificates too");
  command->add_flag("--json", words->options.json, "Print one JSON object a line");
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
      "stability",
      "Elections and pauses without a fault, on an idle machine and beside two busy loops");
  command->add_option("--nodes", words->options.nodes, "How many")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command->add_option("--T", words->T, "The T to try, such as 20ms; repeatable");
  command->add_option("--time", words->time, "How long each")->capture_default_str();
  command->add_option("--rounds", words->options.rounds, "Rounds of each T")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_flag("--json", words->options.json, "Print one JSON object a line");
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
      "soak",
      "Random kill -9, restarts, pauses and broken connections, and whether every promise holds");
  command->add_option("--nodes", words->options.nodes, "How many")
      ->check(CLI::Range(2, 64))
      ->capture_default_str();
  auto* faults =
      command->add_option("--faults", words->options.faults, "How many")->capture_default_str();
  command->add_option("--time", words->time, "Run for this long, instead of --faults")
      ->excludes(faults);
  add_protocol(*command, words->options.protocol, healing_protocols);
  command->add_option("--T", words->T, "The paper's T (100ms)");
  command->add_option("--seed", words->options.seed, "Seed of the choice of faults")
      ->capture_default_str();
  command->add_flag("--json", words->options.json, "Print one JSON object a line");
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
  command->add_option("--limit-states", options->limit_states, "States of each world, at most")
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print one JSON object a line");
  command->callback([options, &exit_code] { exit_code = bench_checker(*options); });
}

void add_fault_tests(CLI::App& bench, int& exit_code) {
  struct Words {
    FaultTestOptions options;
    std::size_t seconds = 60;
    std::string quorum = "off";
    std::string calm;
    std::string T;
  };
  const auto words = std::make_shared<Words>();
  std::string rows = "Rows:\n";
  std::vector<std::string> names;
  for (const FaultRow& row : fault_rows()) {
    names.emplace_back(row.name);
    rows += "  " + names.back() + std::string(24 - names.back().size(), ' ') + row.what + '\n';
  }
  CLI::App* command = bench.add_subcommand(
      "fault_tests",
      "Five nodes of muster run, with one fault a row: how long the nodes work that the fault "
      "should not affect, and how long two groups work at once");
  command->alias(old_fault_tests)->footer(rows);
  command->add_option("--row", words->options.rows, "Run only this row; repeatable")
      ->check(CLI::IsMember(names));
  command->add_option("--seconds", words->seconds, "How long each")
      ->check(CLI::Range(1, 86'400))
      ->capture_default_str();
  command->add_option("--quorum", words->quorum, "off or majority")
      ->check(CLI::IsMember({"off", "majority"}))
      ->capture_default_str();
  add_protocol(*command, words->options.protocol, healing_protocols);
  command->add_option("--calm", words->calm,
                      "First time for which calm suspends a node (1s); 0s: no calm");
  command->add_option("--T", words->T, "The paper's T (default: that of each row)");
  command->add_flag("--keep", words->options.keep, "Keep configurations, logs and journals");
  command->add_flag("--json", words->options.json, "Print one JSON object a line");
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
    exit_code = bench_fault_tests(words->options);
  });
}

/// The command `work`, which the nodes of `fault_tests` run as their program.
void add_work(CLI::App& bench, int& exit_code) {
  struct Words {
    std::string pipe;
    std::size_t stop_for = 0;
  };
  const auto words = std::make_shared<Words>();
  CLI::App* command =
      bench.add_subcommand("work", "The program of the nodes of fault_tests")->group("");
  command->add_option("PIPE", words->pipe, "Pipe to which it reports that it works")->required();
  command->add_option("MS", words->stop_for, "How long it goes on after it is told to stop, in ms");
  command->callback([words, &exit_code] {
    exit_code = work(words->pipe, std::chrono::milliseconds(words->stop_for));
  });
}

/// A bench that is a program or a script of its own.
struct Program {
  const char* name;
  const char* what;
  const char* script = nullptr;        ///< a script below tests/; null: the program is bench_NAME
  std::vector<const char*> runs = {};  ///< its first arguments: programs beside this one
  std::vector<std::string> by_default = {};  ///< its further arguments if the command line has none
};

const std::vector<Program>& programs() {
  static const std::vector<Program> all = {
      {"attack", "Attacks of unauthenticated peers on the ports of nodes"},
      {"codec", "Time to write and read letters as bytes"},
      {"findings", "The rows of docs/findings.md"},
      {"floods", "Nodes during a flood of connections"},
      {"hooks", "What a hook costs, in C++ and as a program"},
      {"journals", "A digest of each seed's states"},
      {"kills",
       "Kills the nodes of two examples",
       "apps/examples/kills.py",
       {"example_kv", "example_jobs"},
       {"kills", "--cycles", "2000"}},
      {"mutants", "Whether the tests catch each mutant", "mutants/run.py"},
      {"patroni",
       "Fail-over of PostgreSQL, compared with Patroni's",
       "bench/peers/patroni.py",
       {"muster"}},
      {"permits", "Permits a second"},
      {"pgbench",
       "Commits a second, compared with plain PostgreSQL",
       "bench/peers/pgbench.py",
       {"muster"}},
      {"postgres", "Kills databases and cuts them off", "apps/postgres/faults.py", {"muster"}},
      {"postgres_cases",
       "PostgreSQL clusters whose owners change settings, files, locks or rows",
       "apps/postgres/all_cases.py",
       {"muster"}},
      {"postgres_facts", "Facts about PostgreSQL that its fail-over relies on"},
      {"postgres_large",
       "Cuts off clones of large databases",
       "apps/postgres/large.py",
       {"muster"}},
      {"postgres_model", "The lab of muster postgres"},
      {"scrapes", "Cost of requests for /metrics", "apps/watching/scrapes.py", {"muster"}},
      {"spin", "The rows of the model in SPIN", "spin/run.sh", {}, {"all"}},
      {"store_commit", "Time of a commit of safe storage"},
      {"store_cuts", "Safe storage and power cuts"},
      {"store_damage", "Safe storage and damaged bytes"},
      {"switches", "The Bully with each switch off alone"},
      {"upgrade", "Upgrades from an older commit to this one", "bench/upgrade.py", {"muster"}},
      {"upgrade_postgres",
       "Upgrades a PostgreSQL cluster from an older commit to this one",
       "bench/upgrade_postgres.py",
       {"muster"}},
      {"verify_journals", "How fast muster verify reads"},
  };
  return all;
}

}  // namespace

std::filesystem::path program_beside(const std::string& name) {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / name;
}

namespace {

int become(const Program& bench, std::vector<std::string> words) {
  const std::filesystem::path program = bench.script != nullptr
                                            ? std::filesystem::path(MUSTER_TESTS) / bench.script
                                            : program_beside("bench_" + std::string(bench.name));
  if (words.empty()) words = bench.by_default;
  std::vector<std::string> all;
  if (program.extension() == ".py") all = {"python3", "-B"};
  all.push_back(program.string());
  for (const char* name : bench.runs) all.push_back(program_beside(name).string());
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> arguments;
  for (std::string& word : all) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::error_code error;
  if (std::filesystem::exists(program, error)) ::execvp(arguments.front(), arguments.data());
  return failed({ExitCode::usage, program.string() + " does not exist or cannot be started; " +
                                      "./dev bench " + bench.name +
                                      " builds what it needs, in a working copy"},
                std::cerr, command_name);
}

int run(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && words.front() == old_fault_tests)
    std::cerr << command_name << ": the bench " << old_fault_tests
              << " is now called fault_tests; use that name\n";
  for (const Program& bench : programs())
    if (!words.empty() && words.front() == bench.name)
      return become(bench, {words.begin() + 1, words.end()});
  CLI::App app("Measures Muster and makes it fail, with real processes and real safe storage",
               command_name);
  app.require_subcommand(1);
  int exit_code = 0;
  add_failover(app, exit_code);
  add_stability(app, exit_code);
  add_soak(app, exit_code);
  add_fault_tests(app, exit_code);
  add_work(app, exit_code);
  add_checker(app, exit_code);
  for (const Program& bench : programs()) app.add_subcommand(bench.name, bench.what);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help
    std::string why = error.what();
    if (!words.empty() && !words.front().starts_with('-') &&
        app.get_subcommands([&](CLI::App* one) { return one->check_name(words.front()); }).empty())
      why = "there is no bench " + words.front();
    return failed({ExitCode::usage, why + "; see muster-bench --help"}, std::cerr, command_name);
  }
  return exit_code;
}

}  // namespace
}  // namespace muster::apps

int main(int argc, char** argv) {
  // A write to a closed pipe then fails with an error, which the code checks.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return muster::apps::run(argc, argv);
  } catch (const std::exception& error) {
    return muster::apps::failed({muster::ExitCode::temporary, error.what()}, std::cerr,
                                muster::apps::command_name);
  }
}
