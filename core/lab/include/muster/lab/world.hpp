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
/// storage and the user's own application, in simulated time. No thread, no port, nothing that
/// waits: equal options and equal calls make an equal run.

namespace MUSTER_EXPORT muster {
namespace lab {

/// What becomes of one call of a hook, whatever the application does.
struct HookFate {
  bool called = true;                  ///< false: the application never hears of it
  std::optional<std::string> fails{};  ///< it fails, for this reason, whatever it says
  Duration begins_after{};             ///< the application is called so much later
  Duration late{};                     ///< its end is told so much later
};

/// A point at which a life may end: after an action, or before or after a commit to its storage.
struct CrashPoint {
  NodeId node;
  std::uint64_t point{};  ///< counts the points of this node, in all its lives, from 1
};

/// Told of each step of a node: what it asked for, and the whole state that it made. Lines of the
/// journal have a view of the state only.
using Stepped = std::function<void(NodeId, const Actions&, const Protocol&)>;

struct WorldOptions {
  std::uint32_t nodes = 5;
  /// Gives the whole run: delays, the times of commits, what is lost when a process ends.
  std::uint64_t seed = 1;
  Timings timings;
  /// The timings of one node; none: `timings` for all.
  std::function<Timings(NodeId)> timings_of;
  ProtocolName protocol = ProtocolName::bully;
  Repairs repairs;                         ///< of the Bully
  invitation::Repairs invitation_repairs;  ///< of the Invitation
  Options options;
  Struck struck;  ///< lines taken out of the protocol
  /// Makes the application of each life; none: one that holds nothing and does nothing.
  MakeApplication make_application;
  /// Delays of frames between two nodes; none at `most`: T/24. Two delays, handling and a commit
  /// are to fit into T (assumption 8).
  Duration least_delay = std::chrono::microseconds(20);
  std::optional<Duration> most_delay;
  /// How long a commit may take; none: T/24.
  std::optional<Duration> most_commit;
  /// Opens the safe storage of a node, once for each of its lives; none: cells in memory.
  std::function<std::unique_ptr<SafeStorage>(NodeId)> open_storage;
  /// A process that ended by a failure, or by itself, begins a new life after this; none: never.
  std::optional<Duration> restart_after;
  /// As hold_down of a real node. Here off where nothing is said:
  /// scenarios are dense, and their lives short.
  Duration hold_down{};
  /// A store that is younger than what others have seen of its node is adopted, as
  /// `muster node --initialise` does; otherwise that node ends with exit code 65.
  bool initialise = true;
  /// Told of each line of the journal as it is written.
  std::function<void(const journal::Line&)> watch;
  Stepped stepped;
  /// Whether lines() has them: those of a thousand nodes are many.
  bool keep_lines = true;
  /// The process of that node ends when it comes to that point; once.
  std::optional<CrashPoint> fail_at;

  // What a simulation decides anew each time.
  std::function<HookFate(NodeId, Hook)> hook_fate;
  std::function<Duration(NodeId)> commit_time;
  /// How long a thousandth of a second of a node's clock takes, in microseconds; none: 1000.
  std::function<std::uint32_t(NodeId)> clock_rate;
};

/// A hook failed, or its process ended, though nothing made it but the application: it threw, gave
/// up without a question that failed, overran, posted what throws, or was not made.
struct ApplicationFailure {
  Duration t{};
  NodeId node;
  std::string why;
  std::size_t line{};  ///< lines() had so many before it
};

/// See the file's head. All nodes begin their first life at once. No member may be called from
/// within the application. A node that is not in nodes(), or a world without nodes, is
/// std::invalid_argument.
class World final : public WorldSeen {
 public:
  World(std::uint32_t nodes, std::uint64_t seed, MakeApplication make_application = {});
  explicit World(WorldOptions options);
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World() override;

  // --- Time

  [[nodiscard]] Duration now() const override;
  void run_for(Duration duration);
  /// Runs until `reached` is true, which is asked after all that happens; false when it was not
  /// within that time.
  bool run_until(const std::function<bool()>& reached, Duration within);
  /// Runs until all nodes that are up are Normal in one group and their applications have started;
  /// false when it does not come to that within twice the bound of Assertion 2.
  bool run_until_normal();

