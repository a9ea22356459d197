#include "apps/base/failed.hpp"
#include "apps/base/huge_pages.hpp"
#include "apps/base/text.hpp"
#include "apps/base/write_file.hpp"
#include "apps/muster/commands/assertion_option.hpp"
#include "apps/muster/commands/check_sessions.hpp"
#include "apps/muster/commands/check_texts.hpp"
#include "apps/muster/commands/commands.hpp"
#include "apps/muster/commands/protocol_option.hpp"
#include "apps/muster/commands/repair_option.hpp"
#include "apps/muster/commands/strike_option.hpp"

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

/// `muster check`: exhaustive search on the `step` that ships.

namespace muster::apps {
namespace {

using muster::operator<<;

struct CheckOptions {
  lab::Bounds bounds;
  std::string failures = "2";
  std::string channels = "session";
  std::string hooks = "prompt";
  std::string timeouts = "certain";
  std::string ticks = "any";
  std::vector<std::string> repairs;
  std::vector<std::string> chosen;
  std::vector<std::string> strikes;
  std::string start = "down";
  std::string out;
  bool literal = false;
  bool exact = false;
  bool lines = false;
  bool assumptions = false;
  bool json = false;
  CheckSessionsOptions sessions;
};

template <class E>
Expected<> read_enum(const std::string& text, const char* flag, E& to) {
  const auto value = enumerator_named<E>(text);
  if (!value) {
    std::string names;
    boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>(
        [&](auto one) { names += (names.empty() ? "" : ", ") + std::string(one.name); });
    return misread(std::string(flag) + " does not know '" + text + "'; it knows " + names);
  }
  to = *value;
  return {};
}

// `words` are those that it knows beside numbers.
Expected<> read_number(const std::string& text, const char* flag, const char* unbounded,
                       const char* words, std::optional<unsigned>& to) {
  if (text == unbounded) {
    to.reset();
    return {};
  }
  if (text.empty() || text.size() > 2 || text.find_first_not_of("0123456789") != text.npos ||
      std::stoul(text) > 14)
    return misread(std::string(flag) + " is " + words + "or a number up to 14, not '" + text + "'");
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
      return misread("--start is down, normal or a list of nodes up to " +
                     std::to_string(bounds.nodes) + ", not '" + text + "'");
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
        "--ticks bounds clocks, and nobody reads one here: take it out, or add --option "
        "quorum=majority or calm=1s");
  if (bounds.ticks && bounds.liveness)
    return misread("--liveness asks what is reached in the end: take --ticks out");
  if (auto read = read_enum(options.channels, "--channels", bounds.channels); !read) return read;
  return read_enum(options.hooks, "--hooks", bounds.hooks);
}

// The paper's assertion about what is reached in peace.
std::string liveness(const CheckOptions& options) {
  return options.bounds.protocol == ProtocolName::invitation ? "4" : "2";
}

// Whether the assertion is claimed in this world, and why not.
std::string claimed_json(const std::string& assertion, const CheckOptions& options) {
  const auto why = not_claimed(assertion, options.bounds);
  return why ? ",\"claimed\":false,\"not_claimed\":" + to_json(*why) : ",\"claimed\":true";
}

void show_json(const lab::CheckReport& report, const CheckOptions& options) {
  std::ostream& out = std::cout;
  const lab::Progress& found = report.progress;
  if (const auto& counter = report.counterexample) {
    out << "{\"assertion\":" << to_json(counter->assertion)
        << ",\"holds\":false,\"at\":{\"nodes\":" << to_json(counter->disagreement.nodes)
        << "},\"why\":" << to_json(counter->disagreement.why)
        << ",\"steps\":" << counter->story.lines.size() << ",\"opening\":" << counter->story.opening
        << ",\"counted\":" << counter->story.counted
        << ",\"story\":" << to_json(counter->story.lines);
    if (!options.out.empty()) out << ",\"journal\":" << to_json(options.out);
    out << claimed_json(counter->assertion, options) << "}\n";
  } else {
    for (const std::string& assertion : lab::looked_at(options.bounds))
      out << "{\"assertion\":\"" << assertion << "\",\"holds\":true,\"checked\":" << found.states
          << ",\"exhausted\":" << to_json(report.exhausted()) << claimed_json(assertion, options)
          << "}\n";
  }
  if (const auto& wedged = report.wedged) {
    out << "{\"assertion\":\"" << liveness(options) << "\",\"holds\":"
        << to_json(wedged->worlds == 0 && !(report.avoids && report.avoids->story))
        << ",\"wedged\":" << wedged->worlds << claimed_json(liveness(options), options);
    if (wedged->story) out << ",\"story\":" << to_json(wedged->story->lines);
    if (const auto& avoids = report.avoids; avoids && avoids->story)
      out << ",\"round\":" << avoids->round << ",\"story\":" << to_json(avoids->story->lines);
    out << "}\n";
  }
  out << "{\"states\":" << found.states << ",\"transitions\":" << found.transitions
      << ",\"depth\":" << found.depth << ",\"exhausted\":" << to_json(report.exhausted())
      << ",\"ended\":" << to_json(report.ended) << ",\"cut\":" << report.cut << ",\"left_out\":"
      << (lab::leaves_out_counter_test(options.bounds) ? R"(["counter_test"])" : "[]")
      << ",\"queue\":" << options.bounds.queue << ",\"seconds\":" << found.seconds
      << ",\"memory\":" << found.memory << ",\"protocol\":" << to_json(options.bounds.protocol)
      << ",\"nodes\":" << options.bounds.nodes << "}\n";
}

void show_story(const lab::Story& story) {
  std::size_t number = 0;
  for (const std::string& line : story.lines) {
    if (number == story.opening && number > 0) std::cout << "      here the search begins\n";
    std::cout << std::setw(4) << ++number << "  " << line << '\n';
  }
}

// What was looked at without being claimed.
void show_not_claimed(const std::vector<std::string>& looked_at, const CheckOptions& options) {
  std::vector<std::pair<std::string, std::string>> reasons;  // with the assertions
  for (const std::string& assertion : looked_at) {
    const auto why = not_claimed(assertion, options.bounds);
    if (!why) continue;
    const auto known = std::find_if(reasons.begin(), reasons.end(),
                                    [&](const auto& reason) { return reason.first == *why; });
    if (known == reasons.end())
      reasons.emplace_back(*why, assertion);
    else
      known->second += ", " + assertion;
  }
  for (const auto& [why, assertions] : reasons)
    std::cout << "not claimed in this world: " << assertions << " (" << why << ")\n";
}

void show_text(const lab::CheckReport& report, const CheckOptions& options) {
  std::ostream& out = std::cout;
  const lab::Progress& found = report.progress;
  if (const auto& counter = report.counterexample) {
    show_story(counter->story);
    out << "assertion " << counter->assertion << " is violated: " << counter->disagreement.why
        << '\n'
        << counted(counter->story.lines.size() - counter->story.opening, "step")
        << " from where the search begins; " << counter->story.counted
        << " letters, calls, expiries, failures and recoveries among them\n";
    show_not_claimed({counter->assertion}, options);
  } else {
    const std::vector<std::string> looked_at = lab::looked_at(options.bounds);
    std::string names;
    for (const std::string& name : looked_at) names += (names.empty() ? "" : ", ") + name;
    out << names << (looked_at.size() == 1 ? " holds " : " hold ")
        << how_far(report, options.bounds) << '\n';
    show_not_claimed(looked_at, options);
    if (options.bounds.protocol == ProtocolName::textbook && options.bounds.assertions.empty())
      out << "the textbook protocol claims nothing else of single worlds; --assertion 1a looks at "
             "what it does not claim\n";
  }
  if (const auto& wedged = report.wedged; wedged && wedged->worlds > 0) {
    show_story(*wedged->story);
    out << "wedged: from there, and from " << wedged->worlds - 1 << " other worlds, Assertion "
        << liveness(options) << " cannot be reached without another failure or recovery\n";
  } else if (wedged) {
    out << liveness(options) << " can be reached from every world without another failure"
        << (report.cut > 0 ? "; worlds with a successor that was cut are not judged\n" : "\n");
  } else if (options.bounds.liveness) {
    out << "whether " << liveness(options)
        << " can be reached is not answered: the search did not come to its end\n";
  }
  if (options.bounds.liveness) show_not_claimed({liveness(options)}, options);
  if (const auto& avoids = report.avoids; avoids && avoids->story) {
    show_story(*avoids->story);
    out << "avoided: the last " << avoids->round << " steps can go round for ever, fairly, among "
        << avoids->worlds << " worlds, and Assertion 2 holds in none of them\n";
  } else if (avoids) {
    out << "2 is avoided by no fair way round\n";
  }
  if (lab::leaves_out_counter_test(options.bounds))
    out << "the order of group numbers was not kept, and NewCoordinator not refused for an old one "
           "(counter-test); --counters keeps both\n";
  out << found.states << " states, " << found.transitions << " transitions, depth " << found.depth
      << ", " << std::fixed << std::setprecision(found.seconds < 10 ? 3 : 1) << found.seconds
      << " s, " << found.memory / 1000000 << " MB";
  if (found.seconds > 0)
    out << ", " << static_cast<std::uint64_t>(static_cast<double>(found.states) / found.seconds)
        << " states/s";
  out << '\n';
}

// Before the search: nobody is to learn after it that its story has no place, nor to take an older
// one for its.
Expected<> empty_journal(const std::string& path) {
  return path.empty() ? Expected<>() : write_file(path, "");
}

// The journal of what was found, where it was asked for.
Expected<> write_journal(const lab::CheckReport& report, const std::string& path) {
  const lab::Story* story = nullptr;
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

// `verify` judges what the protocol of a journal claims, and more only where it is asked.
void show_how_to_judge(const lab::CheckReport& report, const CheckOptions& options) {
  if (!report.counterexample || options.out.empty() || options.json) return;
  const std::string& assertion = report.counterexample->assertion;
  if (is_claimed_by_protocol(assertion, options.bounds)) return;
  std::cout << "judged by: muster verify --assertion " << assertion << ' '
            << shell_word(options.out) << ", and likewise muster draw\n";
}

void show_progress(const lab::Progress& now) {
  const double rate = static_cast<double>(now.states) / std::max(now.seconds, 1e-9);
  std::cerr << (now.tracing ? "\rthe way to it, depth " : "\rdepth ") << now.depth << ": "
            << now.states << " states, " << static_cast<std::uint64_t>(rate) << " a second, "
            << now.memory / 1000000 << " MB ";
}

int check(CheckOptions& options) {
  if (options.lines) return show_lines(std::cout, options.json), 0;
  if (options.sessions.wanted) {
    options.sessions.bounds.threads = options.bounds.threads;
    options.sessions.bounds.states = options.bounds.limit_states;
    options.sessions.bounds.troubles.restores = options.bounds.restores;
    return check_sessions(options.sessions, options.strikes, options.json);
  }
  if (options.assumptions) return show_assumptions(std::cout, options.json), 0;
  if (auto well = read(options); !well) return failed(well.error());
  if (auto writable = empty_journal(options.out); !writable) return failed(writable.error());
  const bool tell = isatty(STDERR_FILENO) != 0 && !options.json;
  const HugePages for_its_tables;
  const auto report = lab::check(options.bounds, [&](const lab::Progress& now) {
    if (tell) show_progress(now);
  });
  if (tell) std::cerr << '\n';
  options.json ? show_json(report, options) : show_text(report, options);
  if (auto written = write_journal(report, options.out); !written) return failed(written.error());
  show_how_to_judge(report, options);
  if (report.counterexample)
    return failed({ExitCode::does_not_hold, "assertion " + report.counterexample->assertion +
                                                " does not hold in this world"});
  if (report.wedged && report.wedged->worlds > 0)
    return failed({ExitCode::does_not_hold, "assertion " + liveness(options) +
                                                " cannot be reached from " +
                                                std::to_string(report.wedged->worlds) + " worlds"});
  if (report.avoids && report.avoids->story)
    return failed({ExitCode::does_not_hold, "assertion 2 is avoided by a fair way round of " +
                                                std::to_string(report.avoids->round) + " steps"});
  return 0;
}

/// What may happen at most so many times.
void add_faults(CLI::App& command, lab::Bounds& bounds) {
  const auto add = [&](const char* name, unsigned& most, const char* what) {
    command.add_option(name, most, std::string("At most so many ") + what)
        ->check(CLI::Range(0, 14));
  };
  add("--failed-hooks", bounds.failed_hooks, "fail, with --hooks failing");
  add("--duplicates", bounds.duplicates, "letters come twice");
  add("--losses", bounds.losses, "letters are lost");
  add("--pauses", bounds.pauses, "pauses");
  add("--leaves", bounds.leaves, "nodes leave");
  add("--differences", bounds.differences, "nodes that are down get another configuration");
  add("--restores", bounds.restores, "stores are put back to a copy; sets --counters");
}

}  // namespace

void add_check_command(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<CheckOptions>();
  lab::Bounds& bounds = options->bounds;
  bounds.threads = std::max(1u, std::thread::hardware_concurrency());
  CLI::App* command = app.add_subcommand(
      "check", "Search every interleaving of a small cluster for what does not hold");
  command->option_defaults()->always_capture_default();
  add_protocol(*command, bounds.protocol, every_protocol);
  command->add_option("--nodes", bounds.nodes, "How many nodes")->check(CLI::Range(2, 5));
  command->add_option("--failures", options->failures, "At most so many; or 'unbounded'");
  command->add_option("--timeouts", options->timeouts,
                      "certain: only of calls that cannot be answered; any; or at most N others");
  command->add_option("--ticks", options->ticks,
                      "any; or at most so many of its clocks, with --option quorum or calm");
  command->add_option("--channels", options->channels, "session, fifo, incarnation or any");
  command->add_option("--hooks", options->hooks, "prompt, slow or failing");
  add_faults(*command, bounds);
  command->add_option("--queue", bounds.queue, "Letters on their way between two nodes, at most")
      ->check(CLI::Range(1, 8));
  command->add_option(
      "--start", options->start,
      "down: nobody is up; normal: all are, in one group; or the nodes that are: 1,2");
  command->add_flag("--slow-restart", bounds.slow_restart,
                    "A life begins when nothing of the last one is under way");
  command->add_flag("--split-actions", bounds.split_actions,
                    "A node may also fail between two actions of one step");
  command->add_option("--repair", options->repairs, "NAME=on|off, a switch; repeatable");
  command->add_option(
      "--option", options->chosen,
      "NAME=VALUE, what leaves the paper (docs/options.md); repeatable: "
      "quorum=majority, preempt=never, \"preempt=after 5m\", resume=all, settle=5s, calm=1s");
  command->add_option(
      "--strike", options->strikes,
      "Take this line out; repeatable (halts-descending=parallel, =two-rounds, =rounds or "
      "=rounds-with-incarnations: that instead)");
  command->add_flag("--lines", options->lines, "List what --strike knows, and what each is for");
  command->add_flag("--assumptions", options->assumptions,
                    "Each assertion, and where it is claimed");
  add_assertions(*command, bounds.assertions, "Look only at this one; repeatable");
  command->add_option("-o,--out", options->out,
                      "Write what was found as a journal; an older file of that name is replaced, "
                      "or removed where nothing is found");
  command->add_flag("--liveness", bounds.liveness,
                    "Also: can Assertion 2 (4 of the Invitation) be reached from anywhere?");
  command->add_flag("--counters", bounds.counters, "Keep group counters, and look at group-grows");
  command->add_option("--threads", bounds.threads, "How many of them search")
      ->check(CLI::Range(1, 64));
  command->add_flag("--literal", options->literal, "The paper's text: every switch off");
  command->add_flag("--exact", options->exact, "Numbers and dead fields stay as they are");
  command->add_option("--limit-states", bounds.limit_states, "Stop after so many states; 0: never")
      ->check(is_count);
  command
      ->add_option("--limit-memory", bounds.limit_memory,
                   "Stop at so many bytes, such as 4GB; 0: never")
      ->transform(CLI::AsSizeValue(true))
      ->transform(CLI::Validator(begins_with_digit, ""));
  command->add_flag("--json", options->json, "One JSON object a line");
  add_check_sessions(*command, options->sessions);
  command->callback([options, &exit_code] { exit_code = check(*options); });
}

}  // namespace muster::apps
