#include "apps/muster/commands/simulate.hpp"

#include "apps/base/failed.hpp"
#include "apps/base/text.hpp"
#include "apps/base/write_file.hpp"
#include "apps/muster/commands/application_library.hpp"
#include "apps/muster/commands/commands.hpp"
#include "apps/muster/commands/protocol_option.hpp"
#include "apps/muster/commands/range_option.hpp"
#include "apps/muster/commands/repair_option.hpp"
#include "apps/muster/config/config.hpp"

#include <CLI/CLI.hpp>
#include <muster/values/json.hpp>
#include <muster/values/text.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iomanip>
#include <iostream>
#include <mutex>
#include <thread>

namespace muster::apps {
namespace {

using muster::operator<<;
using lab::Trouble;

std::string name(Trouble trouble) {
  std::string text = to_text(trouble);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

std::optional<Trouble> trouble_named(std::string text) {
  std::replace(text.begin(), text.end(), '-', '_');
  return enumerator_named<Trouble>(text);
}

/// All seeds of a campaign, on some threads; what is printed of each comes in the order of seeds.
class Runner {
 public:
  Runner(const SimulateOptions& options, std::ostream& out) : options_(options), out_(out) {}

  Expected<lab::Campaign> run() {
    next_ = options_.first_seed;
    std::vector<std::thread> others;
    for (unsigned i = 1; i < options_.threads; ++i) others.emplace_back([this] { work(); });
    work();
    for (std::thread& thread : others) thread.join();
    for (const auto& [seed, text] : said_) out_ << text;
    if (failure_) return *failure_;
    return std::move(campaign_);
  }

 private:
  void work() {
    lab::Campaign mine;
    for (std::uint64_t seed = next_++; options_.first_seed <= seed && seed <= options_.last_seed;
         seed = next_++) {
      try {
        const lab::SeedRun run = lab::run_seed(options_.simulation, seed);
        mine.add(run);
        look_at(run);
      } catch (const std::exception& error) {
        fail({ExitCode::impossible_state,
              "seed " + std::to_string(seed) + ": " + error.what() + "; again: " + repeat(seed)});
      }
    }
    const std::lock_guard lock(mutex_);
    campaign_.add(mine);
  }

  void look_at(const lab::SeedRun& run) {
    const verify::Violated* violated = run.violated();
    const bool single = options_.first_seed == options_.last_seed;
    if (!violated && !single) return;
    std::string journal;
    if (options_.out) journal = write_journal(run);
    if (!violated) return;
    std::string text;
    if (options_.json) {
      verify::Violated shown = *violated;
      shown.place.journal = journal;
      verify::verdict_line(text, shown);
      text.insert(1, "\"seed\":" + std::to_string(run.seed) +
                         ",\"again\":" + to_json(repeat(run.seed)) + ',');
    } else {
      text = "seed " + std::to_string(run.seed) + " (" + counted(run.nodes, "node") +
             "): " + violated->assertion + " DOES NOT HOLD: " + violated->disagreement.why +
             " (at " + format_seconds(violated->t) + " s" +
             (journal.empty() ? "" : ", " + journal + ':' + std::to_string(violated->place.line)) +
             ")\n  again: " + repeat(run.seed) + '\n';
    }
    const std::lock_guard lock(mutex_);
    said_[run.seed] = text;
  }

  std::string write_journal(const lab::SeedRun& run) {
    const auto path = *options_.out / ("seed-" + std::to_string(run.seed) + ".jsonl");
    std::string text;
    for (const journal::Line& line : run.lines) journal::append_line(text, line);
    if (const auto written = write_file(path, text); !written) fail(written.error());
    return path.string();
  }

  [[nodiscard]] std::string repeat(std::uint64_t seed) const {
    const std::string number = std::to_string(seed);
    return "muster simulate" + options_.flags + " --seeds " + number + ".." + number + " --out " +
           (options_.out ? shell_word(options_.out->string()) : ".");
  }

  void fail(Failure failure) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
  }

  const SimulateOptions& options_;
  std::ostream& out_;
  std::atomic<std::uint64_t> next_{};
  std::mutex mutex_;  // guards what follows
  lab::Campaign campaign_;
  std::map<std::uint64_t, std::string> said_;
  std::optional<Failure> failure_;
};

/// The figures of a campaign.
class Summary {
 public:
  Summary(const SimulateOptions& options, const lab::Campaign& campaign, double seconds)
      : options_(options), campaign_(campaign), seconds_(seconds) {}

