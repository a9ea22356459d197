#include "apps/demo/demo.hpp"

#include "apps/base/interrupt.hpp"
#include "apps/base/text.hpp"
#include "apps/base/verdict.hpp"
#include "apps/cluster/machine.hpp"
#include "apps/demo/directory.hpp"
#include "apps/demo/narrator.hpp"
#include "apps/demo/player.hpp"
#include "apps/demo/promises.hpp"
#include "apps/journals/verify.hpp"

#include <muster/claims/assertions.hpp>
#include <muster/protocol/misfit.hpp>
#include <muster/values/json.hpp>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace muster::apps {
namespace {

using namespace std::chrono_literals;

/// Timings of a demo, whose hooks end within milliseconds. The deadlines are short, because the
/// time that a cluster has to settle grows with them.
Timings demo_timings(const DemoOptions& options) {
  Timings timings;
  timings.T = options.T.value_or(timings.T);
  timings.check_every = timings.T / 2;
  timings.coordinator_timeout = timings.check_every + timings.T;
  timings.stop_deadline = std::max<Duration>(500ms, 5 * timings.T);
  timings.start_deadline = timings.stop_deadline;
  timings.reorganize_deadline = timings.stop_deadline;
  return timings;
}

ClusterOptions cluster_options(const DemoOptions& options, const RunDirectory& directory,
                               const ReservedPorts& ports) {
  ClusterOptions made;
  made.directory = directory.path();
  made.cluster.name = "demo";
  made.cluster.protocol = options.protocol;
  if (options.random) made.cluster.hold_down = Duration::zero();  // random lives may be short
  made.cluster.timings = demo_timings(options);
  made.cluster.nodes = addresses_on(ports.ports());
  made.application = {"shards", options.records_per_second};
  return made;
}

Expected<Script> read_script(const DemoOptions& options, const Timings& timings) {
  if (options.script.empty()) return parse_script(default_script(timings), "default script");
  std::ostringstream text;
  std::ifstream in(options.script);
  if (in) text << in.rdbuf();
  if (!in || std::filesystem::is_directory(options.script))
    return Failure{ExitCode::usage,
                   "cannot read the script " + options.script + "; name an existing file"};
  return parse_script(text.str(), options.script);
}

class Demo {
 public:
  Demo(const DemoOptions& options, Cluster& cluster)
      : options_(options),
        cluster_(cluster),
        screen_(options.json ? Showing::json : showing_of_output(), Duration(monotonic_ns())),
        story_(cluster, screen_),
        player_(cluster, [this] { screen_.refresh(cluster_); }) {
    cluster.listen(&story_);
  }

  /// Starts the nodes and plays the script. Fails if the demo itself could not go on.
  Expected<> play(const Script& script);

  /// Judges the whole run. Returns a failure if a promise was broken, or if nothing could be
  /// decided.
  std::optional<Failure> judge();

 private:
  Expected<> play_random();
  Expected<> leave_in_peace();
  void promise(const Promise& promise);
  void doubt(const std::string& why);
  void verify_journals();
  void close(bool held);
  [[nodiscard]] ProtocolConfig config() const { return cluster_.options().cluster.core(NodeId{1}); }

