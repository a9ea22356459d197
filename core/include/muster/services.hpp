#pragma once

#include <muster/permits.hpp>
#include <muster/safe_storage.hpp>
#include <muster/values/types.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The services of a node for its application. The net host and the lab implement them alike, so
/// one application runs on real nodes and under the simulator.

namespace MUSTER_EXPORT muster {

using muster::operator==;

/// The roles and a text that an application shows to observers of its node. `muster status` shows
/// both. By HTTP, each role has a path that load balancers can query.
struct Shown {
  static constexpr std::size_t most_roles = 16;      ///< roles
  static constexpr std::size_t longest_role = 32;    ///< bytes
  static constexpr std::size_t longest_text = 1024;  ///< bytes

  /// All possible roles of the application, each with whether it has the role now. For {{"primary",
  /// true}, {"replica", false}}, the node answers `GET /primary` with 200 and `/replica` with 503.
  /// A name consists of the characters a to z, 0 to 9 and '-', and is not in `own_paths`.
  std::map<std::string, bool> roles;
  /// The state in words, such as "rewinds: 3 of 5 GB". One line, cut to `longest_text` bytes.
  std::string text;

  /// One sentence about the first role name that is not allowed, or about too many roles. None if
  /// all is well.
  [[nodiscard]] std::optional<std::string> wrong() const;
};
MUSTER_DESCRIBE(Shown, roles, text);

/// The node's own paths by HTTP. No role may have one of these names.
inline constexpr std::string_view own_paths[] = {"metrics", "livez",   "readyz", "coordinator",
                                                 "status",  "history", "why"};

/// The application's interface to its node.
///
/// @par Thread safety
/// Every member may be called from any thread.
/// @par Lifetime
/// The object lives as long as the application of one life. A thread that outlives the life must
/// keep a copy of `permits()` instead.
/// @par Errors
/// No member reports an error. An I/O error ends the process with exit code 74. A misuse, such as a
/// key of the node's own cells, ends it with a sentence that says so.
/// @par Exceptions
/// An exception that leaves a callback ends the process with exit code 76.
class Services {
 public:
  virtual ~Services() = default;

  /// The id of this node.
  [[nodiscard]] virtual NodeId self() const = 0;
  /// All nodes of the cluster, this one included.
  [[nodiscard]] virtual const NodeSet& nodes() const = 0;

  /// The source of permits for the groups of this life.
  [[nodiscard]] virtual const Permits& permits() const = 0;

  /// Makes the cells of the batch durable, then calls `durable` on the application's executor.
  /// Batches are written in the order of the calls. A key that begins with `own_cells` ends the
  /// process. The host may block the caller while a thousand earlier batches are not yet durable.
  virtual void write(CellBatch batch, std::function<void()> durable) = 0;

  /// Calls `done` with every cell with a key that begins with `prefix`, in the order of the keys,
  /// on the application's executor. All writes that were requested before are visible.
  virtual void scan(std::string prefix,
                    std::function<void(std::vector<std::pair<std::string, Bytes>>)> done) = 0;

  /// Runs `work` later on the application's executor, never beside a hook. The work is dropped if
  /// the life ends first.
  virtual void post(std::function<void()> work) = 0;

  /// Runs `work` after `delay`, on the application's executor and never beside a hook.
  virtual void post_after(Duration delay, std::function<void()> work) = 0;

  /// Makes the group reorganize although no node has failed, for example because the held state has
  /// changed. The journal and the history contain `why`. A coordinator runs Election(i). A member
  /// runs Recovery, as after a pause, and its coordinator then finds it. The call has no effect
  /// while the group reorganizes and has not begun to start; in that case let the hook fail
  /// instead.
  virtual void elect(std::string why) = 0;

  /// Makes the node leave in order, as `muster step-down` does. The node returns in a new life
  /// after `back_after`, one year at most. The call has no effect if the node is leaving already.
  virtual void step_down(Duration back_after) = 0;

  /// Publishes the roles and the text of the application from now on. A role is shown only while
  /// the node may work for the group of the call. So a `stop` ends all roles, while the text stays.
  /// If `Shown::wrong` reports a fault, the process ends with that sentence and exit code 76.
  virtual void show(Shown shown) = 0;

  /// Reports that an invariant of the application does not hold; `what` is one sentence. In the
  /// lab, the seed or the world counts as violated. A real node goes on. Its log, `muster status`
  /// and its journal contain the sentence, and for this journal `muster verify` reports a
  /// violation. A text longer than `longest_remark` bytes is cut.
  virtual void broken(std::string what) = 0;

  /// Writes a line of the application's own to the journal, such as "invoice 1-1"; `muster draw`
  /// shows it. A text longer than `longest_remark` bytes is cut. The call has no effect if the node
  /// writes no journal.
  virtual void note(std::string what) = 0;

  static constexpr std::size_t longest_remark = 1024;  ///< bytes
};

}  // namespace muster
