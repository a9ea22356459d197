#include "apps/base/failed.hpp"
#include "apps/base/huge_pages.hpp"
#include "apps/base/interrupt.hpp"
#include "apps/base/text.hpp"
#include "apps/base/write_file.hpp"
#include "apps/command_line/part_commands.hpp"
#include "apps/command_line/protocol_option.hpp"
#include "apps/lab/assertion_option.hpp"
#include "apps/lab/check_report.hpp"
#include "apps/lab/check_sessions.hpp"
#include "apps/lab/check_texts.hpp"
#include "apps/lab/commands.hpp"
#include "apps/lab/cut_option.hpp"
#include "apps/lab/repair_option.hpp"
#include "apps/lab/strike_option.hpp"

#include <CLI/CLI.hpp>
#include <muster/lab/checker.hpp>
#include <muster/protocol/protocol.hpp>
#include <muster/values/json.hpp>
#include <muster/values/text.hpp>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <thread>

/// `muster check`: exhaustive search on the `step` that nodes run.

namespace muster::apps {
namespace {

using muster::operator<<;

struct CheckOptions {
  lab::Bounds bounds;
  std::string failures = "2";
  std::string channels = "session";
  std::string hooks = "prompt";
  std::optional<unsigned> failed_hooks;
  std::string timeouts = "certain";
  std::string ticks = "any";
  std::vector<std::string> repairs;
  std::vector<std::string> chosen;
  std::vector<std::string> strikes;
  std::string start = "down";
  std::vector<std::string> cuts;
  std::string out;
  bool literal = false;
  bool exact = false;
  bool lines = false;
  bool assumptions = false;
  bool json = false;
  bool accept_limit = false;
  CheckSessionsOptions sessions;
};

template <class E>
Expected<> read_enum(const std::string& text, const char* flag, E& to) {
  const auto value = enumerator_named<E>(text);
  if (!value) {
    std::string names;
    boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>(
        [&](auto one) { names += (names.empty() ? "" : ", ") + std::string(one.name); });
    return misread(std::string(flag) + ": unknown value '" + text + "'; expected one of " + names);
  }
  to = *value;
  return {};
}

// Reads a number. `unbounded` is the word for no limit, and `words` lists the words for the
// message.
Expected<> read_number(const std::string& text, const char* flag, const char* unbounded,
                       const char* words, std::optional<unsigned>& to) {
  if (text == unbounded) {
    to.reset();
    return {};
  }
  if (text.empty() || text.size() > 2 || text.find_first_not_of("0123456789") != text.npos ||
      std::stoul(text) > 14)
    return misread(std::string(flag) + ": expected " + words + "or a number up to 14, not '" +
                   text + "'");
  to = static_cast<unsigned>(std::stoul(text));
  return {};
}

Expected<> read_start(const std::string& text, lab::Bounds& bounds) {
  if (text == "down") return {};
  if (text == "normal") {
    for (std::uint32_t id = 1; id <= bounds.nodes; ++id) bounds.start.insert(NodeId{id});
    return {};
  }
  std::istringstream ids(text + ',');
  for (std::string id; std::getline(ids, id, ',');) {
    const auto number = parse_number(id);
    if (!number || *number == 0 || *number > bounds.nodes)
      return misread("--start: expected down, normal or a list of nodes from 1 to " +
                     std::to_string(bounds.nodes) + ", such as 1,2, not '" + text + "'");
    bounds.start.insert(NodeId{static_cast<std::uint32_t>(*number)});
  }
  return {};
}

Expected<> read(CheckOptions& options) {
  lab::Bounds& bounds = options.bounds;
  bounds.canonical = !options.exact;
  bounds.counters = bounds.counters || bounds.restores > 0;
  if (options.literal && bounds.protocol == ProtocolName::textbook)
    return misread("--literal: the textbook protocol has no switches");
  if (options.literal) {
    bounds.repairs = Repairs::none();
    bounds.invitation_repairs = invitation::Repairs::none();
  }
  for (const std::string& repair : options.repairs)
    if (auto read = read_repair(repair, bounds); !read) return read;
  for (const std::string& option : options.chosen)
    if (auto read = read_option(option, bounds.protocol, bounds.options); !read) return read;
  for (const std::string& strike : options.strikes)
    if (auto read = read_strike(strike, bounds); !read) return read;
  if (auto read = read_start(options.start, bounds); !read) return read;
  for (const std::string& link : options.cuts)
    bounds.cuts.insert(link_of("--cut", link, bounds.nodes));
  if (bounds.liveness && lab::leaves_no_parts(bounds))
    return misread(
        "--liveness asks for Assertion 4, which needs parts in which all nodes hear each other: "
        "cut more links, or remove --liveness");
  if (auto read =
          read_number(options.failures, "--failures", "unbounded", "unbounded ", bounds.failures);
      !read)
    return read;
  if (options.timeouts == "certain")
    bounds.wrong_timeouts = 0;
  else if (auto read = read_number(options.timeouts, "--timeouts", "any", "certain, any ",
                                   bounds.wrong_timeouts);
           !read)
    return read;
  if (auto read = read_number(options.ticks, "--ticks", "any", "any ", bounds.ticks); !read)
    return read;
  if (bounds.ticks && !reads_clock(bounds.options))
    return misread(
        "--ticks bounds clocks, but no node reads a clock here: remove it, or add --option "
        "quorum=majority or calm=1s");
  if (bounds.ticks && bounds.liveness)
    return misread(
        "--liveness asks what is reached in the end, so it needs clocks without a bound: remove "
        "--ticks");
  if (auto read = read_enum(options.channels, "--channels", bounds.channels); !read) return read;
  if (auto read = read_enum(options.hooks, "--hooks", bounds.hooks); !read) return read;
  if (options.failed_hooks && bounds.hooks != lab::Hooks::failing)
    return misread("--failed-hooks needs --hooks failing: no hook fails here");
  bounds.failed_hooks = options.failed_hooks.value_or(bounds.failed_hooks);
  return {};
}

// Empties the file before the search. So an error comes at once, not after a long search. And
// nobody mistakes the journal of an earlier search for that of this one.
Expected<> empty_journal(const std::string& path) {
  return path.empty() ? Expected<>() : write_file(path, "");
}

// Writes the journal of the story that was found, if --out was given. Removes the file if there is
// none.
Expected<> write_journal(const lab::CheckReport& report, const std::string& path) {
  const lab::Trace* story = nullptr;
  if (report.counterexample)
    story = &report.counterexample->story;
  else if (report.wedged && report.wedged->story)
    story = &*report.wedged->story;
  else if (report.avoids && report.avoids->story)
    story = &*report.avoids->story;
  if (path.empty()) return {};
  if (!story) {
    if (std::filesystem::is_regular_file(path)) std::filesystem::remove(path);
    return {};
  }
  return write_file(path, story->journal);
}

void show_progress(const lab::Progress& now) {
  const double rate = static_cast<double>(now.states) / std::max(now.seconds, 1e-9);
  std::cerr << (now.tracing ? "\rsearching the path to it, depth " : "\rdepth ") << now.depth
            << ": " << now.states << " states, " << static_cast<std::uint64_t>(rate)
            << " a second, " << now.memory / 1000000 << " MB ";
}

int check(CheckOptions& options) {
  if (options.lines) return show_lines(std::cout, options.json), 0;
  if (options.sessions.wanted) {
    options.sessions.bounds.threads = options.bounds.threads;
    options.sessions.bounds.states = options.bounds.limit_states;
    options.sessions.bounds.troubles.restores = options.bounds.restores;
    options.sessions.accept_limit = options.accept_limit;
    return check_sessions(options.sessions, options.strikes, options.json);
  }
  if (options.assumptions) return show_assumptions(std::cout, options.json), 0;
  if (auto well = read(options); !well) return failed(well.error());
  if (auto writable = empty_journal(options.out); !writable) return failed(writable.error());
  const bool tell = isatty(STDERR_FILENO) != 0 && !options.json;
  const HugePages for_its_tables;
  catch_signals();
  const auto report = lab::check(
      options.bounds,
      [&](const lab::Progress& now) {
        if (tell) show_progress(now);
      },
      [] { return caught_signal() != 0; });
  if (tell) std::cerr << '\n';
  const CheckResult result{report, options.bounds, options.out, options.accept_limit};
  if (options.json)
    show_json(result);
  else
    show_text(result);
  if (auto written = write_journal(report, options.out); !written) return failed(written.error());
  if (const auto failure = failure_of(result)) return failed(*failure);
  return 0;
}

/// Adds the options that bound how often a fault may happen.
void add_faults(CLI::App& command, CheckOptions& options) {
  const auto add = [&](const char* name, auto& most, const std::string& what) {
    command.add_option(name, most, "At most this many " + what)->check(CLI::Range(0, 14));
  };
  lab::Bounds& bounds = options.bounds;
  add("--failed-hooks", options.failed_hooks,
      "failing hooks, with --hooks failing; " + std::to_string(bounds.failed_hooks) +
          " by default");
  add("--duplicates", bounds.duplicates, "letters that arrive twice");
  add("--losses", bounds.losses, "lost letters");
  add("--pauses", bounds.pauses, "pauses");
  add("--leaves", bounds.leaves, "nodes that leave");
  add("--differences", bounds.differences,
      "times that a node that is down gets another configuration");
  add("--restores", bounds.restores, "times that a store is restored from a copy; sets --counters");
}

void add_limits(CLI::App& command, CheckOptions& options) {
  command
      .add_option("--limit-states", options.bounds.limit_states,
                  "Stop after this many states (exit code 9); 0: never")
      ->check(is_count);
  command
      .add_option("--limit-memory", options.bounds.limit_memory,
                  "Stop at this many bytes of memory, such as 4GB; 0: never")
      ->transform(CLI::AsSizeValue(true))
      ->transform(CLI::Validator(begins_with_digit, ""));
  command.add_flag("--accept-limit", options.accept_limit,
                   "Exit with 0, not 9, if a limit ended the search");
}

}  // namespace

void add_check_command(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<CheckOptions>();
  lab::Bounds& bounds = options->bounds;
  bounds.threads = std::max(1u, std::thread::hardware_concurrency());
  CLI::App* command = app.add_subcommand(part_commands::check.name, part_commands::check.what);
  command->option_defaults()->always_capture_default();
  add_protocol(*command, bounds.protocol, every_protocol);
  command->add_option("--nodes", bounds.nodes, "How many nodes")->check(CLI::Range(2, 5));
  command->add_option("--failures", options->failures,
                      "At most this many failures, or 'unbounded'");
  command->add_option(
      "--timeouts", options->timeouts,
      "Calls that time out. certain: only calls that cannot be answered; any: all calls; "
      "N: also at most N calls that can be answered");
  command->add_option("--ticks", options->ticks,
                      "Ticks of clocks, with --option quorum or calm: any, or at most this many");
  command->add_option("--channels", options->channels, "session, fifo, incarnation or any");
  command->add_option("--hooks", options->hooks, "prompt, slow or failing");
  add_faults(*command, *options);
  command
      ->add_option("--queue", bounds.queue,
                   "At most this many letters on their way between two nodes")
      ->check(CLI::Range(1, 8));
  command->add_option(
      "--start", options->start,
      "Nodes that are up at first. down: none; normal: all, in one group; or a list such as 1,2");
  command
      ->add_option("--cut", options->cuts,
                   "Two nodes that never hear each other, such as 1-3; repeatable")
      ->delimiter(',');
  command->add_flag("--slow-restart", bounds.slow_restart,
                    "A life begins only when no letter of the node's last life is on its way");
  command->add_flag("--split-actions", bounds.split_actions,
                    "A node may also fail between two actions of one step");
  command->add_option("--repair", options->repairs, "NAME=on|off, a switch; repeatable");
  command->add_option("--option", options->chosen,
                      "NAME=VALUE, an option that departs from the paper "
                      "(docs/explanation/options.md); repeatable: quorum=majority, preempt=never, "
                      "\"preempt=after 5m\", resume=all, settle=5s, calm=1s");
  command->add_option("--strike", options->strikes,
                      "Remove this line of the protocol; repeatable (halts-descending=parallel, "
                      "=two-rounds, =rounds or =rounds-with-incarnations replaces it instead)");
  command->add_flag("--lines", options->lines,
                    "List the lines that --strike knows, with the purpose of each");
  command->add_flag("--assumptions", options->assumptions,
                    "List each assertion, and the worlds in which it is claimed");
  add_assertions(*command, bounds.assertions, "Check only this assertion; repeatable",
                 lab::assertions_about_worlds());
  command->add_option("-o,--out", options->out,
                      "Write what was found as a journal; an existing file is replaced, or removed "
                      "if nothing is found");
  command->add_flag(
      "--liveness", bounds.liveness,
      "Also check whether Assertion 2 (4 of the Invitation) can be reached from every world");
  command->add_flag("--counters", bounds.counters, "Keep group counters, and check group-grows");
  command->add_option("--threads", bounds.threads, "Number of threads that search")
      ->check(CLI::Range(1, 64))
      ->default_str("one for each CPU");
  command->add_flag("--literal", options->literal, "The paper's text: every switch off");
  command->add_flag("--exact", options->exact,
                    "Do not merge worlds that differ only in numbers or unused fields");
  add_limits(*command, *options);
  command->add_flag("--json", options->json, "Print one JSON object a line");
  add_check_sessions(*command, options->sessions);
  command->callback([options, &exit_code] { exit_code = check(*options); });
}

}  // namespace muster::apps
