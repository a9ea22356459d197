#pragma once

#include <muster/services.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>

namespace MUSTER_EXPORT muster {

/// The completion of a hook: a handle with which the application reports the hook's result or its
/// failure.
///
/// @par Lifetime
/// The handle may outlive the hook's call, so a hook may complete it later. Only the first
/// completion has an effect; further calls do nothing. A handle that is destroyed before it was
/// completed fails the hook. A handle can be moved, not copied. A handle may also outlive the life
/// of the node; a result that comes then is dropped.
/// @par Thread safety
/// One handle is used by one thread at a time, which may be any thread.
template <class Value = std::monostate>
class Done {
 public:
  /// The hook's result, or one sentence that says why there is none.
  using Outcome = boost::system::result<Value, std::string>;

  /// Made by the host, or by an adapter that converts a result. `complete` is called at most once.
  explicit Done(std::function<void(Outcome)> complete) : complete_(std::move(complete)) {}
  Done(Done&& other) noexcept : complete_(std::exchange(other.complete_, nullptr)) {}
  Done& operator=(Done&& other) noexcept {
    if (this != &other) {
      drop();
      complete_ = std::exchange(other.complete_, nullptr);
    }
    return *this;
  }
  ~Done() { drop(); }

  /// Completes the hook: it succeeded with `value`.
  void operator()(Value value = {}) {
    finish(Outcome(boost::system::in_place_value, std::move(value)));
  }

  /// Completes the hook: it failed. `why` is one sentence for the log.
  void fail(std::string why) { finish(Outcome(boost::system::in_place_error, std::move(why))); }

 private:
  void finish(Outcome outcome) {
    if (auto complete = std::exchange(complete_, nullptr)) complete(std::move(outcome));
  }
  void drop() noexcept {
    if (complete_) fail("the hook dropped its Done without completing it");
  }
  std::function<void(Outcome)> complete_;
};

/// The task S(i).d, in the form in which letters and safe storage contain it. It says "who does
/// what", as the paper puts it.
struct Task {
  NodeSet members;                ///< all members of the group, the coordinator included
  Definition definition;          ///< the same for every member
  std::map<NodeId, Bytes> parts;  ///< additional bytes for single members; most members have none
};
MUSTER_DESCRIBE(Task, members, definition, parts);

/// The last assignment of a node: its group and the task of that group.
struct AssignedTask {
  GroupNumber group;
  Task task;
  Digest digest;  ///< of the encoded task; equal to Holdings::definition
};
MUSTER_DESCRIBE(AssignedTask, group, task, digest);

/// The information that every hook gets. A context is a value: an application may copy it, and may
/// keep it after the hook has returned.
///
/// @par Thread safety
/// Distinct copies may be used by distinct threads. `stop_requested` and `progress` may be called
/// from any thread at any time.
struct HookContext {
  /// Why this node's application was last stopped. For a `stop` hook: why the application must stop
  /// now.
  StopCause cause{};
  /// The last assignment of this node. This assignment can be from an earlier life, because safe
  /// storage contains it. The former coordinator is `previous->group.coordinator`. None if the node
  /// never had an assignment.
  std::optional<AssignedTask> previous{};
  /// How long the hook may take, counted from its call. For a `stop`: the part of stop_deadline
  /// that is left.
  Duration deadline{};
  /// A stop is requested through this token when the hook should end early. Reasons are a Halt, a
  /// result that is no longer needed, and a deadline that has passed.
  std::stop_token cancelled{};
  /// Receives the texts given to `progress`. Empty if nothing listens.
  std::function<void(std::string)> listener{};

  /// True once the hook should end early; see `cancelled`.
  [[nodiscard]] bool stop_requested() const { return cancelled.stop_requested(); }

  /// Reports how far the hook is, such as "3/7 merged". `muster status` shows the text.
  void progress(std::string how_far) const {
    if (listener) listener(std::move(how_far));
  }