  const DemoOptions& options_;
  Cluster& cluster_;
  Screen screen_;
  Narrator story_;
  Player player_;
  MachineGap machine_;
  std::vector<std::string> broken_;
  std::string undecided_;  ///< why the run was not judged; empty if it was
};

Expected<> Demo::play(const Script& script) {
  screen_.say(Duration(monotonic_ns()), "nodes " + format_nodes(cluster_.nodes()) + " start, T = " +
                                            format_duration(cluster_.options().cluster.timings.T) +
                                            ", in " + cluster_.options().directory.string());
  for (NodeId node : cluster_.nodes()) {
    if (const auto started = cluster_.start(node); !started) return started;
  }
  if (options_.random) return play_random();
  for (const ScriptStep& step : script) {
    if (caught_signal() != 0) return {};
    const auto played = player_.play(step);
    if (!played && played.error().code != ExitCode::does_not_hold) return played;
    if (!played) doubt(played.error().what);
  }
  return options_.script.empty() ? leave_in_peace() : Expected<>{};
}

Expected<> Demo::play_random() {
  RandomScript script(options_.seed, cluster_.nodes(), cluster_.options().cluster.timings);
  screen_.say(Duration(monotonic_ns()), "random steps of seed " + std::to_string(options_.seed));
  const Duration end = Duration(monotonic_ns()) + *options_.random;
  Script steps = parse_script("wait normal", "random start").value();
  for (bool ending = false;; steps = ending ? script.end() : script.next()) {
    for (const ScriptStep& step : steps) {
      if (caught_signal() != 0) return {};
      const auto played = player_.play(step);
      if (!played && played.error().code != ExitCode::does_not_hold) return played;
      if (!played) doubt(played.error().what);
    }
    if (ending) return leave_in_peace();
    ending = Duration(monotonic_ns()) >= end;
  }
}

/// Causes no fault for the time after which Assertion 2 or 4 has to hold again.
Expected<> Demo::leave_in_peace() {
  const Duration calm = settling_bound(config()) + 500ms;
  screen_.say(Duration(monotonic_ns()),
              "no faults for " + format_seconds(calm) + " s, after which Assertion " +
                  (claims_of(config()).of_groups ? "4" : "2") + " must hold");
  return player_.play(ScriptStep{"", "", Run{calm}});
}

void Demo::doubt(const std::string& why) {
  broken_.push_back(why);
  screen_.say(Duration(monotonic_ns()), "DOES NOT HOLD: " + why);
}

void Demo::promise(const Promise& promise) {
  const std::string checked = " (checked " + std::to_string(promise.checked) + " times)";
  const bool is_open = !promise.broken && promise.checked == 0;
  screen_.say(verdict_of(promise) + promise.what + checked +
              (promise.broken ? ": " + *promise.broken : ""));
  std::string json = "{\"promise\":" + to_json(promise.what) +
                     ",\"holds\":" + json_of_verdict(!promise.broken, !is_open) +
                     ",\"checked\":" + std::to_string(promise.checked);
  if (promise.broken) json += ",\"why\":" + to_json(*promise.broken);
  screen_.object(json + "}");
  if (promise.broken) broken_.push_back(*promise.broken);
}

void Demo::verify_journals() {
  std::ostringstream out;
  std::ostringstream err;
  const int code = verify({cluster_.journals(), options_.json}, out, err);
  std::istringstream lines(out.str());
  for (std::string line; std::getline(lines, line);) {
    if (options_.json)
      screen_.object(line);
    else
      screen_.say(line);
  }
  const std::string why = err.str().substr(0, err.str().find('\n'));
  if (code == static_cast<int>(not_decided))
    undecided_ = why;
  else if (code != 0)
    broken_.push_back(why);
}

std::optional<Failure> Demo::judge() {
  screen_.say(Duration(monotonic_ns()), "the demo is over: all nodes are told to leave");
  const bool in_order = cluster_.terminate_all();
  screen_.clear();
  Promise order{
      "processes end only when they are told to, and in order", cluster_.nodes().size(), {}};
  if (!in_order) order.broken = "a node did not leave in order; its output says why";
  if (!story_.unasked().empty()) order.broken = story_.unasked().front();
  promise(order);
  // A protocol that lets several groups work at the same time promises no more than that late
  // records are refused.
  if (!claims_of(config()).of_groups) {
    promise(one_node_a_shard(cluster_.resource(), cluster_.watch()));
    promise(groups_only_grow(cluster_.resource(), cluster_.watch()));
  }
  promise(accepted_is_stored(cluster_));
  verify_journals();
  if (options_.random && cluster_.faults() == 0)
    undecided_ = "no fault occurred: give --random more time";
  close(broken_.empty());
  if (!broken_.empty())
    return Failure{
        ExitCode::does_not_hold,
        "a check failed, see above; the nodes' journals, stores and output are kept in " +
            cluster_.options().directory.string()};
  if (!undecided_.empty()) return Failure{not_decided, undecided_};
  return std::nullopt;
}

void Demo::close(bool held) {
  std::vector<Duration> outages;
  for (const Formed& formed : cluster_.watch().formed()) {
    if (formed.without_work) outages.push_back(*formed.without_work);
  }
  std::sort(outages.begin(), outages.end());
  const Duration median = outages.empty() ? Duration{} : outages[outages.size() / 2];
  const auto groups = std::to_string(cluster_.watch().formed().size());
  const auto accepted = std::to_string(cluster_.resource().accepted().size());
  const auto refused = std::to_string(cluster_.resource().refused().size());
  const auto faults = std::to_string(cluster_.faults());
  const bool is_known = undecided_.empty() && caught_signal() == 0;
  std::string verdict = words_of_verdict(held, is_known);
  if (held && !is_known && caught_signal() == 0)
    verdict = "Nothing was violated, but nothing was decided: ";
  screen_.say(verdict + counted(cluster_.faults(), "fault") + ", " +
              counted(cluster_.watch().formed().size(), "group") + " formed, " +
              counted(cluster_.resource().accepted().size(), "record") + " accepted, " + refused +
              " refused; median " + format_ms(median) +
              " ms without work; the machine's longest gap " + format_ms(machine_.longest()) +
              " ms.");
  screen_.object("{\"held\":" + json_of_verdict(held, is_known) +
                 ",\"interrupted\":" + to_json(caught_signal() != 0) + ",\"faults\":" + faults +
                 ",\"groups\":" + groups + ",\"accepted\":" + accepted + ",\"refused\":" + refused +
                 ",\"median_without_work_ns\":" + std::to_string(median.count()) +
                 ",\"longest_gap_ns\":" + std::to_string(machine_.longest().count()) + "}");
}

}  // namespace

int demo(const DemoOptions& options) {
  if (options.nodes < 1 || options.nodes > most_nodes) {
    return failed(
        {ExitCode::usage, "--nodes " + std::to_string(options.nodes) + ": expected 1 to 64"});
  }
  const auto script = read_script(options, demo_timings(options));
  if (!script) return failed(script.error());
  const auto ports = ReservedPorts::take(options.nodes);
  if (!ports) return failed(ports.error());
  const auto directory = RunDirectory::make(options.dir, options.nodes);
  if (!directory) return failed(directory.error());
  catch_signals();
  auto cluster = Cluster::make(cluster_options(options, *directory, *ports));
  if (!cluster) {
    directory->remove();
    return failed(cluster.error());
  }
  Demo demo(options, **cluster);
  const auto played = demo.play(*script);
  const bool is_cut_short = caught_signal() != 0;
  if (!is_cut_short && !played) {
    cluster->reset();
    directory->remove();
    return failed(played.error());
  }
  const std::optional<Failure> failure = demo.judge();
  if (!failure || failure->code != ExitCode::does_not_hold) directory->remove();
  if (is_cut_short)
    return failed(
        {interrupted, "interrupted before the end of the script; " +
                          (failure ? failure->what : "everything checked until then held")});
  return failure ? failed(*failure) : 0;
}

}  // namespace muster::apps
