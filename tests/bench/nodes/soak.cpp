#include "apps/base/interrupt.hpp"
#include "apps/base/text.hpp"
#include "apps/base/verdict.hpp"
#include "apps/cluster/cluster.hpp"
#include "apps/demo/directory.hpp"
#include "apps/demo/promises.hpp"
#include "apps/journals/verify.hpp"
#include "bench/nodes/bench.hpp"

#include <muster/claims/assertions.hpp>
#include <muster/net/admin.hpp>

#include <algorithm>
#include <iostream>
#include <random>
#include <sstream>

namespace muster::apps {
namespace {

using namespace std::chrono_literals;

// The hooks of the shards are quick. With deadlines as short as these, a few seconds without faults
// suffice to check Assertion 2.
constexpr Duration hook_deadline = 500ms;
constexpr Duration soak_patience = 60s;
constexpr Duration longest_calm =
    15s;  // time without faults at the end; if Assertion 2 needs more, it is not checked
constexpr unsigned faults_between_waits = 20;

struct Counted {
  std::uint64_t killed{}, started{}, paused{}, reset{};
  [[nodiscard]] std::uint64_t all() const { return killed + started + paused + reset; }
};

/// Makes the nodes of a cluster fail at random.
class Soak {
 public:
  Soak(Cluster& cluster, std::uint64_t seed) : cluster_(cluster), random_(seed) {}

  /// Makes faults until `enough` returns true. Now and then the function lets all nodes form one
  /// group again.
  Expected<> run(const std::function<bool(const Counted&)>& enough) {
    for (NodeId node : cluster_.nodes())
      if (const Expected<> started = cluster_.start(node); !started) return started;
    if (const Expected<> formed = find_together(); !formed) return formed;
    for (std::uint64_t next_wait = faults_between_waits; !enough(counted_);) {
      if (const Expected<> failed = fail_one(); !failed) return failed;
      cluster_.run(std::chrono::milliseconds(below(150)));
      if (caught_signal() != 0) return {};
      if (counted_.all() < next_wait) continue;
      next_wait += faults_between_waits;
      if (const Expected<> formed = find_together(); !formed) return formed;
    }
    for (NodeId node : cluster_.paused()) cluster_.resume(node);
    for (NodeId node : cluster_.down())
      if (const Expected<> started = cluster_.start(node); !started) return started;
    if (const Expected<> formed = find_together(); !formed) return formed;
    const ProtocolConfig config = cluster_.options().cluster.core(NodeId{1});
    cluster_.run(std::min<Duration>(settling_bound(config) + 500ms, longest_calm));
    return {};
  }

  [[nodiscard]] const Counted& counted() const { return counted_; }

