#include "apps/lab/check_report.hpp"

#include "apps/base/text.hpp"
#include "apps/base/verdict.hpp"
#include "apps/lab/check_texts.hpp"

#include <muster/values/json.hpp>
#include <muster/values/text.hpp>

#include <algorithm>
#include <iomanip>
#include <iostream>

namespace muster::apps {
namespace {

// The flags that set these fields of Bounds.
std::vector<std::string> flags_of(const std::vector<std::string>& fields) {
  std::vector<std::string> flags;
  for (std::string flag : fields) {
    std::replace(flag.begin(), flag.end(), '_', '-');
    flags.push_back(flag == "wrong-timeouts" ? "--timeouts" : "--" + flag);
  }
  return flags;
}

// The number of the paper's assertion that the nodes form a group again once failures cease.
std::string liveness(const lab::Bounds& bounds) {
  return bounds.protocol == ProtocolName::invitation ? "4" : "2";
}

// Two parts of the hook grammar, P2 and P5, are claimed in every world.
bool is_claimed_in_part(const std::string& assertion, const lab::Bounds& bounds) {
  return assertion == "hook-grammar" || !not_claimed(assertion, bounds);
}

std::string claimed_json(const std::string& assertion, const lab::Bounds& bounds) {
  std::string json =
      std::string(",\"claimed\":") + (is_claimed_in_part(assertion, bounds) ? "true" : "false");
  if (const auto why = not_claimed(assertion, bounds)) json += ",\"not_claimed\":" + to_json(*why);
  return json;
}

// For an assertion that no visited world violates: "true" if it holds in all worlds, "null" if the
// search does not decide that.
const char* holds_json(const std::string& assertion, const CheckResult& result) {
  const lab::CheckReport& report = result.report;
  const bool is_decided =
      report.ended && !report.violated && is_claimed_in_part(assertion, result.bounds);
  return is_decided ? "true" : "null";
}

void show_liveness_json(const CheckResult& result) {
  const std::string assertion = liveness(result.bounds);
  const auto& wedged = result.report.wedged;
  const auto& avoids = result.report.avoids;
  const bool violated = (wedged && wedged->worlds > 0) || (avoids && avoids->story);
  const bool is_known = wedged && is_claimed_in_part(assertion, result.bounds);
  std::cout << "{\"assertion\":\"" << assertion
            << "\",\"holds\":" << json_of_verdict(!violated, is_known);
  if (wedged)
    std::cout << ",\"wedged\":" << wedged->worlds
              << ",\"exhausted\":" << to_json(result.report.exhausted());
  std::cout << claimed_json(assertion, result.bounds);
  if (wedged && wedged->story) std::cout << ",\"story\":" << to_json(wedged->story->lines);
  if (avoids && avoids->story)
    std::cout << ",\"round\":" << avoids->round << ",\"story\":" << to_json(avoids->story->lines);
  std::cout << "}\n";
}

void show_story(const lab::Trace& story) {
  std::size_t number = 0;
  for (const std::string& line : story.lines) {
    if (number == story.opening && number > 0) std::cout << "      here the search begins\n";
    std::cout << std::setw(4) << ++number << "  " << line << '\n';
  }
}

// Prints the assertions that were checked although they are not claimed in this world.
void show_not_claimed(const std::vector<std::string>& looked_at, const lab::Bounds& bounds) {
  std::vector<std::pair<std::string, std::string>> reasons;  // each with its assertions
  for (const std::string& assertion : looked_at) {
    const auto why = not_claimed(assertion, bounds);
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

void show_counterexample(const CheckResult& result) {
  const lab::Counterexample& counter = *result.report.counterexample;
  show_story(counter.story);
  std::cout << "assertion " << counter.assertion << " is violated: " << counter.disagreement.why
            << '\n'
            << counted(counter.story.lines.size() - counter.story.opening, "step")
            << " from the beginning of the search; " << counter.story.counted
            << " of them are letters, calls, expiries, failures or recoveries\n";
  show_not_claimed({counter.assertion}, result.bounds);
}

void show_worlds(const CheckResult& result) {
  const lab::CheckReport& report = result.report;
  const std::vector<std::string> looked_at = lab::looked_at(result.bounds);
  std::cout << listed(looked_at);
  if (report.violated)
    std::cout << ": one of them is violated, but the search for the path to it was interrupted\n";
  else if (!report.ended)
    std::cout << ": no violation " << how_far(report, result.bounds) << ", which proves nothing\n";
  else
    std::cout << (looked_at.size() == 1 ? " holds " : " hold ") << how_far(report, result.bounds)
              << '\n';
  show_not_claimed(looked_at, result.bounds);
  if (!result.bounds.cuts.empty() && result.bounds.assertions.empty())
    std::cout << (result.bounds.options.quorum == Quorum::majority ? "1a and 1b"
                                                                   : "1a, 1b and works-apart")
              << " are not claimed with --cut; --assertion checks them\n";
  if (result.bounds.protocol == ProtocolName::textbook && result.bounds.assertions.empty())
    std::cout << "the textbook protocol claims no other assertion about single worlds; --assertion "
                 "1a checks one that it does not claim\n";
}

void show_liveness(const CheckResult& result) {
  const lab::CheckReport& report = result.report;
  const std::string assertion = liveness(result.bounds);
  if (const auto& wedged = report.wedged; wedged && wedged->worlds > 0) {
    show_story(*wedged->story);
    std::cout << "wedged: from that world, and from " << wedged->worlds - 1
              << " other worlds, Assertion " << assertion
              << " cannot be reached without another failure or recovery\n";
  } else if (wedged) {
    std::cout << "Assertion " << assertion
              << " can be reached from every world without another failure"
              << (report.cut > 0 ? "; worlds with a successor beyond a bound are not judged\n"
                                 : "\n");
  } else {
    std::cout << "whether Assertion " << assertion
              << " can be reached is not known: the search did not end\n";
  }
  show_not_claimed({assertion}, result.bounds);
  if (const auto& avoids = report.avoids; avoids && avoids->story) {
    show_story(*avoids->story);
    std::cout << "avoided: the last " << avoids->round
              << " steps can repeat for ever in a fair cycle of " << avoids->worlds
              << " worlds, and Assertion 2 holds in none of them\n";
  } else if (avoids) {
    std::cout << "no fair cycle avoids Assertion 2\n";
  }
}

void show_figures(const CheckResult& result) {
  const lab::Progress& found = result.report.progress;
  if (lab::leaves_out_counter_test(result.bounds))
    std::cout << "this search did not keep the order of group numbers, so no "
                 "NewCoordinator was refused for an old number (counter-test); add --counters to "
                 "keep it\n";
  std::cout << found.states << " states, " << found.transitions << " transitions, depth "
            << found.depth << ", " << std::fixed << std::setprecision(found.seconds < 10 ? 3 : 1)
            << found.seconds << " s, " << found.memory / 1000000 << " MB";
  if (found.seconds > 0)
    std::cout << ", "
              << static_cast<std::uint64_t>(static_cast<double>(found.states) / found.seconds)
              << " states/s";
  std::cout << '\n';
}

// Prints how to repeat the verdict. `verify` checks only what a journal's protocol claims, unless
// it is asked for more.
void show_how_to_judge(const CheckResult& result) {
  if (!result.report.counterexample || result.out.empty()) return;
  const std::string& assertion = result.report.counterexample->assertion;
  if (is_claimed_by_protocol(assertion, result.bounds)) return;
  std::cout << "to judge the journal: muster verify --assertion " << assertion << ' '
            << shell_word(result.out) << " (muster draw takes the same option)\n";
}

std::optional<Failure> violation(const CheckResult& result) {
  const lab::CheckReport& report = result.report;
  const std::string reached = liveness(result.bounds);
  if (report.counterexample)
    return Failure{ExitCode::does_not_hold, "assertion " + report.counterexample->assertion +
                                                " does not hold in this world"};
  if (report.wedged && report.wedged->worlds > 0)
    return Failure{ExitCode::does_not_hold, "assertion " + reached + " cannot be reached from " +
                                                std::to_string(report.wedged->worlds) + " worlds"};
  if (report.avoids && report.avoids->story)
    return Failure{
        ExitCode::does_not_hold,
        "a fair cycle of " + std::to_string(report.avoids->round) + " steps avoids assertion 2"};
  return std::nullopt;
}

// A failure if the search proved nothing. Each assertion that --assertion or --liveness asked for
// has to be claimed in this world. If no flag asked, at least one that was checked has to be
// claimed.
std::optional<Failure> nothing_claimed(const CheckResult& result) {
  const lab::Bounds& bounds = result.bounds;
  std::vector<std::string> asked = bounds.assertions;
  if (bounds.liveness) asked.push_back(liveness(bounds));
  const bool all_of_them = !asked.empty();
  std::vector<std::string> unclaimed = all_of_them ? asked : lab::looked_at(bounds);
  const std::size_t claimed = std::erase_if(
      unclaimed, [&](const std::string& name) { return is_claimed_in_part(name, bounds); });
  if (all_of_them ? unclaimed.empty() : claimed > 0) return std::nullopt;
  return Failure{not_decided,
                 listed(unclaimed) +
                     ": not claimed in this world, so a search without a violation proves "
                     "nothing; muster check --assumptions lists the worlds of each claim"};
}

}  // namespace

void show_text(const CheckResult& result) {
  if (result.report.counterexample)
    show_counterexample(result);
  else
    show_worlds(result);
  if (result.bounds.liveness) show_liveness(result);
  show_figures(result);
  show_how_to_judge(result);
}

void show_json(const CheckResult& result) {
  std::ostream& out = std::cout;
  const lab::CheckReport& report = result.report;
  const lab::Bounds& bounds = result.bounds;
  const lab::Progress& found = report.progress;
  if (const auto& counter = report.counterexample) {
    out << "{\"assertion\":" << to_json(counter->assertion)
        << ",\"holds\":false,\"at\":{\"nodes\":" << to_json(counter->disagreement.nodes)
        << "},\"why\":" << to_json(counter->disagreement.why)
        << ",\"steps\":" << counter->story.lines.size() << ",\"opening\":" << counter->story.opening
        << ",\"counted\":" << counter->story.counted
        << ",\"story\":" << to_json(counter->story.lines);
    if (!result.out.empty()) out << ",\"journal\":" << to_json(result.out);
    out << claimed_json(counter->assertion, bounds) << "}\n";
  } else {
    for (const std::string& assertion : lab::looked_at(bounds))
      out << "{\"assertion\":\"" << assertion << "\",\"holds\":" << holds_json(assertion, result)
          << ",\"checked\":" << found.states << ",\"exhausted\":" << to_json(report.exhausted())
          << claimed_json(assertion, bounds) << "}\n";
  }
  if (bounds.liveness) show_liveness_json(result);
  out << "{\"states\":" << found.states << ",\"transitions\":" << found.transitions
      << ",\"depth\":" << found.depth << ",\"exhausted\":" << to_json(report.exhausted())
      << ",\"ended\":" << to_json(report.ended)
      << ",\"interrupted\":" << to_json(report.interrupted)
      << ",\"never\":" << to_json(flags_of(report.never)) << ",\"cut\":" << report.cut
      << ",\"left_out\":" << (lab::leaves_out_counter_test(bounds) ? R"(["counter_test"])" : "[]")
      << ",\"queue\":" << bounds.queue << ",\"seconds\":" << found.seconds
      << ",\"memory\":" << found.memory << ",\"protocol\":" << to_json(bounds.protocol)
      << ",\"nodes\":" << bounds.nodes << "}\n";
}

std::optional<Failure> failure_of(const CheckResult& result) {
  if (auto violated = violation(result)) return violated;
  const lab::CheckReport& report = result.report;
  const std::string states = counted(report.progress.states, "state");
  if (report.interrupted)
    return Failure{interrupted, "interrupted after " + states + ": nothing is proven"};
  if (!report.ended && !result.accept_limit)
    return Failure{not_decided, "a limit ended the search after " + states +
                                    ", so nothing is proven: raise --limit-states or "
                                    "--limit-memory, or accept that with --accept-limit"};
  if (!report.never.empty()) return never_came_about(flags_of(report.never));
  return nothing_claimed(result);
}

}  // namespace muster::apps
