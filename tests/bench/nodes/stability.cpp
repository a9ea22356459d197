#include "apps/base/interrupt.hpp"
#include "apps/base/text.hpp"
#include "apps/base/verdict.hpp"
#include "apps/cluster/cluster.hpp"
#include "apps/cluster/machine.hpp"
#include "apps/demo/directory.hpp"
#include "bench/nodes/bench.hpp"
#include "bench/nodes/busy_loops.hpp"

#include <iostream>

namespace muster::apps {
namespace {

using namespace std::chrono_literals;

/// The figures of one run without a fault.
struct Calm {
  std::uint64_t elections{};
  std::uint64_t paused{};
  Duration longest_gap{};
};

/// An error if the run was shorter than it should be, since a shorter run proves less.
Expected<Calm> watch_calm(Cluster& cluster, Duration time) {
  const Watch::Counts before = cluster.watch().counts();
  const MachineGap machine;
  cluster.run(time);
  if (caught_signal() != 0) return Failure{interrupted, "interrupted"};
  cluster.catch_up();
  const Watch::Counts& after = cluster.watch().counts();
  return Calm{after.elections - before.elections, after.paused - before.paused, machine.longest()};
}

void print(const StabilityOptions& options, Duration T, bool busy, std::size_t round,
           const Calm& calm) {
  if (options.json)
    std::cout << R"({"system":"muster","T_ns":)" << T.count() << R"(,"n":)" << options.nodes
              << R"(,"machine":")" << (busy ? "busy" : "idle") << R"(","round":)" << round
              << R"(,"seconds":)" << options.time / 1s << R"(,"elections":)" << calm.elections
              << R"(,"paused":)" << calm.paused << R"(,"longest_gap_ns":)"
              << calm.longest_gap.count() << "}" << std::endl;
  else
    std::cout << "T = " << format_duration(T) << ", " << (busy ? "two busy loops" : "idle")
              << ", round " << round << ", " << options.time / 1s << " s: " << calm.elections
              << " elections, " << calm.paused << " paused; the machine's longest gap "
              << format_ms(calm.longest_gap) << " ms" << std::endl;
}

/// Forms a group, first leaves the machine idle, and then runs busy loops beside the nodes. Returns
/// true if there was neither an election nor a pause.
Expected<bool> round_of(const StabilityOptions& options, Duration T, std::size_t round) {
  const auto directory = RunDirectory::make("", static_cast<unsigned>(options.nodes));
  if (!directory) return directory.error();
  auto ports = ReservedPorts::take(options.nodes);
  if (!ports) return ports.error();
  ClusterOptions cluster_options;
  cluster_options.directory = directory->path();
  cluster_options.program = program_beside("muster");
  cluster_options.cluster.name = "bench";
  cluster_options.cluster.nodes = addresses_on(ports->ports());
  cluster_options.cluster.timings.T = T;
  cluster_options.cluster.timings.check_every = T / 2;
  cluster_options.cluster.timings.coordinator_timeout = T / 2 + T;
  cluster_options.application = {"none", 20};
  auto cluster = Cluster::make(std::move(cluster_options));
  if (!cluster) return cluster.error();
  for (NodeId node : (*cluster)->nodes())
    if (const Expected<> started = (*cluster)->start(node); !started) return started.error();
  if (!(*cluster)->until([&] { return (*cluster)->normal(); }, 20s))
    return Failure{ExitCode::timed_out, "bench stability: no group formed within 20 s; see " +
                                            directory->path().string()};
  (*cluster)->run(1s);
  const Expected<Calm> idle = watch_calm(**cluster, options.time);
  if (!idle) return idle.error();
  print(options, T, false, round, *idle);
  Expected<Calm> busy = Calm{};
  {
    const BusyLoops loops;
    busy = watch_calm(**cluster, options.time);
  }
  if (!busy) return busy.error();
  print(options, T, true, round, *busy);
  (*cluster)->terminate_all();
  const bool calm = idle->elections + idle->paused + busy->elections + busy->paused == 0;
  if (calm)
    directory->remove();
  else
    std::cerr << "the journals are in " << directory->path().string()
              << "; to see each pause and its gap_ns: grep Paused "
              << (directory->path() / "n*" / "journal.jsonl").string() << std::endl;
  return calm;
}

}  // namespace

int bench_stability(const StabilityOptions& options) {
  catch_signals();
  const std::vector<Duration> all = options.T.empty() ? std::vector{Timings{}.T} : options.T;
  bool held = true;
  for (const Duration T : all) {
    bool calm = true;
    for (std::size_t round = 1; round <= options.rounds; ++round) {
      const Expected<bool> done = round_of(options, T, round);
      if (caught_signal() != 0)
        return failed({interrupted, "bench stability: interrupted; the rounds above are complete"});
      if (!done) return failed(done.error());
      calm = calm && *done;
    }
    if (!options.json)
      std::cout << "T = " << format_duration(T) << (calm ? ": stable" : ": NOT stable")
                << std::endl;
    held = held && calm;
  }
  return held ? 0 : 1;
}

}  // namespace muster::apps