  /// The kinds of fault that never took place.
  [[nodiscard]] std::vector<std::string> missing() const {
    std::vector<std::string> names;
    if (counted_.killed == 0) names.emplace_back("kill -9");
    if (counted_.started == 0) names.emplace_back("restart");
    if (counted_.paused == 0) names.emplace_back("SIGSTOP");
    if (counted_.reset == 0) names.emplace_back("broken connection");
    return names;
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  NodeId one_of(const NodeSet& nodes) {
    return *std::next(nodes.begin(), static_cast<std::ptrdiff_t>(below(nodes.size())));
  }

  Expected<> find_together() {
    if (cluster_.live().empty())
      if (const Expected<> started = cluster_.start(one_of(cluster_.down())); !started)
        return started;
    if (cluster_.until([this] { return cluster_.normal(); }, soak_patience)) return {};
    return Failure{ExitCode::does_not_hold, "bench soak: after " + std::to_string(counted_.all()) +
                                                " faults the nodes " +
                                                format_nodes(cluster_.live()) +
                                                " were not Normal in one group within 60 s; see " +
                                                cluster_.options().directory.string()};
  }

  Expected<> fail_one() {
    const NodeSet live = cluster_.live();
    const NodeSet down = cluster_.down();
    const NodeSet paused = cluster_.paused();
    if (!paused.empty() && below(2) == 0) {
      cluster_.resume(one_of(paused));
      return {};
    }
    const std::uint64_t choice = below(10);
    if (!down.empty() && (live.empty() || choice < 4)) {
      ++counted_.started;
      return cluster_.start(one_of(down));
    }
    if (live.empty()) return {};
    const NodeId node = one_of(live);
    if (choice < 7) {
      ++counted_.killed;
      cluster_.kill(node);
    } else if (choice < 8) {
      ++counted_.paused;
      cluster_.pause(node);
    } else {
      ++counted_.reset;
      cluster_.note(journal::FaultKind::reset, node);
      // If the node has only just begun, it has no admin socket yet and no connection to break. So
      // an error is ignored.
      static_cast<void>(
          net::ask_admin((cluster_.data(node) / "admin.sock").string(), 1s, "break-connections"));
    }
    return {};
  }

  Cluster& cluster_;
  std::mt19937_64 random_;
  Counted counted_;
};

ClusterOptions soaked(const SoakOptions& options, const RunDirectory& directory,
                      const ReservedPorts& ports) {
  ClusterOptions cluster;
  cluster.program = program_beside("muster");
  cluster.directory = directory.path();
  cluster.cluster.name = "soak";
  cluster.cluster.hold_down = Duration::zero();  // lives are short here
  cluster.cluster.protocol = options.protocol;
  cluster.cluster.nodes = addresses_on(ports.ports());
  cluster.cluster.timings.T = options.T;
  cluster.cluster.timings.check_every = options.T / 2;
  cluster.cluster.timings.coordinator_timeout = options.T / 2 + options.T;
  const Duration deadline = std::max(hook_deadline, options.T);  // a shorter deadline contradicts T
  cluster.cluster.timings.stop_deadline = deadline;
  cluster.cluster.timings.start_deadline = deadline;
  cluster.cluster.timings.reorganize_deadline = deadline;

  return cluster;
}

/// Prints which promises hold. Returns 0 if all hold. If a promise is broken or could not be
/// checked, returns the exit code for that.
int judge(const SoakOptions& options, Cluster& cluster) {
  bool held = true;
  std::vector<Promise> promises{accepted_is_stored(cluster)};
  // Some protocols allow several groups to work at once. These protocols promise only that writes
  // with an old group number are refused.
  if (!claims_of(cluster.options().cluster.core(NodeId{1})).of_groups) {
    promises.push_back(one_node_a_shard(cluster.resource(), cluster.watch()));
    promises.push_back(groups_only_grow(cluster.resource(), cluster.watch()));
  }
  for (const Promise& promise : promises) {
    held = held && !promise.broken;
    if (!options.json)
      std::cout << verdict_of(promise) << promise.what << " (checked " << promise.checked
                << " times)" << (promise.broken ? ": " + *promise.broken : "") << "\n";
  }
  const int verified = verify({cluster.journals(), options.json}, std::cout, std::cerr);
  return held ? verified : static_cast<int>(ExitCode::does_not_hold);
}

void close(const SoakOptions& options, const Counted& counted, const Cluster& cluster, bool held,
           bool is_decided) {
  const std::size_t accepted = cluster.resource().accepted().size();
  if (options.json)
    std::cout << R"({"system":"muster","held":)" << json_of_verdict(held, is_decided)
              << R"(,"faults":)" << counted.all() << R"(,"killed":)" << counted.killed
              << R"(,"started":)" << counted.started << R"(,"paused":)" << counted.paused
              << R"(,"reset":)" << counted.reset << R"(,"groups":)"
              << cluster.watch().formed().size() << R"(,"accepted":)" << accepted << R"(,"seed":)"
              << options.seed << "}" << std::endl;
  else
    std::cout << words_of_verdict(held, is_decided) << counted.all() << " faults ("
              << counted.killed << " kill -9, " << counted.started << " restarts, "
              << counted.paused << " SIGSTOP, " << counted.reset << " broken connections), "
              << cluster.watch().formed().size() << " groups formed, " << accepted
              << " records accepted; seed " << options.seed << std::endl;
}

}  // namespace

int bench_soak(const SoakOptions& options) {
  catch_signals();
  const auto directory = RunDirectory::make("", static_cast<unsigned>(options.nodes));
  if (!directory) return failed(directory.error());
  const auto ports = ReservedPorts::take(options.nodes);
  if (!ports) return failed(ports.error());
  auto cluster = Cluster::make(soaked(options, *directory, *ports));
  if (!cluster) return failed(cluster.error());
  Soak soak(**cluster, options.seed);
  const Duration begin(monotonic_ns());
  const Expected<> ran = soak.run([&](const Counted& counted) {
    return options.time > Duration::zero() ? Duration(monotonic_ns()) - begin >= options.time
                                           : counted.all() >= options.faults;
  });
  if (!ran) return failed(ran.error());
  const bool is_cut_short = caught_signal() != 0;
  const bool in_order = (*cluster)->terminate_all();
  const int judged = judge(options, **cluster);
  const bool held = in_order && (judged == 0 || judged == static_cast<int>(not_decided));
  const std::vector<std::string> missing = soak.missing();
  close(options, soak.counted(), **cluster, held, judged == 0 && !is_cut_short && missing.empty());
  if (!held)
    return failed({ExitCode::does_not_hold, "bench soak: a check failed; all files are kept in " +
                                                directory->path().string()});
  directory->remove();
  if (is_cut_short)
    return failed({interrupted, "bench soak: interrupted; everything checked until then held"});
  if (judged != 0) return judged;
  if (!missing.empty())
    return failed({not_decided, "bench soak: these faults never occurred: " + listed(missing) +
                                    "; run it for longer, or with another --seed"});
  return 0;
}

}  // namespace muster::apps
