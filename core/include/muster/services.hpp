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

/// What a host gives to an application. The net host and the lab each have one, so that the same
/// application runs on real nodes and under the simulator.

namespace MUSTER_EXPORT muster {

using muster::operator==;

/// What an application is, in its own words, for whoever watches its node: `muster status`, and by
/// HTTP a path for each role, which load balancers ask.
struct Shown {
  static constexpr std::size_t most_roles = 16;
  static constexpr std::size_t longest_role = 32;
  static constexpr std::size_t longest_text = 1024;

  /// Whether it has each of the roles that it may have, such as {{"primary", true}, {"replica",
  /// false}}: `GET /primary` is answered with 200, `/replica` with 503. Names are of a to z, 0 to 9
  /// and '-', and none of the node's own paths.
  std::map<std::string, bool> roles;
  /// In words, such as "rewinds: 3 of 5 GB"; one line, cut to `longest_text` bytes.
  std::string text;

  /// What is wrong with a name of a role or with their number, in words.
  [[nodiscard]] std::optional<std::string> wrong() const;
};
MUSTER_DESCRIBE(Shown, roles, text);

/// The paths of a node by HTTP, which no role may be named after.
inline constexpr std::string_view own_paths[] = {"metrics", "livez",   "readyz", "coordinator",
                                                 "status",  "history", "why"};

/// An application's door to its node. Every member may be called from any thread.
class Services {
 public:
  virtual ~Services() = default;

  [[nodiscard]] virtual NodeId self() const = 0;
  [[nodiscard]] virtual const NodeSet& nodes() const = 0;

  /// Its permits, of the groups of this life.
  [[nodiscard]] virtual const Permits& permits() const = 0;

  /// Makes cells durable and then calls `durable` on the application's executor. Order is kept. An
  /// I/O error ends the process instead, and so does a key that begins with `own_cells`. A host may
  /// keep the caller waiting while a thousand others are not durable yet.
  virtual void write(CellBatch batch, std::function<void()> durable) = 0;

  /// Gives `done` all cells whose key begins with `prefix`, in the order of the keys, on the
  /// application's executor, after all writes asked for before.
  virtual void scan(std::string prefix,
                    std::function<void(std::vector<std::pair<std::string, Bytes>>)> done) = 0;

  /// Runs `work` on the application's executor, later, one at a time with the hooks.
  virtual void post(std::function<void()> work) = 0;

  /// Runs `work` there after `delay`.
  virtual void post_after(Duration delay, std::function<void()> work) = 0;

  /// Wants the group to reorganize though no node has failed, for what is held has changed; `why`
  /// stands in the journal and the history. On a coordinator it is Election(i); a member recovers,
  /// as after a pause, for its coordinator to find. Nothing comes of it where the group is being
  /// reorganized already, and has not begun to start: then let the hook fail.
  virtual void elect(std::string why) = 0;

  /// Lets the node leave in order, as `muster step-down` does, and come back after that time (a
  /// year at most), in a new life. Nothing comes of it where the node is leaving already.
  virtual void step_down(Duration back_after) = 0;

  /// Says what the application is from now on. A role that it has is shown while the node may work
  /// for the group for which it was said, and no longer: a `stop` takes all of them back, the text
  /// stays. Where `Shown::wrong` names something the process ends with that sentence (exit code
  /// 76).
  virtual void show(Shown shown) = 0;

  /// An invariant of the application's own does not hold: in one sentence, which. In the lab the
  /// seed, or the world, is violated. On a real node the node goes on, and the sentence stands in
  /// its log, in `muster status`, and in its journal, which `muster verify` then refuses. Longer
  /// than `longest_remark` bytes it is cut.
  virtual void broken(std::string what) = 0;

  /// A line of the application's own in the journal, which `muster draw` shows: what it did, such
  /// as "invoice 1-1". Cut likewise. Nothing comes of it where no journal is written.
  virtual void note(std::string what) = 0;

  static constexpr std::size_t longest_remark = 1024;
};

}  // namespace muster
