#pragma once

#include <muster/host/hook_host.hpp>
#include <muster/host/questions.hpp>

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace MUSTER_EXPORT muster {

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
    /// Of a question, and of an answer.
    std::size_t answer = 16 * 1024 * 1024;
  };

  /// `assigned` is what safe storage holds when the life begins.
  HookRunner(HookHost& host, NodeId self, Limits limits, const std::optional<Assigned>& assigned);

  /// All of it within the stop deadline, or sooner.
  void perform(const Stop& action, std::optional<Duration> within = std::nullopt);
  void perform(const Reorganize& action);
  void perform(const Start& action);

  /// The coordinator of this node's group asks. Gives the number by which the question can be given
  /// up.
  std::uint64_t asked(Inquiry inquiry, Answered answered);
  void not_wanted(std::uint64_t question) { answering_.give_up(question); }

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

  /// A hook that is to begin.
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
  void ended(Hook hook, Ticket ticket, HookHost::Outcome outcome);
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
  std::uint64_t own_question_ = 0;  ///< the last that this node asked itself
  std::optional<Next> next_;
  std::optional<Running> running_;
  std::optional<Stopping> stopping_;
  StopCause cause_;                       ///< of the last `Stop`
  std::optional<GroupNumber> group_;      ///< what was started last: what a `stop` is about
  std::optional<AssignedTask> assigned_;  ///< what this node was assigned last
};

}  // namespace muster
