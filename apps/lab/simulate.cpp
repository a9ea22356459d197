#include "apps/lab/simulate.hpp"

#include "apps/base/interrupt.hpp"
#include "apps/base/text.hpp"
#include "apps/base/verdict.hpp"
#include "apps/base/write_file.hpp"
#include "apps/command_line/part_commands.hpp"
#include "apps/command_line/protocol_option.hpp"
#include "apps/lab/application_library.hpp"
#include "apps/lab/assertion_option.hpp"
#include "apps/lab/commands.hpp"
#include "apps/lab/range_option.hpp"
#include "apps/lab/repair_option.hpp"
#include "apps/lab/seed_watch.hpp"
#include "apps/lab/simulate_summary.hpp"
#include "apps/lab/world_option.hpp"
#include "apps/muster/config/config.hpp"

#include <CLI/CLI.hpp>
#include <muster/values/json.hpp>
#include <muster/values/text.hpp>

#include <unistd.h>

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

std::optional<Trouble> trouble_named(std::string text) {
  std::replace(text.begin(), text.end(), '-', '_');
  return enumerator_named<Trouble>(text);
}

/// Time between two updates of the progress on a terminal.
constexpr std::chrono::milliseconds progress_period{200};

/// Runs all seeds of a campaign on several threads. Prints each violation at once.
class Runner {
 public:
  Runner(const SimulateOptions& options, std::ostream& out, std::ostream& err)
      : options_(options), out_(out), err_(err) {}

  Expected<lab::Campaign> run() {
    next_ = options_.first_seed;
    std::vector<std::thread> others;
    for (unsigned i = 1; i < options_.threads; ++i) others.emplace_back([this] { work(); });
    work();
    for (std::thread& thread : others) thread.join();
    clear_progress();
    if (failure_) return *failure_;
    return std::move(campaign_);
  }

 private:
  void work() {
    SeedWatch::Worker worker(watch_);
    lab::Campaign mine;
    for (std::uint64_t seed = next_++;
         options_.first_seed <= seed && seed <= options_.last_seed && caught_signal() == 0;
         seed = next_++) {
      worker.begins(seed);
      try {
        const lab::SeedRun run = lab::run_seed(options_.simulation, seed);
        mine.add(run);
        look_at(run);
        show_progress(run);
      } catch (const std::exception& error) {
        fail({ExitCode::impossible_state,
              "seed " + std::to_string(seed) + ": " + error.what() + "; again: " + repeat(seed)});
      }
      worker.has_ended();
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
    clear_progress();
    out_ << text << std::flush;
  }

  void show_progress(const lab::SeedRun& run) {
    const std::lock_guard lock(mutex_);
    ++done_;
    violating_ += run.violated() ? 1 : 0;
    const auto now = std::chrono::steady_clock::now();
    if (!options_.progress || now < shown_ + progress_period) return;
    shown_ = now;
    const std::chrono::duration<double> took = now - began_;
    err_ << "\r\033[K" << done_ << " of "
         << counted(options_.last_seed - options_.first_seed + 1, "seed") << ", " << std::fixed
         << std::setprecision(1) << static_cast<double>(done_) / took.count()
         << " a second, violated so far: " << violating_ << ' ' << std::flush;
  }

  void clear_progress() {
    if (options_.progress) err_ << "\r\033[K" << std::flush;
  }

  std::string write_journal(const lab::SeedRun& run) {
    const auto path = *options_.out / ("seed-" + std::to_string(run.seed) + ".jsonl");
    std::string text;
    for (const journal::Line& line : run.lines) journal::append_line(text, line);
    if (const auto written = write_file(path, text); !written) fail(written.error());
    return path.string();
  }

  // The command that repeats a seed is `before_seed()`, the range of the seed, `after_seed()`.
  [[nodiscard]] std::string before_seed() const {
    return "muster simulate" + options_.flags + " --seeds ";
  }
  [[nodiscard]] std::string after_seed() const {
    return " --out " + (options_.out ? shell_word(options_.out->string()) : ".");
  }
  [[nodiscard]] std::string repeat(std::uint64_t seed) const {
    const std::string number = std::to_string(seed);
    return before_seed() + number + ".." + number + after_seed();
  }

  void fail(Failure failure) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
  }

