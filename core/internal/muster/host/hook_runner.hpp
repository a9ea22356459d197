#pragma once

#include <muster/host/hook_host.hpp>
#include <muster/host/questions.hpp>

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace MUSTER_EXPORT muster {

/// Runs the application's hooks for one life, in the same way on every host: one at a time, each
/// within its deadline. The runner revokes the permits before a stop, and the stop is over only
/// when all permits were returned. docs/reference/failures.md lists the consequence of each
/// failure.
///
/// @par Thread safety
/// None: it is used on the protocol's side only.
class HookRunner {
 public:
  struct Limits {
    Timings timings;
    /// The size of a report in bytes, and of a definition with all its parts. A larger report or
    /// definition is refused, never cut.
    std::size_t report = 32 * 1024;
    std::size_t definition = 32 * 1024;
    /// The size of a question, and of an answer, in bytes.
    std::size_t answer = 16 * 1024 * 1024;
  };

  /// `assigned` is the assignment in safe storage when the life begins. `host` must outlive the
  /// runner.
  HookRunner(HookHost& host, NodeId self, Limits limits, const std::optional<Assigned>& assigned);

  /// Stops the application. The whole stop must be over within the stop deadline, or within
  /// `within` if that is shorter.
  void perform(const Stop& action, std::optional<Duration> within = std::nullopt);
  void perform(const Reorganize& action);
  void perform(const Start& action);

  /// The coordinator of this node's group asks a question. Returns a number for `not_wanted`.
  std::uint64_t asked(Inquiry inquiry, Answered answered);
  void not_wanted(std::uint64_t question) { answering_.give_up(question); }

  /// The life is over: the runner drops every result and question that still arrives.
  void abandon();

 private:
  struct Running {
    Hook hook{};
    Ticket ticket;
    std::optional<GroupNumber> group;
    std::stop_source cancel{};
    bool overran = false;
    NodeSet members{};  ///< for a `reorganize`
    std::shared_ptr<std::map<NodeId, Bytes>> parts{};
  };
  struct Stopping {
    Ticket ticket;
    bool owed = false;
    bool ceased = false;    ///< no hook runs any more, not even `stop`
    bool returned = false;  ///< every permit was returned
    std::optional<Report> report{};
  };

  /// A hook that is about to begin.
  struct Next {
    Running running;
    std::optional<Members> members;
    HookHost::Call call;
  };

  [[nodiscard]] HookContext context(Duration deadline);
  [[nodiscard]] Questioner questioner(GroupNumber group, bool working, NodeSet members);
  void run(Running running, std::optional<Members> members, HookHost::Call call);
  void run_next();
  void end_asking();
  void answered_all();
  void on_hook_ended(Hook hook, Ticket ticket, HookHost::Outcome outcome);
  void ended_well(const Running& ran, Bytes value);
  void ended_badly(const Running& ran, const std::string& why);
  [[nodiscard]] std::optional<std::string> refused(const Running& ran, const Bytes& value) const;
  void go_on_stopping();
  void stopped_when_all_done();
  void overran();
  void stop_overran();
  void cancel_running();

  HookHost& host_;
  const NodeId self_;
  const Limits limits_;
  Asking asking_;
  Answering answering_;
  std::uint64_t own_question_ = 0;  ///< the last question that this node asked itself
  std::optional<Next> next_;
  std::optional<Running> running_;
  std::optional<Stopping> stopping_;
  StopCause cause_;                       ///< of the last `Stop`
  std::optional<GroupNumber> group_;      ///< the group of the last `start`, which a `stop` ends
  std::optional<AssignedTask> assigned_;  ///< the last assignment of this node
};

}  // namespace muster
