#include "apps/muster/commands.hpp"
#include "apps/muster/failed.hpp"

#include <CLI/CLI.hpp>
#include <muster/json.hpp>
#include <muster/lab/checker.hpp>
#include <muster/text.hpp>

#include <unistd.h>

#include <iomanip>
#include <iostream>
#include <memory>

/// `muster check`: exhaustive search on the `step` that ships.

namespace muster::apps {
namespace {

using muster::operator<<;

struct Options {
  lab::Bounds bounds;
  std::string failures = "2";
  std::string channels = "session";
  std::string hooks = "prompt";
  std::string timeouts = "certain";
  std::vector<std::string> repairs;
  std::vector<std::string> strikes;
  bool literal = false;
  bool json = false;
};

Failure usage(const std::string& what) {
  return {ExitCode::usage, what + "; see muster check --help"};
}

template <class E>
Expected<> read_enum(const std::string& text, const char* flag, E& to) {
  const auto value = enumerator_named<E>(text);
  if (!value) return usage(std::string(flag) + " does not know '" + text + "'");
  to = *value;
  return {};
}

Expected<> read_number(const std::string& text, const char* flag, const char* unbounded,
                       std::optional<unsigned>& to) {
  if (text == unbounded) {
    to.reset();
    return {};
  }
  if (text.empty() || text.size() > 2 || text.find_first_not_of("0123456789") != text.npos ||
      std::stoul(text) > 14)
    return usage(std::string(flag) + " is a number up to 14 or '" + unbounded + "', not '" + text +
                 "'");
  to = static_cast<unsigned>(std::stoul(text));
  return {};
}

Expected<> read_repair(const std::string& text, Repairs& repairs) {
  const auto equals = text.find('=');
  const std::string value = equals == text.npos ? "" : text.substr(equals + 1);
  bool known = false;
  for_each_field(repairs, [&](const char* name, bool& field) {
    if (text.substr(0, equals) != name) return;
    known = true;
    field = value == "on";
  });
  if (!known || (value != "on" && value != "off"))
    return usage("--repair is NAME=on|off, with a name of docs/decisions/switches.md, not '" +
                 text + "'");
  return {};
}

Expected<> read(Options& options) {
  lab::Bounds& bounds = options.bounds;
  if (options.literal) bounds.repairs = Repairs::none();
  for (const std::string& repair : options.repairs)
    if (auto read = read_repair(repair, bounds.repairs); !read) return read;
  for (const std::string& strike : options.strikes)
    if (auto read = read_enum(strike, "--strike", bounds.struck.emplace_back()); !read) return read;
  if (auto read = read_number(options.failures, "--failures", "unbounded", bounds.failures); !read)
    return read;
  if (options.timeouts == "certain") options.timeouts = "0";
  if (auto read = read_number(options.timeouts, "--timeouts", "any", bounds.wrong_timeouts); !read)
    return read;
  if (auto read = read_enum(options.channels, "--channels", bounds.channels); !read) return read;
  return read_enum(options.hooks, "--hooks", bounds.hooks);
}

// What was said of the assertions is said of so much.
std::string how_far(const lab::CheckReport& report, const Options& options) {
  if (!report.exhausted) return "as far as the limit";
  if (report.cut == 0) return "in all worlds";
  return "within queues of at most " + std::to_string(options.bounds.queue) + " letters (" +
         std::to_string(report.cut) + " successors cut)";
}

void show(const lab::CheckReport& report, const Options& options) {
  std::ostream& out = std::cout;
  const lab::Progress& found = report.progress;
  if (options.json) {
    if (report.counterexample)
      out << "{\"assertion\":" << to_json(report.counterexample->assertion)
          << ",\"holds\":false,\"why\":" << to_json(report.counterexample->disagreement.why)
          << ",\"story\":" << to_json(report.counterexample->story) << "}\n";
    else
      for (const char* assertion : {"1a", "1b", "works-apart", "group-grows"})
        out << "{\"assertion\":\"" << assertion << "\",\"holds\":true,\"checked\":" << found.states
            << "}\n";
    out << "{\"states\":" << found.states << ",\"transitions\":" << found.transitions
        << ",\"depth\":" << found.depth
        << ",\"exhausted\":" << to_json(report.exhausted && report.cut == 0)
        << ",\"cut\":" << report.cut << ",\"seconds\":" << report.seconds
        << ",\"memory\":" << report.memory
        << ",\"protocol\":\"bully\",\"nodes\":" << options.bounds.nodes << "}\n";
    return;
  }
  if (report.counterexample) {
    std::size_t number = 0;
    for (const std::string& line : report.counterexample->story)
      out << std::setw(4) << ++number << "  " << line << '\n';
    out << "assertion " << report.counterexample->assertion
        << " is violated: " << report.counterexample->disagreement.why << '\n';
  } else {
    out << "1a, 1b, works-apart and group-grows hold " << how_far(report, options) << '\n';
  }
  out << found.states << " states, " << found.transitions << " transitions, depth " << found.depth
      << ", " << report.seconds << " s, " << report.memory / 1000000 << " MB";
  out << '\n';
}

int check(Options& options) {
  if (auto well = read(options); !well) return failed(well.error());
  const bool tell = isatty(STDERR_FILENO) != 0 && !options.json;
  const auto report = lab::check(options.bounds, [&](const lab::Progress& now) {
    if (tell) std::cerr << "depth " << now.depth << ": " << now.states << " states\r";
  });
  if (tell) std::cerr << '\n';
  show(report, options);
  if (!report.counterexample) return 0;
  return failed({ExitCode::does_not_hold,
                 "assertion " + report.counterexample->assertion + " does not hold in this world"});
}

}  // namespace

void add_check_command(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<Options>();
  lab::Bounds& bounds = options->bounds;
  CLI::App* command = app.add_subcommand(
      "check", "Search every interleaving of a small cluster for what does not hold");
  command->add_option("--nodes", bounds.nodes, "How many nodes")->check(CLI::Range(2, 5));
  command->add_option("--failures", options->failures, "At most so many; or 'unbounded'");
  command->add_option("--timeouts", options->timeouts,
                      "certain: only of calls that cannot be answered; any; or at most N others");
  command->add_option("--channels", options->channels, "session, fifo, incarnation or any");
  command->add_option("--hooks", options->hooks, "prompt, slow or failing");
  command->add_option("--duplicates", bounds.duplicates, "Letters that come twice")
      ->check(CLI::Range(0, 14));
  command->add_option("--losses", bounds.losses, "Letters that are lost")->check(CLI::Range(0, 14));
  command->add_option("--pauses", bounds.pauses, "Pauses")->check(CLI::Range(0, 14));
  command->add_option("--leaves", bounds.leaves, "Nodes that leave")->check(CLI::Range(0, 14));
  command->add_option("--queue", bounds.queue, "Letters on their way between two nodes, at most")
      ->check(CLI::Range(1, 8));
  command->add_option("--repair", options->repairs, "NAME=on|off, a switch; repeatable");
  command->add_option("--strike", options->strikes, "Take this line out; repeatable");
  command->add_flag("--literal", options->literal, "The paper's text: every switch off");
  command->add_flag("!--exact", bounds.canonical, "Numbers and dead fields stay as they are");
  command->add_option("--limit-states", bounds.limit_states, "Stop after so many states");
  command->add_option("--limit-memory", bounds.limit_memory, "Stop at so many bytes");
  command->add_flag("--json", options->json, "One JSON object a line");
  command->callback([options, &exit_code] { exit_code = check(*options); });
}

}  // namespace muster::apps