  const SimulateOptions& options_;
  std::ostream& out_;
  std::ostream& err_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::atomic<std::uint64_t> next_{};
  std::mutex mutex_;  // guards the members below
  lab::Campaign campaign_;
  std::uint64_t done_ = 0;
  std::uint64_t violating_ = 0;
  std::chrono::steady_clock::time_point shown_{};
  std::optional<Failure> failure_;
  SeedWatch watch_{before_seed(), after_seed(), options_.seed_limit};
};

std::string violating_seeds(const lab::Campaign& campaign) {
  constexpr std::size_t shown = 10;
  std::vector<std::string> seeds;
  for (std::uint64_t seed : campaign.violating) {
    if (seeds.size() == shown) break;
    seeds.push_back(std::to_string(seed));
  }
  return listed(seeds) + (campaign.violating.size() > shown ? ", ..." : "");
}

// Why the exit code is not 0.
std::optional<Failure> failure_of(const SimulateOptions& options, const lab::Campaign& campaign,
                                  const CampaignEnd& end) {
  const std::uint64_t asked = options.last_seed - options.first_seed + 1;
  if (end.interrupted)
    return Failure{interrupted, "interrupted after " + std::to_string(campaign.seeds) + " of " +
                                    counted(asked, "seed") + ": " +
                                    (campaign.violating.empty()
                                         ? "none of them violated an assertion"
                                         : "violated by seed " + violating_seeds(campaign))};
  if (!campaign.violating.empty())
    return Failure{ExitCode::does_not_hold,
                   counted(campaign.violating.size(), "seed") + " violated an assertion (" +
                       violating_seeds(campaign) +
                       "): " + (options.out ? "" : "repeat each as above, and ") +
                       "look at each journal with muster verify, replay and draw"};
  if (!end.missing.empty())
    return Failure{not_decided, name_of(end.missing.front()) +
                                    " never occurred, so nothing is known about it: run more "
                                    "seeds, or leave it out of --faults"};
  for (const auto& [assertion, its] : campaign.judged) {
    const auto& named = options.simulation.assertions;
    if (its.checked == 0 && std::find(named.begin(), named.end(), assertion) != named.end())
      return Failure{
          not_decided,
          assertion +
              " was asked for, but could never be checked: run more seeds, or other faults"};
  }
  const bool checked = std::any_of(campaign.judged.begin(), campaign.judged.end(),
                                   [](const auto& its) { return its.second.checked > 0; });
  if (!checked) return Failure{not_decided, "no assertion could be checked: run more seeds"};
  return std::nullopt;
}

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
  const auto campaign = Runner(options, out, err).run();
  if (!campaign) return failed(campaign.error(), err);
  CampaignEnd end;
  end.took = std::chrono::steady_clock::now() - begun;
  const std::uint64_t asked = options.last_seed - options.first_seed + 1;
  end.interrupted = caught_signal() != 0 && campaign->seeds < asked;
  if (options.faults_named || campaign->seeds >= seeds_of_a_campaign)
    end.missing = campaign->missing(options.simulation);
  show_summary(options, *campaign, end, out);
  if (const auto failure = failure_of(options, *campaign, end)) return failed(*failure, err);
  return 0;
}

