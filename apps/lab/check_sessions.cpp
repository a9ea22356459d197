#include "apps/lab/check_sessions.hpp"

#include "apps/base/interrupt.hpp"
#include "apps/base/text.hpp"
#include "apps/base/verdict.hpp"

#include <muster/detail/values/kinds.hpp>
#include <muster/values/json.hpp>
#include <muster/values/text.hpp>

#include <CLI/CLI.hpp>

#include <unistd.h>

#include <algorithm>
#include <iostream>

namespace muster::apps {

const char* meaning(host::SessionLine line) {
  using enum host::SessionLine;
  switch (line) {
    case outlived_test:
      return "the Hello of a life is refused if a later life was seen";
    case clone_test:
      return "the Hello of a second process that claims to be a known life is refused";
    case stale_test:
      return "a Hello is ignored if it was sent before one that was accepted";
    case crossing_test:
      return "if two connections cross, the node with the higher id refuses the incoming one";
    case crossing_refused_once:
      return "a peer that dials again after that refusal is accepted";
    case new_life_ends_old:
      return "the Hello of a new life ends the session with the old one";
    case new_life_heard_at_home:
      return "a new life is believed only if the node's address was dialled, unless dials find "
             "only silence";
    case read_before_new_life:
      return "letters of the old life are read before its end is reported";
    case read_before_silence:
      return "everything readable is read before a bound counts as passed";
    case hellos_before_refusal:
      return "Hellos are read before a refused dial proves that a life is over";
    case call_before_dial:
      return "a refused dial ends only the calls that were made before the dial began";
    case reset_proves_nothing:
      return "a dial that is accepted and reset at once does not count as refused";
    case silence_proves_nothing:
      return "a dial without an answer does not count as refused";
    case session_keeps_dialling:
      return "a node with a session is dialled until that session ends";
    case letters_again:
      return "letters that were not received are sent again on the next connection";
    case letters_once:
      return "a letter that arrives a second time is dropped";
    case calls_to_their_life:
      return "a call to a life goes to no other life";
    case answers_to_their_life:
      return "an answer goes to the life that called, or to none";
    case answers_awaited:
      return "an answer is dropped if no call awaits it";
    case one_end_of_a_life:
      return "the end of a life is reported once";
  }
  return "";
}

namespace {

const std::string shared_names =
    "--restores, --strike, --lines, --threads, --limit-states, --accept-limit, --json";

bool is_shared(const CLI::Option& option) {
  return shared_names.find(option.get_name()) != std::string::npos || option.get_name() == "--help";
}

}  // namespace

void add_check_sessions(CLI::App& command, CheckSessionsOptions& options) {
  lab::SessionBounds& bounds = options.bounds;
  lab::SessionTroubles& troubles = bounds.troubles;
  const std::vector<CLI::Option*> of_protocols = command.get_options();
  CLI::Option* const sessions = command.add_flag(
      "--sessions", options.wanted,
      "Search the sessions of two nodes instead, with the options below and " + shared_names +
          ". Without calls, the search of any number of lives and breaks ends in minutes, and so "
          "does --calls 1 --lives 2 --resets 1");
  // Checked here, because Option::excludes would add a line to the --help text of each option.
  command.parse_complete_callback([sessions, of_protocols] {
    for (CLI::Option* const option : of_protocols)
      if (sessions->count() > 0 && option->count() > 0 && !is_shared(*option))
        throw CLI::ExcludesError(sessions->get_name(), option->get_name());
  });
  const auto add = [&](const char* name, auto& value, const char* says) {
    command.add_option(name, value, says)->check(CLI::Range(0, 9))->needs(sessions);
  };
  add("--calls", bounds.calls,
      "At most this many calls of each life, while a node still knows that life");
  command
      .add_option("--links", bounds.links,
                  "At most this many connections at a time; a dial waits for its turn")
      ->check(CLI::Range(1, 9))
      ->needs(sessions);
  add("--lives", options.lives, "Lives of both nodes; default: any number");
  add("--resets", options.resets, "Connections that the network breaks; default: any number");
  add("--silences", troubles.silences, "Machines that stop without closing their connections");
  add("--replays", troubles.replays, "Hellos that arrive a second time");
}

namespace {

Expected<> read(CheckSessionsOptions& options, const std::vector<std::string>& strikes) {
  lab::SessionTroubles& troubles = options.bounds.troubles;
  troubles.lives = options.lives.value_or(lab::any_number);
  troubles.resets = options.resets.value_or(lab::any_number);
  for (const std::string& strike : strikes) {
    std::string name = strike;
    std::replace(name.begin(), name.end(), '-', '_');
    const auto line = enumerator_named<host::SessionLine>(name);
    if (!line)
      return Failure{ExitCode::usage, "--strike: the sessions have no line '" + strike +
                                          "'; muster check --lines lists all lines"};
    options.bounds.struck.push_back(*line);
  }
  return {};
}

std::vector<std::string> flags_of(const lab::SessionReport& report) {
  std::vector<std::string> flags;
  for (const std::string& trouble : report.never) flags.push_back("--" + trouble);
  return flags;
}

void show(const lab::SessionReport& report, bool with_calls, bool json) {
  const bool is_decided = report.ended && report.transitions > 0;
  const std::string claims = json_of_verdict(report.violated.empty(), is_decided);
  if (json) {
    std::cout << "{\"sessions\":{\"holds\":" << claims << ",\"states\":" << report.states
              << ",\"transitions\":" << report.transitions << ",\"depth\":" << report.depth
              << ",\"drained\":" << report.drained << ",\"never\":" << to_json(flags_of(report));
    if (!report.violated.empty())
      std::cout << ",\"why\":" << to_json(report.violated)
                << ",\"story\":" << to_json(report.story);
    std::cout << "}}\n";
    return;
  }
  for (const std::string& line : report.story) std::cout << line << '\n';
  std::string verdict = report.violated;
  if (verdict.empty() && report.transitions == 0)
    verdict = "no transition was searched";
  else if (verdict.empty() && !report.ended)
    verdict = "no violation up to depth " + std::to_string(report.depth) + ", which proves nothing";
  else if (verdict.empty())
    verdict = with_calls ? "all claims hold"
                         : "all claims hold, except those about calls, which need --calls";
  std::cout << verdict << ": " << report.states << " states, " << report.transitions
            << " transitions, depth " << report.depth << "; " << report.drained
            << " times a last read before a verdict found letters\n";
}

}  // namespace

int check_sessions(CheckSessionsOptions& options, const std::vector<std::string>& strikes,
                   bool json) {
  if (const auto understood = read(options, strikes); !understood)
    return failed(understood.error());
  const bool tell = isatty(STDERR_FILENO) != 0 && !json;
  catch_signals();
  const auto report = lab::check_sessions(
      options.bounds,
      [&](const lab::SessionReport& now) {
        if (tell) std::cerr << "\rdepth " << now.depth << ": " << now.states << " states ";
      },
      [] { return caught_signal() != 0; });
  if (tell) std::cerr << '\n';
  show(report, options.bounds.calls > 0, json);
  if (!report.violated.empty())
    return failed({ExitCode::does_not_hold, "sessions: " + report.violated});
  const std::string states = counted(report.states, "state");
  if (report.interrupted)
    return failed({interrupted, "interrupted after " + states + ": nothing is proven"});
  if (report.transitions == 0)
    return failed({not_decided, "this world has no transitions: raise --lives"});
  if (!report.ended && !options.accept_limit)
    return failed(
        {not_decided,
         "a limit ended the search after " + states +
             ", so nothing is proven: raise --limit-states, or accept that with --accept-limit"});
  if (!report.never.empty()) return failed(never_came_about(flags_of(report)));
  return 0;
}

}  // namespace muster::apps
