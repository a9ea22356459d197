#pragma once

#include <muster/application.hpp>

#include <functional>
#include <memory>
#include <utility>

/// An Application made from plain functions, for programs that need no class. A function that is
/// left out has a default.
///
///     MakeApplication lamp = [](Services&) {
///       return make_application(Functions{
///           .start = [](const Assignment& assignment) { switch_on(assignment.definition); }});
///     };
///
/// docs/architecture.md lists the other styles: coroutines (muster/net/coroutines.hpp) and values
/// instead of bytes (muster/typed.hpp).

namespace MUSTER_EXPORT muster {

/// Hooks made from plain functions. A hook ends when its function returns, with the returned value
/// as its result.
///
/// @par Thread safety
/// The functions are called on the application's executor, one at a time. On a real node they may
/// block within their deadlines: only the application waits for them. In the lab, simulated time
/// does not advance while they run. Work that goes on after `start` runs elsewhere: under permits,
/// or in tasks given to `Services::post`. A `reorganize` in this style cannot wait for answers of
/// its members, because the answers would need the same executor. A `reorganize` that asks its
/// members needs another style.
/// @par Lifetime
/// The functions are kept for one life and destroyed with its application.
/// @par Errors and exceptions
/// A function that throws fails the hook, with its what() as the reason.
struct Functions {
  /// If this function is missing, the report is empty, and `stop` has no work to end. The host
  /// still waits until all permits are returned.
  std::function<Report(const StopContext&)> stop{};
  /// If this function is missing, the definition is empty.
  std::function<Definition(const Reorganization&)> reorganize{};
  /// If this function is missing, a `start` has nothing to install.
  std::function<void(const Assignment&)> start{};
  /// If empty: every question fails.
  std::function<Bytes(const Question&)> answer{};
};

/// Hooks made from functions that may return before the hook ends. A hook ends when its Done is
/// completed, from any thread. The defaults, the lifetime and the exceptions are as described for
/// Functions.
struct AsynchronousFunctions {
  std::function<void(StopContext, Done<Report>)> stop{};
  std::function<void(Reorganization, Done<Definition>)> reorganize{};
  std::function<void(Assignment, Done<>)> start{};
  std::function<void(Question, Done<Bytes>)> answer{};
};

namespace detail {

class OfFunctions final : public Application {
 public:
  explicit OfFunctions(Functions functions) : functions_(std::move(functions)) {}

  void stop(StopContext context, Done<Report> done) override {
    done(functions_.stop ? functions_.stop(context) : Report{});
  }
  void reorganize(Reorganization reorganization, Done<Definition> done) override {
    done(functions_.reorganize ? functions_.reorganize(reorganization) : Definition{});
  }
  void start(Assignment assignment, Done<> done) override {
    if (functions_.start) functions_.start(assignment);
    done();
  }
  void answer(Question question, Done<Bytes> done) override {
    if (!functions_.answer) return Application::answer(std::move(question), std::move(done));
    done(functions_.answer(question));
  }

 private:
  Functions functions_;
};

class OfAsynchronousFunctions final : public Application {
 public:
  explicit OfAsynchronousFunctions(AsynchronousFunctions functions)
      : functions_(std::move(functions)) {}

  void stop(StopContext context, Done<Report> done) override {
    if (!functions_.stop) return done();
    functions_.stop(std::move(context), std::move(done));
  }
  void reorganize(Reorganization reorganization, Done<Definition> done) override {
    if (!functions_.reorganize) return done();
    functions_.reorganize(std::move(reorganization), std::move(done));
  }
  void start(Assignment assignment, Done<> done) override {
    if (!functions_.start) return done();
    functions_.start(std::move(assignment), std::move(done));
  }
  void answer(Question question, Done<Bytes> done) override {
    if (!functions_.answer) return Application::answer(std::move(question), std::move(done));
    functions_.answer(std::move(question), std::move(done));
  }

 private:
  AsynchronousFunctions functions_;
};

}  // namespace detail

/// An application with these hooks, for one life.
inline std::unique_ptr<Application> make_application(Functions functions) {
  return std::make_unique<detail::OfFunctions>(std::move(functions));
}
inline std::unique_ptr<Application> make_application(AsynchronousFunctions functions) {
  return std::make_unique<detail::OfAsynchronousFunctions>(std::move(functions));
}

}  // namespace muster