  // --- Faults. Each does nothing, and is false, where it is not possible now.

  bool fail(NodeId node);  ///< its process ends at once, as by kill -9
  /// A node that is down begins a life, or waits first where it is held down.
  bool restart(NodeId node);
  /// Its machine stops at once and says nothing any more; only what is durable is left.
  bool power_cut(NodeId node);
  bool wipe(NodeId node);  ///< the storage of a node that is down is empty from now on
  bool copy(NodeId node);  ///< a backup of its storage is made
  /// The storage of a node that is down is from now on what its last backup has.
  bool restore(NodeId node);
  bool pause(NodeId node);  ///< its process stands still
  bool resume(NodeId node);
  bool leave(NodeId node);  ///< its owner wants it out, in order
  /// From its next life on its configuration has that text, where all begin with an empty one.
  /// Nodes with different texts refuse each other.
  void reconfigure(NodeId node, std::string text);
  bool reset(NodeId a, NodeId b);  ///< breaks the connection between them
  /// Before the next letter of the first to the second another one comes, which it has not written:
  /// somebody speaks in its name.
  bool forge(NodeId from, NodeId to, Message message);
  bool cut(NodeId node, NodeSet from);       ///< nothing passes between it and those
  bool cut_one_way(NodeId from, NodeId to);  ///< nothing passes from one to the other
  /// From their next Hello on the two refuse each other, as when neither knows the authority of the
  /// other's certificate. Nobody else refuses either. The journal calls it a cut.
  bool refuse(NodeId a, NodeId b);
  /// Whatever was cut is whole again, what was held back comes, and nodes refuse no more.
  bool heal();
  /// As the option, from now on; none: nobody fails there.
  void fail_at(std::optional<CrashPoint> point);

  // --- Looking

  [[nodiscard]] const NodeSet& nodes() const override;
  [[nodiscard]] const Config& config(NodeId node) const;
  [[nodiscard]] bool is_up(NodeId node) const override;
  [[nodiscard]] bool is_paused(NodeId node) const;
  [[nodiscard]] View view(NodeId node) const override;
  [[nodiscard]] Shown shown(NodeId node) const override;
  /// The protocol's state in its present life, or in the last.
  [[nodiscard]] const Protocol& state(NodeId node) const;
  /// What is durable of the protocol's.
  [[nodiscard]] SafeState safe(NodeId node) const;
  [[nodiscard]] std::map<std::string, Bytes> cells(NodeId node) const override;
  [[nodiscard]] Application* application(NodeId node) const override;
  [[nodiscard]] bool is_normal() const override;
  /// In their order.
  [[nodiscard]] const std::deque<ApplicationFailure>& application_failures() const;
  /// How many points of that node have been passed.
  [[nodiscard]] std::uint64_t points(NodeId node) const;
  /// How many letters of `forge` have come.
  [[nodiscard]] std::uint64_t forged() const;
  /// How many frames were read before a verdict whose process would have read them later.
  [[nodiscard]] std::uint64_t drained() const;
  /// What happened at the point of `fail_at`; empty where it was not come to.
  [[nodiscard]] const std::string& failed_at() const;

  /// A line of the journal: an invariant of the application does not hold, so verify() does not.
  void broken(std::string what);
  /// All that has happened (docs/journal.md).
  [[nodiscard]] const std::deque<journal::Line>& lines() const;
  /// Takes them out of the world, which is not to be run any more.
  std::deque<journal::Line> take_lines();
  /// The same as JSON Lines, for `muster verify`, `replay` and `draw`.
  [[nodiscard]] std::string journal() const;
  /// The journal, checked.
  [[nodiscard]] verify::Outcome verify() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Lines of one journal, checked against the assertions and the hook grammar. Those in `asked` are
/// judged in times for which they are not claimed, too.
verify::Outcome verify_lines(const std::deque<journal::Line>& lines, const std::string& name,
                             const std::function<void(const verify::NotClaimed&)>& not_claimed = {},
                             const std::vector<std::string>& asked = {});

}  // namespace lab
}  // namespace muster
