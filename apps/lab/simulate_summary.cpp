#include "apps/lab/simulate_summary.hpp"

#include "apps/base/text.hpp"
#include "apps/base/verdict.hpp"
#include "apps/journals/verify.hpp"

#include <muster/values/json.hpp>
#include <muster/values/text.hpp>

#include <algorithm>
#include <iomanip>
#include <utility>

namespace muster::apps {
namespace {

using muster::operator<<;
using lab::Trouble;

/// Prints the figures of a campaign.
class Summary {
 public:
  Summary(const SimulateOptions& options, const lab::Campaign& campaign, const CampaignEnd& end)
      : options_(options), campaign_(campaign), end_(end) {}

  void show(std::ostream& out) const {
    if (end_.interrupted) out << "after " << how_many_seeds() << ":\n";
    for (const auto& [assertion, its] : campaign_.judged) show(out, assertion, its);
    if (const lab::FailedHooks& failed = campaign_.failed_hooks; failed.count > 0)
      out << "hooks that failed without an injected fault: " << failed.count << ", first in seed "
          << failed.seed << ": " << failed.why << '\n';
    out << "faults:" << (options_.simulation.given.empty() ? "" : " those of --world");
    const char* comma = options_.simulation.given.empty() ? " " : ", ";
    for (Trouble trouble : options_.simulation.allowed)
      out << std::exchange(comma, ", ") << name_of(trouble) << ' '
          << campaign_.counts[index(trouble)] << " in "
          << counted(campaign_.seeds_with(trouble), "seed");
    out << (options_.simulation.allowed.empty() && options_.simulation.given.empty() ? " none" : "")
        << '\n'
        << pairs() << '\n';
    out << how_many_seeds() << " of " << nodes() << " nodes, " << std::fixed << std::setprecision(0)
        << per_minute() << " a minute; " << campaign_.steps << " steps, " << campaign_.drained
        << " frames read just before a life was judged; " << std::setprecision(1) << simulated()
        << " s simulated in " << end_.took.count() << " s: " << std::setprecision(0)
        << simulated() / end_.took.count() << " times faster\n";
  }

  void show_json(std::ostream& out) const {
    for (const auto& [assertion, its] : campaign_.judged) {
      out << "{\"assertion\":\"" << assertion
          << "\",\"holds\":" << json_of_verdict(its.violated == 0, its.checked > 0 && is_decided())
          << ",\"checked\":" << its.checked << ",\"violating_seeds\":" << its.violated
          << ",\"seeds_not_checked\":" << its.not_checked
          << ",\"not_claimed_ns\":" << its.unclaimed.of_all.count()
          << ",\"not_claimed_of_some_nodes_ns\":" << its.unclaimed.of_some.count()
          << ",\"of_ns\":" << campaign_.simulated.count() << ",\"causes_ns\":{";
      const char* comma = "";
      for (const auto& [cause, time] : its.unclaimed.causes)
        out << std::exchange(comma, ",") << to_json(cause) << ':' << time.count();
      out << "}}\n";
    }
    out << "{\"seeds\":" << campaign_.seeds << ",\"seeds_asked\":" << asked()
        << ",\"interrupted\":" << to_json(end_.interrupted) << ",\"protocol\":\""
        << options_.simulation.protocol << "\",\"nodes\":[" << options_.simulation.least_nodes
        << ',' << options_.simulation.most_nodes << "],\"violating\":" << campaign_.violating.size()
        << ",\"steps\":" << campaign_.steps << ",\"drained\":" << campaign_.drained << std::fixed
        << std::setprecision(3) << ",\"seconds\":" << end_.took.count()
        << ",\"simulated_s\":" << simulated() << std::setprecision(1)
        << ",\"seeds_per_minute\":" << per_minute()
        << ",\"times_faster\":" << simulated() / end_.took.count();
    show_faults_json(out);
  }

