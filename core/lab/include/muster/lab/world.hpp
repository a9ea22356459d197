#pragma once

#include <muster/application.hpp>
#include <muster/claims/verdict.hpp>
#include <muster/journal/line.hpp>
#include <muster/lab/trial.hpp>
#include <muster/protocol/protocol.hpp>
#include <muster/safe_storage.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// A whole cluster in one value: nodes that run the `step` that ships, their network, their safe
/// storage and the user's own application, in simulated time. A world has no thread and no port,
/// and it never waits. Equal options and equal calls make an equal run.

namespace MUSTER_EXPORT muster {
namespace lab {

/// The fate of one call of a hook, whatever the application does.
struct HookFate {
  bool called = true;                  ///< false: the host does not call the application
  std::optional<std::string> fails{};  ///< the hook fails for this reason, whatever its result
  Duration begins_after{};             ///< extra delay before the application is called
  Duration late{};                     ///< extra delay before the hook's end is reported
};

/// A point at which a life may end: after an action of the protocol, or before or after a commit to
/// the node's storage.
struct CrashPoint {
  NodeId node;
  std::uint64_t point{};  ///< the number of this point in all lives of this node; the first is 1
};

/// Called after each step of a node, with the actions of the step and the whole state after it. The
/// lines of the journal contain only a view of the state.
using Stepped = std::function<void(NodeId, const Actions&, const Protocol&)>;

/// The options of a World. Every field has a default that works.
struct WorldOptions {
  std::uint32_t nodes = 5;
  /// Determines the whole run: delays, times of commits, and the frames that are lost when a
  /// process ends.
  std::uint64_t seed = 1;
  Timings timings;
  /// The timings of one node. Empty: `timings` for all nodes.
  std::function<Timings(NodeId)> timings_of;
  ProtocolName protocol = ProtocolName::bully;
  Repairs repairs;                         ///< of the Bully
  invitation::Repairs invitation_repairs;  ///< of the Invitation
  Options options;
  Struck struck;  ///< lines of the protocol that are struck, for experiments
  /// Makes the application of each life. Empty: an application that holds nothing and does nothing.
  MakeApplication make_application;
  /// Delay of each frame between two nodes. If `most_delay` is not set, it is T/24. T must have
  /// room for two delays, the handling and a commit (assumption 8).
  Duration least_delay = std::chrono::microseconds(20);
  std::optional<Duration> most_delay;
  /// The longest time of a commit. None: T/24.
  std::optional<Duration> most_commit;
  /// Opens the safe storage of a node, once for each of its lives. Empty: cells in memory.
  std::function<std::unique_ptr<SafeStorage>(NodeId)> open_storage;
  /// The time after which a process that failed, or ended by itself, begins a new life. None:
  /// never.
  std::optional<Duration> restart_after;
  /// The option hold_down of a real node. In a world hold_down is off by default, because the lives
  /// of a scenario are often short.
  Duration hold_down{};
  /// True: a node begins a life from its store even if peers have seen later lives of it than the
  /// store contains, as by `muster node --initialise`. False: the process of such a node ends with
  /// exit code 65.
  bool initialise = true;
  /// Called with each line of the journal when it is written.
  std::function<void(const journal::Line&)> watch;
  Stepped stepped;
  /// If false, lines() stays empty: the lines of a thousand nodes take much memory.
  bool keep_lines = true;
  /// The process of the named node ends when it reaches the named point. This happens once.
  std::optional<CrashPoint> fail_at;

  // The functions below are called again for each hook, commit or life.
  std::function<HookFate(NodeId, Hook)> hook_fate;
  std::function<Duration(NodeId)> commit_time;
  /// The length of a millisecond of a node's clock, in microseconds. Empty: 1000.
  std::function<std::uint32_t(NodeId)> clock_rate;
};

/// A hook failed, or the process ended, and only the application is at fault. The application
/// threw, failed although all its questions were answered, overran its deadline, posted work that
/// threw, or could not be made.
struct ApplicationFailure {
  Duration t{};
  NodeId node;
  std::string why;
  std::size_t line{};  ///< the number of lines in lines() before the failure
};

/// A cluster in simulated time. The constructor begins the first life of every node. Time passes
/// only in run_for(), run_until() and run_until_normal(); they call the application and the
/// callbacks of the options on the calling thread.
///
/// @par Lifetime
/// The applications of a world are destroyed with it at the latest. References and pointers that it
/// returns are valid until the world runs again, those from lines() until the world is destroyed.
/// @par Thread safety
/// A world is used by one thread at a time. Distinct worlds may run on distinct threads, if the
/// applications share nothing. An application and its callbacks must not call the world.
/// @par Errors
/// A node that is not in nodes(), or a world without nodes, throws std::invalid_argument. A fault
/// that is not possible now does nothing and returns false. Exceptions of the application are
/// failures of its hooks, and are listed in application_failures().
/// @par Example
///     lab::World world{5, 1, make_application};  // five nodes, and the seed of the run
///     assert(world.run_until_normal());
///     world.fail(NodeId{5});
///     assert(world.run_until_normal());
///     assert(world.view(NodeId{1}).coordinator == NodeId{4});
///     assert(world.verify().holds());
class World final : public WorldSeen {
 public:
  /// A world with default options, except for these.
  World(std::uint32_t nodes, std::uint64_t seed, MakeApplication make_application = {});
  explicit World(WorldOptions options);
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World() override;

