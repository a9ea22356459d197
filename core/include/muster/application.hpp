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

/// The end of a hook: a handle that is completed once, from any thread, with the hook's result or a
/// failure. Dropping it uncompleted is a failure. Moves, does not copy.
template <class Value = std::monostate>
class Done {
 public:
  using Outcome = boost::system::result<Value, std::string>;

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

  /// The hook has ended well.
  void operator()(Value value = {}) {
    finish(Outcome(boost::system::in_place_value, std::move(value)));
  }

  /// The hook has failed, for this reason.
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

/// S(i).d as it travels and is stored: the paper's "who does what".
struct Task {
  NodeSet members;  ///< who takes part, the coordinator included
  Definition definition;
  std::map<NodeId, Bytes> parts;  ///< what is for one member alone; absent: nothing
};
MUSTER_DESCRIBE(Task, members, definition, parts);

/// What a node was assigned: its group and the task of that group.
struct AssignedTask {
  GroupNumber group;
  Task task;
  Digest digest;  ///< of the task, as Holdings::definition has it
};
MUSTER_DESCRIBE(AssignedTask, group, task, digest);

/// What every hook is told.
struct HookContext {
  /// Why this node ceased last; of a `stop`, why it is to cease now.
  StopCause cause{};
  /// What this node was assigned before, in this life or, as its safe storage tells, in an earlier
  /// one; the old coordinator is `previous->group.coordinator`.
  std::optional<AssignedTask> previous{};
  /// How long the hook may take from its call; of a `stop`, what is left of the stop deadline.
  Duration deadline{};
  /// Set when the hook is to end early: halted, superseded, or beyond its deadline.
  std::stop_token cancelled{};
  /// Takes what `progress` is told; none: nobody asks.
  std::function<void(std::string)> listener{};

  [[nodiscard]] bool stop_requested() const { return cancelled.stop_requested(); }

  /// How far the hook is, such as "3/7 merged", for `muster status`. From any thread.
  void progress(std::string how_far) const {
    if (listener) listener(std::move(how_far));
  }

  /// Who took part before and is not among `members`; nobody where nothing was assigned before.
  [[nodiscard]] NodeSet lost(const NodeSet& members) const;
  /// Who is among `members` and did not take part before.
  [[nodiscard]] NodeSet came_back(const NodeSet& members) const;
};

/// What a `stop` is told.
struct StopContext : HookContext {
  std::optional<GroupNumber> group;  ///< what it worked for; none at the beginning of a life
};

/// Takes the answer to a question, or why there is none.
using Answered = std::function<void(Done<Bytes>::Outcome)>;
/// Takes a question to a member.
using Questioner = std::function<void(NodeId member, Bytes question, Answered answered)>;

/// What a hook is told that may ask the members; only a coordinator is answered.
struct AskingContext : HookContext {
  /// Asks a member for what is too big for a report, or gives it what is to be known by all: its
  /// `Application::answer` gives the answer. `answered` is called once, on the application's
  /// executor, with that, or with why there is none: it failed there, it is too large, the member
  /// is gone, the group is. When the life is over it is not called at all.
  ///
  /// One question at a time is on its way to each member, 63 others wait for their turn. Neither
  /// delays a letter of the protocol. From any thread; for how long, `Reorganization` and
  /// `Assignment` say.
  void ask(NodeId member, Bytes question, Answered answered) const;

  /// What takes the questions; made by who calls the hook. None on a member: asking fails at once.
  Questioner questioner{};
};

/// What a `reorganize` is told: the state of everybody in S(i).Up, all of them stopped. It may ask
/// until it has ended or is cancelled; the members are stopped, and answer what they hold.
struct Reorganization : AskingContext {
  GroupNumber group;
  Members members;  ///< ascending, the coordinator included

  /// The members' ids.
  [[nodiscard]] NodeSet nodes() const;
  /// Members that took part in the previous group of this node and are gone.
  [[nodiscard]] NodeSet lost() const { return HookContext::lost(nodes()); }
  /// Members that did not take part in it.
  [[nodiscard]] NodeSet came_back() const { return HookContext::came_back(nodes()); }

  /// The member with the highest group number that was ever assigned to one of them; of equals, the
  /// highest node. Null if no member was ever assigned anything.
  ///
  /// This says nothing about whose state is the newest: a node that was alone, and changed nothing,
  /// has a higher group number than the others. Choose by a version in the reports, or by a
  /// majority (docs/architecture.md, "Whose state is the newest").
  [[nodiscard]] const Member* last_assigned() const;

  /// The old name.
  [[nodiscard]] [[deprecated(
      "use a version in the reports: a node that was alone comes first here, "
      "whatever it missed; the new name is last_assigned")]] const Member*
  freshest() const {
    return last_assigned();
  }

  /// Besides the definition for all, gives `part` to that member alone; before `done` is called.
  void give_part(NodeId member, Bytes part) const;

  /// What `give_part` gave; made by who calls the hook.
  std::shared_ptr<std::map<NodeId, Bytes>> parts{};
};

/// What a coordinator asks a member of its group.
struct Inquiry {
  NodeId from;
  GroupNumber group;
  bool working{};  ///< false: it reorganizes; true: it has started, and so has who answers
  Bytes bytes;
};
struct Question : HookContext, Inquiry {};

/// What a `start` is told. The coordinator's may ask from then on, until it is to stop; a member
/// answers when its own `start` has ended well.
struct Assignment : AskingContext {
  GroupNumber group;
  Definition definition;
  NodeSet members;  ///< who takes part, the coordinator `group.coordinator` included
  Bytes given;      ///< see part()
  Digest digest;    ///< of the whole task, as Holdings::definition has it

  [[nodiscard]] NodeSet lost() const { return HookContext::lost(members); }
  [[nodiscard]] NodeSet came_back() const { return HookContext::came_back(members); }
  /// What the coordinator gave to this member alone; empty where it gave none.
  [[nodiscard]] const Bytes& part() const { return given; }
};

/// What is halted, reorganized and started. One life of a node has one; its hooks never overlap.
///
/// A life begins with one `stop`, there is nothing to cease then but a report to give; after that
/// each `start` is followed by exactly one `stop`, whether it ended, failed or was cancelled. Where
/// a hook throws or fails, docs/operating.md says what comes of it.
class Application {
 public:
  Application() = default;
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;
  virtual ~Application() = default;

  /// Cease; then report what you hold. When `done` is called no effect of the old task can appear
  /// any more. Bounded by stop_deadline: a process that has not ceased by then is ended.
  virtual void stop(StopContext context, Done<Report> done) = 0;

  /// Compute a new definition of the task from what the members hold. Called on the coordinator
  /// only, when every member has stopped. May be cancelled at any time; a late result is dropped.
  virtual void reorganize(Reorganization reorganization, Done<Definition> done) = 0;

  /// Install the definition, which is durable already, and work until `stop`. Repeatable by group
  /// number.
  virtual void start(Assignment assignment, Done<> done) = 0;

  /// Answer the coordinator of this node's group, which asks by `AskingContext::ask`; where it
  /// reorganizes, from what is held since `stop`. Called any number of times, one at a time, and
  /// beside no hook but the `reorganize` of a coordinator that asks itself. May be cancelled at any
  /// time, when the answer is of no use any more; no hook begins before it has ended, `stop`
  /// included. Leave it out where nothing is asked.
  virtual void answer(Question question, Done<Bytes> done);
};

/// Makes the application of one life.
using MakeApplication = std::function<std::unique_ptr<Application>(Services&)>;

}  // namespace muster