  /// The nodes of the previous group that are not in `members`. Empty if there was no previous
  /// group.
  [[nodiscard]] NodeSet lost(const NodeSet& members) const;
  /// The nodes in `members` that were not in the previous group.
  [[nodiscard]] NodeSet came_back(const NodeSet& members) const;
};

/// The information for a `stop` hook.
struct StopContext : HookContext {
  std::optional<GroupNumber>
      group;  ///< the group that the application worked for; none when a life begins
};

/// Receives the answer to a question, or one sentence that says why there is no answer.
using Answered = std::function<void(Done<Bytes>::Outcome)>;
/// Sends a question to a member and calls `answered` with the outcome.
using Questioner = std::function<void(NodeId member, Bytes question, Answered answered)>;

/// The context of a hook that may ask the members questions. Only the coordinator gets answers.
struct AskingContext : HookContext {
  /// Sends a question to a member; the member's `Application::answer` computes the answer. Use it
  /// for data that is too large for a report, or to give every member information before they
  /// start.
  ///
  /// `answered` is called exactly once, on the application's executor, with the answer or with a
  /// failure. A question fails if the member's hook fails, if the question or its answer is too
  /// large, if the member is gone, or if its group has ended. When the life of this node ends
  /// first, `answered` is not called at all.
  ///
  /// Each member works on one question at a time, and up to 63 more wait for it. No letter of the
  /// protocol waits for a question.
  ///
  /// @par Thread safety
  /// May be called from any thread. `Reorganization` and `Assignment` say until when questions may
  /// be asked.
  void ask(NodeId member, Bytes question, Answered answered) const;

  /// Sends the questions; set by the host. Empty on a member, where every question fails at once.
  Questioner questioner{};
};

/// The information for a `reorganize` hook: the holdings of every node in S(i).Up. Every member has
/// stopped. The hook may ask questions until it has ended or is cancelled; the members answer from
/// their holdings.
struct Reorganization : AskingContext {
  GroupNumber group;
  Members members;  ///< in ascending order of their ids, the coordinator included

  /// The ids of the members.
  [[nodiscard]] NodeSet nodes() const;
  /// The nodes of this node's previous group that are not members now.
  [[nodiscard]] NodeSet lost() const { return HookContext::lost(nodes()); }
  /// The members that were not in this node's previous group.
  [[nodiscard]] NodeSet came_back() const { return HookContext::came_back(nodes()); }

  /// The member with the highest group number in its last assignment. If several members have that
  /// number, the one with the highest id. Null if no member ever had an assignment. The pointer is
  /// valid as long as `members`.
  ///
  /// @par Note
  /// This member need not have the newest state. A node that formed a group alone gets a higher
  /// group number than the others, even if it changed no data. To find the newest state, compare
  /// versions in the reports, or require a majority (docs/architecture.md, "Whose state is the
  /// newest").
  [[nodiscard]] const Member* last_assigned() const;

  /// The former name of `last_assigned`.
  [[nodiscard]] [[deprecated(
      "use a version in the reports: a node that was alone comes first here, "
      "whatever it missed; the new name is last_assigned")]] const Member*
  freshest() const {
    return last_assigned();
  }

  /// Gives `part` to this member alone, in addition to the definition that all members get. Call
  /// `give_part` before the hook's `done`. A second part for a member replaces the first.
  void give_part(NodeId member, Bytes part) const;

  /// The parts given so far; set by the host.
  std::shared_ptr<std::map<NodeId, Bytes>> parts{};
};

/// A question of the coordinator to a member of its group.
struct Inquiry {
  NodeId from;
  GroupNumber group;
  bool working{};  ///< false while the coordinator reorganizes; true once the coordinator and this
                   ///< member have started
  Bytes bytes;
};
/// The information for an `answer` hook.
struct Question : HookContext, Inquiry {};

/// The information for a `start` hook. The coordinator may ask questions from its `start` until its
/// next `stop`. A member answers questions once its own `start` has succeeded.
struct Assignment : AskingContext {
  GroupNumber group;
  Definition definition;
  NodeSet members;  ///< all members, the coordinator `group.coordinator` included
  Bytes given;      ///< see part()
  Digest digest;    ///< of the encoded task; equal to Holdings::definition