  void show(std::ostream& out) const {
    for (const auto& [assertion, its] : campaign_.judged) {
      out << std::left << std::setw(14) << assertion << std::setw(14)
          << (its.violated > 0  ? "DOES NOT HOLD"
              : its.checked > 0 ? "holds"
                                : "not checked")
          << counted(its.checked, "check");
      if (its.violated > 0) out << ", violated by " << counted(its.violated, "seed");
      if (its.not_checked > 0) out << ", not checked in " << counted(its.not_checked, "seed");
      out << '\n';
    }
    out << "troubles:";
    for (Trouble trouble : options_.simulation.allowed)
      out << ' ' << name(trouble) << ' ' << campaign_.counts[index(trouble)];
    out << '\n' << pairs() << '\n';
    out << counted(campaign_.seeds, "seed") << " of " << nodes() << " nodes, " << std::fixed
        << std::setprecision(0) << per_minute() << " a minute; " << campaign_.steps << " steps, "
        << campaign_.drained << " frames read just before a verdict; " << std::setprecision(1)
        << simulated() << " s simulated in " << seconds_ << " s: " << std::setprecision(0)
        << simulated() / seconds_ << " times faster\n";
  }

  void show_json(std::ostream& out) const {
    for (const auto& [assertion, its] : campaign_.judged) {
      out << "{\"assertion\":\"" << assertion << "\",\"holds\":"
          << (its.violated > 0  ? "false"
              : its.checked > 0 ? "true"
                                : "null")
          << ",\"checked\":" << its.checked << ",\"violating_seeds\":" << its.violated
          << ",\"seeds_not_checked\":" << its.not_checked << "}\n";
    }
    out << "{\"seeds\":" << campaign_.seeds << ",\"protocol\":\"" << options_.simulation.protocol
        << "\",\"nodes\":[" << options_.simulation.least_nodes << ','
        << options_.simulation.most_nodes << "],\"violating\":" << campaign_.violating.size()
        << ",\"steps\":" << campaign_.steps << ",\"drained\":" << campaign_.drained << std::fixed
        << std::setprecision(3) << ",\"seconds\":" << seconds_ << ",\"simulated_s\":" << simulated()
        << std::setprecision(1) << ",\"seeds_per_minute\":" << per_minute()
        << ",\"times_faster\":" << simulated() / seconds_ << ",\"troubles\":{";
    const char* comma = "";
    for (Trouble trouble : options_.simulation.allowed)
      out << std::exchange(comma, ",") << '"' << name(trouble)
          << "\":" << campaign_.counts[index(trouble)];
    out << "},\"pairs\":[";
    comma = "";
    for_each_pair([&](Trouble a, Trouble b, std::uint64_t seeds) {
      out << std::exchange(comma, ",") << "[\"" << name(a) << "\",\"" << name(b) << "\"," << seeds
          << ']';
    });
    out << "]}\n";
  }

 private:
  static std::size_t index(Trouble trouble) { return static_cast<std::size_t>(trouble); }
  [[nodiscard]] double simulated() const {
    return std::chrono::duration<double>(campaign_.simulated).count();
  }
  [[nodiscard]] double per_minute() const {
    return static_cast<double>(campaign_.seeds) * 60 / seconds_;
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
      rarest = name(a) + " with " + name(b);
    });
    if (all == 0) return "pairs of troubles: none";
    return "pairs of troubles: " + std::to_string(seen) + " of " + std::to_string(all) +
           " came about; fewest, in " + counted(fewest, "seed") + ": " + rarest;
  }

  const SimulateOptions& options_;
  const lab::Campaign& campaign_;
  double seconds_;
};

}  // namespace

int simulate(const SimulateOptions& options, std::ostream& out, std::ostream& err) {
  if (options.out) {
    std::error_code error;
    std::filesystem::create_directories(*options.out, error);
    if (error)
      return failed({ExitCode::io_error,
                     "cannot make the directory " + options.out->string() + ": " + error.message()},
                    err);
  }
  const auto begun = std::chrono::steady_clock::now();
  const auto campaign = Runner(options, out).run();
  if (!campaign) return failed(campaign.error(), err);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  const Summary summary(options, *campaign, took.count());
  options.json ? summary.show_json(out) : summary.show(out);
  out << std::flush;
  if (!campaign->violating.empty())
    return failed({ExitCode::does_not_hold,
                   counted(campaign->violating.size(), "seed") + " violated an assertion, seed " +
                       std::to_string(campaign->violating.front()) +
                       " first: " + (options.out ? "" : "repeat it as above, and ") +
                       "look at its journal with muster verify, replay and draw"},
                  err);
  const auto missing = campaign->missing(options.simulation);
  if (campaign->seeds >= seeds_of_a_campaign && !missing.empty())
    return failed({ExitCode::does_not_hold, name(missing.front()) +
                                                " never came about: nothing is known of it; run "
                                                "more seeds, or allow it with --faults"},
                  err);
  return 0;
}