  // --- Time

  /// The simulated time since the world began.
  [[nodiscard]] Duration now() const override;
  /// Runs for this length of simulated time.
  void run_for(Duration duration);
  /// Runs until `reached` returns true. The world asks `reached` after every event. Returns false
  /// if `reached` has not returned true when the time `within` is over.
  bool run_until(const std::function<bool()>& reached, Duration within);
  /// Runs until all nodes that are up are Normal in one group and their applications have started.
  /// Returns false if this takes longer than twice the bound of Assertion 2.
  bool run_until_normal();

  // --- Faults. Each fault returns false, and does nothing, if it is not possible now.

  bool fail(NodeId node);  ///< ends the node's process at once, as by kill -9
  /// Begins a life of a node that is down. If hold_down applies, the life begins after the wait of
  /// hold_down.
  bool restart(NodeId node);
  /// Stops the node's machine at once, so that nothing announces its end. Only the durable data of
  /// the node is left.
  bool power_cut(NodeId node);
  bool wipe(NodeId node);  ///< empties the storage of a node that is down
  bool copy(NodeId node);  ///< makes a backup of the node's storage
  /// Replaces the storage of a node that is down by its last backup.
  bool restore(NodeId node);
  bool pause(NodeId node);  ///< the process is frozen
  /// Ends the pause. The process then finds everything that has arrived during the pause.
  bool resume(NodeId node);
  bool leave(NodeId node);  ///< the node's owner asks it to leave in order
  /// Sets the configuration text of the node, from its next life on. All nodes begin with an empty
  /// text. Nodes with different texts refuse each other.
  void reconfigure(NodeId node, std::string text);
  bool reset(NodeId a, NodeId b);  ///< breaks the connection between the two nodes
  /// Inserts a forged letter, which `from` has not written, before the next letter from `from` to
  /// `to`.
  bool forge(NodeId from, NodeId to, Message message);
  bool cut(NodeId node, NodeSet from);  ///< nothing passes between the node and those in `from`
  bool cut_one_way(NodeId from, NodeId to);  ///< nothing passes from the first to the second
  /// From their next Hello on the two nodes refuse each other, as if neither knew the authority of
  /// the other's certificate. No other node refuses either of them. The journal records a cut.
  bool refuse(NodeId a, NodeId b);
  /// Ends all cuts and refusals. The frames that were held back then arrive.
  bool heal();
  /// Sets WorldOptions::fail_at from now on. With none, no node fails.
  void fail_at(std::optional<CrashPoint> point);

  // --- Observers

  [[nodiscard]] const NodeSet& nodes() const override;
  [[nodiscard]] const Config& config(NodeId node) const;
  [[nodiscard]] bool is_up(NodeId node) const override;
  [[nodiscard]] bool is_paused(NodeId node) const;
  [[nodiscard]] View view(NodeId node) const override;
  [[nodiscard]] Shown shown(NodeId node) const override;
  /// The protocol's state of the present life, or of the last one.
  [[nodiscard]] const Protocol& state(NodeId node) const;
  /// The part of the protocol's state that is durable.
  [[nodiscard]] SafeState safe(NodeId node) const;
  [[nodiscard]] std::map<std::string, Bytes> cells(NodeId node) const override;
  [[nodiscard]] Application* application(NodeId node) const override;
  [[nodiscard]] bool is_normal() const override;
  /// The failures of the application, in the order in which they happened.
  [[nodiscard]] const std::deque<ApplicationFailure>& application_failures() const;
  /// The number of points that the node has passed in all its lives.
  [[nodiscard]] std::uint64_t points(NodeId node) const;
  /// The number of forged letters that have arrived.
  [[nodiscard]] std::uint64_t forged() const;
  /// The number of frames that a process read early, because all arrived frames must be read before
  /// a verdict (muster/host/sessions.hpp).
  [[nodiscard]] std::uint64_t drained() const;
  /// The event or action at the point of `fail_at`. Empty if no life reached that point.
  [[nodiscard]] const std::string& failed_at() const;

  /// Adds the line to the journal that an invariant of the application does not hold. From then on
  /// verify() does not hold either.
  void broken(std::string what);
  /// The journal: everything that has happened (docs/reference/journal.md).
  [[nodiscard]] const std::deque<journal::Line>& lines() const;
  /// Moves the lines out of the world. The world must not run after that.
  std::deque<journal::Line> take_lines();
  /// The journal as JSON Lines, for `muster verify`, `replay` and `draw`.
  [[nodiscard]] std::string journal() const;
  /// Checks the journal against the assertions.
  [[nodiscard]] verify::Outcome verify() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Checks the lines of one journal against the assertions and the hook grammar. `asked` are
/// assertions that are judged even at times for which they are not claimed. `not_claimed` is called
/// with each time for which an assertion is not claimed.
verify::Outcome verify_lines(const std::deque<journal::Line>& lines, const std::string& name,
                             const std::function<void(const verify::NotClaimed&)>& not_claimed = {},
                             const std::vector<std::string>& asked = {});

}  // namespace lab
}  // namespace muster