  /// The nodes of this node's previous group that are not members now.
  [[nodiscard]] NodeSet lost() const { return HookContext::lost(members); }
  /// The members that were not in this node's previous group.
  [[nodiscard]] NodeSet came_back() const { return HookContext::came_back(members); }
  /// The bytes that the coordinator gave to this member alone; empty if it gave none.
  [[nodiscard]] const Bytes& part() const { return given; }
};

/// The program that a node stops, reorganizes and starts. Derive from it, or use an adapter:
/// muster/adapters.hpp (plain functions), muster/typed.hpp (values instead of bytes) or
/// muster/net/coroutines.hpp (coroutines).
///
/// A life of a node begins with one `stop`: there is no work to end, but the node needs a report.
/// After that, exactly one `stop` follows each `start`, whether that `start` succeeded, failed or
/// was cancelled.
///
/// @par Thread safety
/// The host calls the hooks on the application's executor and never two at a time. There is one
/// exception: while a `reorganize` asks its own node, `answer` of that node runs beside it.
/// @par Lifetime
/// Each life of the node has its own object, which the host makes by `MakeApplication` and destroys
/// when the life is over. `Services&` lives at least as long as the object.
/// @par Errors and exceptions
/// A hook fails if it calls `done.fail`, drops `done`, throws, or exceeds its deadline. A `stop`
/// that fails ends the process with exit code 76, because then no one can know that the work has
/// ended. A `reorganize` or `start` that fails makes the coordinator start over.
/// docs/reference/failures.md lists every case.
/// @par Example
/// @code
///     class Lamp final : public muster::Application {
///       void stop(muster::StopContext, muster::Done<muster::Report> done) override {
///         switch_off();
///         done();  // the report is empty
///       }
///       void reorganize(muster::Reorganization all,
///                       muster::Done<muster::Definition> done) override {
///         done({"lamps of the nodes " + muster::to_text(all.nodes())});
///       }
///       void start(muster::Assignment assignment, muster::Done<> done) override {
///         switch_on(assignment.definition);
///         done();
///       }
///     };
/// @endcode
class Application {
 public:
  Application() = default;
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;
  virtual ~Application() = default;

  /// Ends the work, then reports the node's holdings. Once `done` is called, no effect of the old
  /// task may appear any more. The work and all its permits must have ended within stop_deadline;
  /// otherwise the host ends the process.
  virtual void stop(StopContext context, Done<Report> done) = 0;

  /// Computes a new definition of the task from the holdings of the members. Called only on the
  /// coordinator, after every member has stopped. The host may cancel a `reorganize` at any time; a
  /// result that comes later is dropped.
  virtual void reorganize(Reorganization reorganization, Done<Definition> done) = 0;

  /// Installs the definition, which is already in safe storage, and begins work that lasts until
  /// `stop`. The host may call `start` again for the same group number, so installing must be
  /// idempotent.
  virtual void start(Assignment assignment, Done<> done) = 0;

  /// Answers a question of the coordinator of this node's group (`AskingContext::ask`). While the
  /// coordinator reorganizes, the application answers from its holdings since its `stop`.
  ///
  /// The host may call `answer` any number of times, one call at a time. The host may cancel a call
  /// at any time, when the answer is no longer needed. No other hook begins before an `answer` has
  /// ended, not even `stop`. The default implementation fails every question.
  virtual void answer(Question question, Done<Bytes> done);
};

/// Makes the application of one life. The host calls it on the application's executor. If it throws
/// or returns null, the process ends with exit code 76.
using MakeApplication = std::function<std::unique_ptr<Application>(Services&)>;

}  // namespace muster