namespace {

struct SimulateWords {
  ProtocolName protocol = ProtocolName::bully;
  std::string nodes = "3..7";
  std::string seeds = "1..1000";
  std::vector<std::string> faults;
  std::vector<std::string> repairs;
  std::vector<std::string> chosen;
  std::string app;
  std::string out;
  unsigned threads = 2;
  bool literal = false;
  bool json = false;
};

SimulateOptions options_of(const SimulateWords& words) {
  SimulateOptions options;
  lab::Simulation& simulation = options.simulation;
  const auto [least, most] = range_of("--nodes", words.nodes);
  if (least < 2 || most > 16) throw CLI::ValidationError("--nodes", "expected 2 to 16 nodes");
  simulation.least_nodes = static_cast<std::uint32_t>(least);
  simulation.most_nodes = static_cast<std::uint32_t>(most);
  std::tie(options.first_seed, options.last_seed) = range_of("--seeds", words.seeds);
  simulation.protocol = words.protocol;
  options.flags = " --protocol " + to_text(words.protocol) + " --nodes " + words.nodes;
  if (words.literal && words.protocol == ProtocolName::textbook)
    throw CLI::ValidationError("--literal", "the textbook protocol has no switches");
  if (words.literal) {
    simulation.repairs = Repairs::none();
    simulation.invitation_repairs = invitation::Repairs::none();
    options.flags += " --literal";
  }
  for (const std::string& repair : words.repairs) {
    if (auto read = read_repair(repair, simulation); !read)
      throw CLI::ValidationError(read.error().what);
    options.flags += " --repair " + shell_word(repair);
  }
  for (const std::string& option : words.chosen) {
    if (auto read = read_option(option, words.protocol, simulation.options); !read)
      throw CLI::ValidationError(read.error().what);
    options.flags += " --option " + shell_word(option);
  }
  if (!words.faults.empty()) {
    simulation.allowed.clear();
    std::string list;
    for (const std::string& fault : words.faults) {
      const auto trouble = trouble_named(fault);
      if (!trouble && fault != "none")
        throw CLI::ValidationError("--faults", "no kind of fault is named " + fault);
      if (fault == "none" && words.faults.size() > 1)
        throw CLI::ValidationError("--faults", "none stands alone");
      if (trouble) simulation.allowed.insert(*trouble);
      list += (list.empty() ? "" : ",") + fault;
    }
    options.flags += " --faults " + list;
  }
  if (!words.app.empty()) {
    auto make = load_application(words.app);
    if (!make) throw CLI::ValidationError(make.error().what);
    simulation.make_application = std::move(*make);
    options.flags += " --app " + shell_word(words.app);
  }
  if (!words.out.empty()) options.out = words.out;
  options.threads = words.threads;
  options.json = words.json;
  return options;
}

std::string all_names() {
  std::string names;
  for (Trouble trouble : lab::Simulation::all())
    names += (names.empty() ? "" : ", ") + name(trouble);
  return names;
}

}  // namespace

void add_simulate_command(CLI::App& app, int& exit_code) {
  const auto words = std::make_shared<SimulateWords>();
  CLI::App* command = app.add_subcommand(
      "simulate", "Seeded runs with faults, in simulated time, each checked (docs/lab.md)");
  add_protocol(*command, words->protocol, every_protocol);
  command->add_option("--nodes", words->nodes, "How many, or a range of which each seed draws")
      ->capture_default_str();
  command->add_option("--seeds", words->seeds, "Which, or a range; each gives a whole run")
      ->capture_default_str();
  command
      ->add_option("--faults", words->faults,
                   "Of which faults each seed draws: 'none', or some of " + all_names())
      ->delimiter(',');
  command->add_flag("--literal", words->literal, "The paper's text without any repair");
  command->add_option(
      "--repair", words->repairs,
      "NAME=on|off: one switch of docs/decisions/switches.md, or of invitation.md there");
  command->add_option("--option", words->chosen,
                      "NAME=VALUE: what leaves the paper (docs/options.md), such as "
                      "quorum=majority");
  command->add_option("--app", words->app,
                      "Your own application: a shared library with MUSTER_APPLICATION_LIBRARY "
                      "(docs/lab.md)");
  command->add_option("-o,--out", words->out,
                      "Where the journal of each seed that violates an assertion is left, or of a "
                      "single seed");
  command->add_option("--threads", words->threads, "How many of them run seeds")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command->add_flag("--json", words->json, "One JSON object a line");
  command->callback(
      [words, &exit_code] { exit_code = simulate(options_of(*words), std::cout, std::cerr); });
}

}  // namespace muster::apps
