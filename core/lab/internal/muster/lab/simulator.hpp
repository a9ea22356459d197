#pragma once

#include <muster/claims/verify.hpp>
#include <muster/lab/world.hpp>

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

/// Seeded runs with faults: a seed gives a cluster, its timings, and everything that befalls it;
/// first a time of faults, then one of peace in which it must come to a state of Assertion 2, or of
/// 4 where the protocol is the Invitation.

namespace MUSTER_EXPORT muster {
namespace lab {

using muster::operator==;
using muster::operator<<;

/// What may befall a cluster.
enum class Trouble {
  crash,             ///< a process ends, as by kill -9, and begins anew sooner or later
  crash_at_point,    ///< a process ends between two actions, or within a commit
  crash_loop,        ///< it ends again and again, soon after it has begun
  outage,            ///< all processes end at once
  power_cut,         ///< a machine stops without a word
  wipe,              ///< a machine stops, and comes back with empty storage
  pause,             ///< a process stands still for longer than T/2
  short_pause,       ///< ... for less
  partition,         ///< some nodes are cut off from all others
  partial_cut,       ///< two nodes are cut off from each other
  one_way_cut,       ///< nothing passes from one node to another
  reset,             ///< a connection breaks
  slow_hook,         ///< a hook is called late, and its end is told late
  failing_hook,      ///< `reorganize` or `start` fails
  overrunning_hook,  ///< ... or ends after its deadline
  failing_stop,      ///< `stop` fails, which ends the process
  slow_commit,       ///< a commit takes up to 2 T
  clock_rate,        ///< clocks are up to a twentieth fast or slow
  leave,             ///< a node leaves in order, and comes back
  differs,           ///< nodes begin anew with another configuration, one or one after the other
  restore,           ///< a machine stops, and comes back with an older copy of its storage
  lying_tag,         ///< a letter comes of a node, and names another one as the candidate or so
  lasting_cut,       ///< pairs of nodes hear each other no more for long, while others restart
  refusal,           ///< pairs of nodes refuse each other for long, while others restart
};
MUSTER_DESCRIBE_ENUM(Trouble, crash, crash_at_point, crash_loop, outage, power_cut, wipe, pause,
                     short_pause, partition, partial_cut, one_way_cut, reset, slow_hook,
                     failing_hook, overrunning_hook, failing_stop, slow_commit, clock_rate, leave,
                     differs, restore, lying_tag, lasting_cut, refusal)
inline constexpr std::size_t troubles = 24;

/// True of a trouble that no time is drawn for: a hook, a commit or a clock has it.
bool happens_by_itself(Trouble trouble);

/// One thing that is done to a world which is given, and not drawn.
struct Deed {
  enum class What {
    kill,
    start,
    cut,     ///< nothing passes between the two
    refuse,  ///< the two refuse each other from their next Hello on
    heal,    ///< all links are whole, and nobody refuses another
    end,     ///< of the world
  };
  Duration at{};
  What what{};
  NodeId node = {};
  NodeId other = {};  ///< of a link
};
MUSTER_DESCRIBE_ENUM(Deed::What, kill, start, cut, refuse, heal, end)

/// What is simulated.
struct Simulation {
  std::uint32_t least_nodes = 3;
  std::uint32_t most_nodes = 7;
  ProtocolName protocol = ProtocolName::bully;
  Repairs repairs;                         ///< of the Bully
  invitation::Repairs invitation_repairs;  ///< of the Invitation
  Options options;
  /// Each seed draws its own from these.
  std::set<Trouble> allowed = all();
  /// Judged in times for which they are not claimed, too.
  std::vector<std::string> assertions;
  /// Ascending by time, with an end: that is done to the world of each seed instead of what it
  /// draws. What happens by itself, such as slow hooks, may be allowed beside.
  std::vector<Deed> given;
  /// The application under test; none: one that counts in its cells, and knows what was durable.
  MakeApplication make_application;
  /// The same with a check of each world; none: `make_application`, and no check.
  MakeTrial make_trial;

  Stepped stepped;  ///< called in each world of the simulation

  /// All but those that have a time of their own, lasting_cut and refusal.
  static std::set<Trouble> all();
};

/// How often each kind of trouble came about in a run.
using TroubleCounts = std::array<std::uint64_t, troubles>;

/// What came of one seed.
struct SeedRun {
  std::uint64_t seed{};
  std::uint32_t nodes{};
  Duration simulated{};
  std::uint64_t steps{};
  std::uint64_t drained{};  ///< World::drained
  TroubleCounts counts{};
  /// With "application", where it states an invariant, and "hooks", where there is one under test.
  verify::Outcome outcome;
  std::map<std::string, verify::Unclaimed::Times> unclaimed;  ///< by assertion
  std::deque<journal::Line> lines;

  /// The first assertion that was violated; null where none was.
  [[nodiscard]] const verify::Violated* violated() const;
};

/// Runs one seed. Equal simulations and seeds make equal journals.
SeedRun run_seed(const Simulation& simulation, std::uint64_t seed);

/// Hooks of the application under test that failed by themselves.
struct FailedHooks {
  std::uint64_t count{};
  std::uint64_t seed{};  ///< the first in which one did
  std::string why;       ///< the first there, and its node
};

/// What came of many seeds.
struct Campaign {
  struct Judged {
    std::uint64_t checked{};
    std::uint64_t violated{};     ///< in so many seeds
    std::uint64_t not_checked{};  ///< in so many seeds nothing could be checked
    verify::Unclaimed::Times unclaimed;
  };
  std::uint64_t seeds{};
  std::uint64_t steps{};
  std::uint64_t drained{};
  Duration simulated{};
  TroubleCounts counts{};
  /// Seeds in which both came about; on the diagonal those in which the one did.
  std::array<TroubleCounts, troubles> pairs{};
  std::map<std::string, Judged> judged;
  std::vector<std::uint64_t> violating;  ///< seeds, ascending
  FailedHooks failed_hooks;

  void add(const SeedRun& run);
  void add(const Campaign& other);
  void add(const FailedHooks& more);
  /// In so many seeds it came about.
  [[nodiscard]] std::uint64_t seeds_with(Trouble trouble) const;
  /// The allowed kinds of trouble that never came about.
  [[nodiscard]] std::vector<Trouble> missing(const Simulation& simulation) const;
};

}  // namespace lab
}  // namespace muster
