#pragma once

#include <muster/claims/verify.hpp>
#include <muster/lab/world.hpp>

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

/// Seeded runs with faults. A seed determines a cluster, its timings and all its troubles. First
/// comes a time of faults, then a time of peace in which the cluster must reach a state of
/// Assertion 2, or of Assertion 4 with the Invitation.

namespace MUSTER_EXPORT muster {
namespace lab {

using muster::operator==;
using muster::operator<<;

/// The kinds of trouble that a cluster can have.
enum class Trouble {
  crash,             ///< a process ends, as by kill -9, and restarts sooner or later
  crash_at_point,    ///< a process ends between two actions, or within a commit
  crash_loop,        ///< a process ends again and again, soon after it has begun
  outage,            ///< all processes end at once
  power_cut,         ///< a machine stops, so that nothing announces its end
  wipe,              ///< a machine stops, and comes back with empty storage
  pause,             ///< a process is frozen for longer than T/2
  short_pause,       ///< a process is frozen for less than T/2
  partition,         ///< some nodes are cut off from all others
  partial_cut,       ///< two nodes are cut off from each other
  one_way_cut,       ///< nothing passes from one node to another
  reset,             ///< a connection breaks
  slow_hook,         ///< a hook is called late, and its end is reported late
  failing_hook,      ///< `reorganize` or `start` fails
  overrunning_hook,  ///< `reorganize` or `start` ends after its deadline
  failing_stop,      ///< `stop` fails, which ends the process
  slow_commit,       ///< a commit takes up to 2 T
  clock_rate,        ///< clocks are up to a twentieth fast or slow
  leave,             ///< a node leaves in order, and comes back
  differs,      ///< nodes restart with another configuration: one of them, or one after the other
  restore,      ///< a machine stops, and comes back with an older copy of its storage
  lying_tag,    ///< a forged letter arrives that names another node, for example as the candidate
  lasting_cut,  ///< pairs of nodes are cut off for long, while others restart
  refusal,      ///< pairs of nodes refuse each other for long, while others restart
};
MUSTER_DESCRIBE_ENUM(Trouble, crash, crash_at_point, crash_loop, outage, power_cut, wipe, pause,
                     short_pause, partition, partial_cut, one_way_cut, reset, slow_hook,
                     failing_hook, overrunning_hook, failing_stop, slow_commit, clock_rate, leave,
                     differs, restore, lying_tag, lasting_cut, refusal)
inline constexpr std::size_t troubles = 24;

/// True for a trouble of a hook, a commit or a clock, for which no time is drawn.
bool happens_by_itself(Trouble trouble);

/// One action on a world. The action is given in advance, and not drawn.
struct Deed {
  enum class What {
    kill,
    start,
    cut,     ///< nothing passes between the two
    refuse,  ///< from their next Hello on, the two refuse each other
    heal,    ///< all links work, and no node refuses another
    end,     ///< the end of the world's run
  };
  Duration at{};
  What what{};
  NodeId node = {};
  NodeId other = {};  ///< the other end of a link
};
MUSTER_DESCRIBE_ENUM(Deed::What, kill, start, cut, refuse, heal, end)

/// The kind of cluster that the seeds simulate.
struct Simulation {
  std::uint32_t least_nodes = 3;
  std::uint32_t most_nodes = 7;
  ProtocolName protocol = ProtocolName::bully;
  Repairs repairs;                         ///< of the Bully
  invitation::Repairs invitation_repairs;  ///< of the Invitation
  Options options;
  /// Each seed draws its troubles from these.
  std::set<Trouble> allowed = all();
  /// Assertions that are judged even at times for which they are not claimed.
  std::vector<std::string> assertions;
  /// These actions are done to the world of each seed instead of drawn ones. The actions ascend by
  /// time, and the last one is an `end`. Troubles of hooks, commits and clocks can be allowed in
  /// addition.
  std::vector<Deed> given;
  /// The application under test. If it is empty, the application is one that counts in its cells
  /// and knows which count was durable.
  MakeApplication make_application;
  /// The application with a check of each world. If it is empty, the trial is `make_application`
  /// without a check.
  MakeTrial make_trial;

  Stepped stepped;  ///< called after each step in each world of the simulation

  /// All troubles except lasting_cut and refusal, because those two take time of their own in a
  /// run.
  static std::set<Trouble> all();
};

/// How often each kind of trouble came about in a run.
using TroubleCounts = std::array<std::uint64_t, troubles>;

/// The result of one seed.
struct SeedRun {
  std::uint64_t seed{};
  std::uint32_t nodes{};
  Duration simulated{};
  std::uint64_t steps{};
  std::uint64_t drained{};  ///< World::drained
  TroubleCounts counts{};
  /// The verdicts. They contain "application" if the application states an invariant, and "hooks"
  /// if an application is under test.
  verify::Outcome outcome;
  std::map<std::string, verify::Unclaimed::Times> unclaimed;  ///< by assertion
  std::deque<journal::Line> lines;

  /// The first violated assertion, or null.
  [[nodiscard]] const verify::Violated* violated() const;
};

/// Runs one seed. Equal simulations and seeds make equal journals.
SeedRun run_seed(const Simulation& simulation, std::uint64_t seed);

/// Failures of hooks for which the application under test is at fault.
struct FailedHooks {
  std::uint64_t count{};
  std::uint64_t seed{};  ///< the first seed with such a failure
  std::string why;       ///< the first failure in that seed, and its node
};

/// The results of many seeds.
struct Campaign {
  struct Judged {
    std::uint64_t checked{};
    std::uint64_t violated{};     ///< the number of seeds
    std::uint64_t not_checked{};  ///< the number of seeds in which nothing could be checked
    verify::Unclaimed::Times unclaimed;
  };
  std::uint64_t seeds{};
  std::uint64_t steps{};
  std::uint64_t drained{};
  Duration simulated{};
  TroubleCounts counts{};
  /// The number of seeds in which both troubles came about. The diagonal has the number of seeds in
  /// which the one trouble came about.
  std::array<TroubleCounts, troubles> pairs{};
  std::map<std::string, Judged> judged;
  std::vector<std::uint64_t> violating;  ///< seeds, ascending
  FailedHooks failed_hooks;

  void add(const SeedRun& run);
  void add(const Campaign& other);
  void add(const FailedHooks& more);
  /// The number of seeds in which the trouble came about.
  [[nodiscard]] std::uint64_t seeds_with(Trouble trouble) const;
  /// The allowed kinds of trouble that never came about.
  [[nodiscard]] std::vector<Trouble> missing(const Simulation& simulation) const;
};

}  // namespace lab
}  // namespace muster
