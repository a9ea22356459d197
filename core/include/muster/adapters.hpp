#pragma once

#include <muster/application.hpp>

#include <functional>
#include <memory>
#include <utility>

/// An Application of plain functions, for those who want no class. What is left out does what an
/// application does that has nothing to say there.
///
///   MakeApplication lamp = [](Services&) {
///     return make_application(Functions{
///         .start = [](const Assignment& assignment) { switch_on(assignment.definition); }});
///   };
///
/// docs/architecture.md lists the other styles: coroutines (muster/net/coroutines.hpp) and values
/// instead of bytes (muster/typed.hpp).

namespace MUSTER_EXPORT muster {

/// Hooks that have ended when they return; one that throws has failed, with its what().
///
/// They may block, within their deadlines, on real nodes: nothing but the application waits for
/// them. In the lab time stands still while they run. What goes on after `start`, goes on
/// elsewhere: under permits, or from one `Services::post` to the next. A `reorganize` that asks its
/// members has to wait for what they answer: write that one in another style.
struct Functions {
  /// Left out: there is nothing to cease (but permits, which are waited for), and nothing held.
  std::function<Report(const StopContext&)> stop{};
  /// Left out: the definition is empty.
  std::function<Definition(const Reorganization&)> reorganize{};
  /// Left out: there is nothing to install.
  std::function<void(const Assignment&)> start{};
  /// Left out: it answers no questions.
  std::function<Bytes(const Question&)> answer{};
};

/// Hooks that may end after they have returned, by their Done, from any thread. What is left out is
/// as in Functions.
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

/// The application of one life, whose hooks are these.
inline std::unique_ptr<Application> make_application(Functions functions) {
  return std::make_unique<detail::OfFunctions>(std::move(functions));
}
inline std::unique_ptr<Application> make_application(AsynchronousFunctions functions) {
  return std::make_unique<detail::OfAsynchronousFunctions>(std::move(functions));
}

}  // namespace muster