namespace {

struct SimulateWords {
  ProtocolName protocol = ProtocolName::bully;
  std::string nodes = "3..7";
  std::string seeds = "1..1000";
  std::vector<std::string> faults;
  std::string world;
  std::vector<std::string> repairs;
  std::vector<std::string> chosen;
  std::vector<std::string> assertions;
  std::string app;
  std::string out;
  unsigned threads = 2;
  unsigned seed_limit = 60;
  bool literal = false;
  bool json = false;
};

// With --world all faults are given, so none is drawn at random. The exception are troubles that
// happen by themselves, such as slow commits: they are drawn if --faults asks for them.
void read_world(const SimulateWords& words, lab::Simulation& simulation, std::string& flags) {
  if (simulation.least_nodes != simulation.most_nodes)
    throw CLI::ValidationError("--world", "give --nodes one number, not a range");
  simulation.given = deeds_of(words.world, simulation.least_nodes);
  flags += " --world " + shell_word(words.world);
  if (words.faults.empty()) simulation.allowed.clear();
  for (Trouble trouble : simulation.allowed)
    if (!lab::happens_by_itself(trouble))
      throw CLI::ValidationError(
          "--faults", name_of(trouble) +
                          " is drawn at random, but --world lists all faults; it can be combined "
                          "only with slow or failing hooks and commits, and with clock-rate");
}

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
  simulation.assertions = words.assertions;
  for (const std::string& assertion : words.assertions)
    options.flags += " --assertion " + assertion;
  if (!words.faults.empty()) {
    options.faults_named = true;
    simulation.allowed.clear();
    std::string list;
    for (const std::string& fault : words.faults) {
      const auto trouble = trouble_named(fault);
      if (!trouble && fault != "none")
        throw CLI::ValidationError("--faults", "there is no kind of fault named " + fault);
      if (fault == "none" && words.faults.size() > 1)
        throw CLI::ValidationError("--faults", "'none' cannot be combined with faults");
      if (trouble) simulation.allowed.insert(*trouble);
      list += (list.empty() ? "" : ",") + fault;
    }
    options.flags += " --faults " + list;
  }
  if (!words.world.empty()) read_world(words, simulation, options.flags);
  if (!words.app.empty()) {
    auto make = load_application(words.app);
    if (!make) throw CLI::ValidationError(make.error().what);
    simulation.make_trial = std::move(*make);
    options.flags += " --app " + shell_word(words.app);
  }
  if (!words.out.empty()) options.out = words.out;
  options.threads = words.threads;
  options.seed_limit = std::chrono::seconds(words.seed_limit);
  options.json = words.json;
  options.progress = !words.json && ::isatty(STDERR_FILENO) == 1;
  return options;
}

std::string all_names() {
  std::string names;
  std::set<Trouble> all = lab::Simulation::all();
  all.insert({Trouble::lasting_cut, Trouble::refusal});
  for (Trouble trouble : all) names += (names.empty() ? "" : ", ") + name_of(trouble);
  return names;
}

}  // namespace

void add_simulate_command(CLI::App& app, int& exit_code) {
  const auto words = std::make_shared<SimulateWords>();
  CLI::App* command =
      app.add_subcommand(part_commands::simulate.name, part_commands::simulate.what);
  add_protocol(*command, words->protocol, every_protocol);
  command
      ->add_option("--nodes", words->nodes, "How many nodes, or a range from which each seed draws")
      ->capture_default_str();
  command->add_option("--seeds", words->seeds, "One seed, or a range; each seed is a whole run")
      ->capture_default_str();
  command
      ->add_option("--faults", words->faults,
                   "Faults from which each seed draws: 'none', or some of " + all_names())
      ->delimiter(',');
  command
      ->add_option("--world", words->world,
                   "Given faults and their times, instead of drawn ones: '1s kill 3, 2s cut 1-3, "
                   "3s start 3, 60s end' (docs/how-to/simulate.md)")
      ->check([](const std::string& world) {
        return world.empty() ? "it is empty: list faults and times, or leave --world out" : "";
      });
  command->add_flag("--literal", words->literal, "The paper's text: every switch off");
  command->add_option(
      "--repair", words->repairs,
      "NAME=on|off: one switch of docs/decisions/switches.md, or of invitation.md there");
  command->add_option("--option", words->chosen,
                      "NAME=VALUE: an option that departs from the paper "
                      "(docs/explanation/options.md), such as quorum=majority");
  add_assertions(*command, words->assertions,
                 "Check this assertion also when it is not claimed, as during a cut; repeatable");
  command->add_option("--app", words->app,
                      "Your own application: a shared library with MUSTER_APPLICATION_LIBRARY or "
                      "MUSTER_TRIAL_LIBRARY (docs/how-to/lab.md)");
  command->add_option(
      "-o,--out", words->out,
      "Directory for the journal of each seed that violates an assertion, or of a single seed");
  command->add_option("--threads", words->threads, "Number of threads that run seeds")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command
      ->add_option(
          "--seed-limit", words->seed_limit,
          "Seconds after which a running seed counts as endless (exit code 1); 0: no limit")
      ->capture_default_str();
  command->add_flag("--json", words->json, "Print one JSON object a line");
  command->callback([words, &exit_code] {
    const SimulateOptions options = options_of(*words);
    catch_signals();
    exit_code = simulate(options, std::cout, std::cerr);
  });
}

}  // namespace muster::apps
