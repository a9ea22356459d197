#pragma once

#include <muster/application.hpp>
#include <muster/journal.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace muster {

/// How many permits are out, by name.
using PermitsOut = std::map<std::string, std::size_t>;

/// What a host does for the hooks of one life. What it calls back it calls on the protocol's side,
/// one thing after the other, never from within these functions, and not at all when the life is
/// over.
class HookHost {
 public:
  /// What any hook ended with: the bytes of a report or a definition, nothing after a `start`, or
  /// why it failed.
  using Outcome = boost::system::result<Bytes, std::string>;
  using Ended = std::function<void(Outcome)>;
  using Call = std::function<void(Application&, Ended)>;

  virtual ~HookHost() = default;

  /// Has the application make the call on its own executor, and gives what it ended with, once it
  /// has returned: an exception that drops the Done on its way out is reported as that exception.
  virtual void call(Hook hook, Call call, Ended ended) = 0;
  /// Asks for the stop on the application's side.
  virtual void request_stop(std::stop_source cancel) = 0;
  /// Calls `overrun` after that time, instead of what was asked for before.
  virtual void bound(Duration deadline, std::function<void()> overrun) = 0;
  virtual void unbound() = 0;
  /// What is left until then.
  [[nodiscard]] virtual Duration left() const = 0;

  /// From now on permits of this group are given.
  virtual void grant(GroupNumber group) = 0;
  /// No permit is valid from now on, and their stop is requested on the application's side;
  /// `returned` is called when the last is back. Gives the group, or none where nothing was
  /// permitted: then `returned` is not called.
  virtual std::optional<GroupNumber> revoke(std::function<void()> returned) = 0;
  [[nodiscard]] virtual PermitsOut permits_out() const = 0;

  virtual void event(Event event) = 0;  ///< Stopped, Reorganized, Started, HookFailed
  virtual void note(Hook hook, journal::Edge edge, std::optional<GroupNumber> group, Ticket ticket,
                    const Members* members) = 0;
  virtual void note(journal::PermitsEdge edge, GroupNumber group) = 0;
  /// What the hook that is called next may tell how far it is: from any thread, and even when the
  /// life is over.
  virtual std::function<void(std::string how_far)> new_listener() = 0;
  /// A hook failed in a way that only ends the process.
  virtual void fatal(const std::string& why) = 0;
};

/// Runs the application's hooks for one life, the same way on every host: one at a time, each under
/// its deadline, with permits revoked and returned around them (docs/operating.md says what comes
/// of each failure).
class HookRunner {
 public:
  struct Limits {
    Timings timings;
    /// Bytes of a report, and of a definition with all its parts; larger ones are refused, never
    /// cut.
    std::size_t report = 32 * 1024;
    std::size_t definition = 32 * 1024;
  };

  /// `assigned` is what safe storage holds when the life begins.
  HookRunner(HookHost& host, NodeId self, Limits limits, const std::optional<Assigned>& assigned);

  void perform(const Stop& action);
  void perform(const Reorganize& action);
  void perform(const Start& action);

  /// The life is over: whatever still comes is dropped.
  void abandon();

 private:
  struct Running {
    Hook hook{};
    Ticket ticket;
    std::optional<GroupNumber> group;
    std::stop_source cancel{};
    bool overran = false;
    NodeSet members{};  ///< of a `reorganize`
    std::shared_ptr<std::map<NodeId, Bytes>> parts{};
  };
  struct Stopping {
    Ticket ticket;
    bool owed = false;
    bool ceased = false;    ///< no hook runs any more, `stop` included
    bool returned = false;  ///< no permit is out any more
    std::optional<Report> report{};
  };

  [[nodiscard]] HookContext context(Duration deadline);
  void run(Running running, const Members* members, HookHost::Call call);
  void ended(Hook hook, Ticket ticket, HookHost::Outcome outcome);
  void ended_well(const Running& ran, Bytes value);
  void ended_badly(const Running& ran, const std::string& why);
  [[nodiscard]] std::optional<std::string> refused(const Running& ran, const Bytes& value) const;
  void go_on_stopping();
  void stopped_when_all_done();
  void stop_overran();
  void cancel_running();

  HookHost& host_;
  const NodeId self_;
  const Limits limits_;
  std::optional<Running> running_;
  std::optional<Stopping> stopping_;
  StopCause cause_;                       ///< of the last `Stop`
  std::optional<GroupNumber> group_;      ///< what was started last: what a `stop` is about
  std::optional<AssignedTask> assigned_;  ///< what this node was assigned last
};

}  // namespace muster