 private:
  void show(std::ostream& out, const std::string& assertion,
            const lab::Campaign::Judged& its) const {
    const std::string unclaimed = in_words(its.unclaimed, campaign_.simulated);
    std::string verdict = is_decided() ? "holds" : "not violated";
    if (!unclaimed.empty()) verdict += " where it is claimed";
    if (its.checked == 0) verdict = "not checked";
    if (its.violated > 0) verdict = "DOES NOT HOLD";
    out << std::left << std::setw(14) << assertion << verdict;
    if (!unclaimed.empty()) out << "; " << unclaimed;
    out << "; " << counted(its.checked, "check");
    if (its.violated > 0) out << ", violated by " << counted(its.violated, "seed");
    if (its.not_checked > 0) out << ", not checked in " << counted(its.not_checked, "seed");
    out << '\n';
  }

  void show_faults_json(std::ostream& out) const {
    out << ",\"troubles\":{";
    const char* comma = "";
    for (Trouble trouble : options_.simulation.allowed)
      out << std::exchange(comma, ",") << '"' << name_of(trouble)
          << "\":" << campaign_.counts[index(trouble)];
    out << "},\"seeds_with\":{";
    comma = "";
    for (Trouble trouble : options_.simulation.allowed)
      out << std::exchange(comma, ",") << '"' << name_of(trouble)
          << "\":" << campaign_.seeds_with(trouble);
    out << "},\"never_came_about\":[";
    comma = "";
    for (Trouble trouble : end_.missing)
      out << std::exchange(comma, ",") << '"' << name_of(trouble) << '"';
    out << "],\"pairs\":[";
    comma = "";
    for_each_pair([&](Trouble a, Trouble b, std::uint64_t seeds) {
      out << std::exchange(comma, ",") << "[\"" << name_of(a) << "\",\"" << name_of(b) << "\","
          << seeds << ']';
    });
    out << "]}\n";
  }

  static std::size_t index(Trouble trouble) { return static_cast<std::size_t>(trouble); }
  /// Whether all seeds ran and every required kind of fault occurred.
  [[nodiscard]] bool is_decided() const { return !end_.interrupted && end_.missing.empty(); }
  [[nodiscard]] std::uint64_t asked() const { return options_.last_seed - options_.first_seed + 1; }
  [[nodiscard]] std::string how_many_seeds() const {
    return (end_.interrupted ? std::to_string(campaign_.seeds) + " of " : std::string()) +
           counted(end_.interrupted ? asked() : campaign_.seeds, "seed");
  }
  [[nodiscard]] double simulated() const {
    return std::chrono::duration<double>(campaign_.simulated).count();
  }
  [[nodiscard]] double per_minute() const {
    return static_cast<double>(campaign_.seeds) * 60 / end_.took.count();
  }
  [[nodiscard]] std::string nodes() const {
    const lab::Simulation& simulation = options_.simulation;
    return std::to_string(simulation.least_nodes) +
           (simulation.least_nodes == simulation.most_nodes
                ? ""
                : " to " + std::to_string(simulation.most_nodes));
  }

  template <class Visit>
  void for_each_pair(Visit visit) const {
    for (Trouble a : options_.simulation.allowed)
      for (Trouble b : options_.simulation.allowed)
        if (a < b) visit(a, b, campaign_.pairs[index(a)][index(b)]);
  }

  [[nodiscard]] std::string pairs() const {
    std::size_t all = 0;
    std::size_t seen = 0;
    std::uint64_t fewest = campaign_.seeds + 1;
    std::string rarest;
    for_each_pair([&](Trouble a, Trouble b, std::uint64_t seeds) {
      ++all;
      seen += seeds > 0 ? 1 : 0;
      if (seeds >= fewest) return;
      fewest = seeds;
      rarest = name_of(a) + " with " + name_of(b);
    });
    if (all == 0) return "pairs of faults: none";
    return "pairs of faults: " + std::to_string(seen) + " of " + std::to_string(all) +
           " occurred; the rarest, in " + counted(fewest, "seed") + ": " + rarest;
  }

  const SimulateOptions& options_;
  const lab::Campaign& campaign_;
  const CampaignEnd& end_;
};

}  // namespace

std::string name_of(Trouble trouble) {
  std::string text = to_text(trouble);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

void show_summary(const SimulateOptions& options, const lab::Campaign& campaign,
                  const CampaignEnd& end, std::ostream& out) {
  const Summary summary(options, campaign, end);
  if (options.json)
    summary.show_json(out);
  else
    summary.show(out);
  out << std::flush;
}

}  // namespace muster::apps
