#pragma once

#include <muster/services.hpp>
#include <muster/step.hpp>

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>

namespace muster {

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
  void operator()(Value value = {}) { finish(Outcome(std::move(value))); }

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

/// What a `stop` is told.
struct StopContext {
  StopCause cause;
  std::optional<GroupNumber> group;  ///< what it worked for; none at the beginning of a life
};

/// What a `reorganize` is told: the state of everybody in S(i).Up, all of them stopped.
struct Reorganization {
  GroupNumber group;
  Members members;  ///< ascending, the coordinator included
  std::stop_token cancelled;
};

/// What a `start` is told.
struct Assignment {
  GroupNumber group;
  Definition definition;
  std::stop_token cancelled;
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
};

/// Makes the application of one life.
using MakeApplication = std::function<std::unique_ptr<Application>(Services&)>;

}  // namespace muster
