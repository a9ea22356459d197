#include "apps/programs/program_application.hpp"

#include "apps/base/text.hpp"
#include "apps/programs/child.hpp"
#include "apps/programs/definition.hpp"

#include <signal.h>
#include <sys/wait.h>

#include <thread>

namespace muster::apps {
namespace {

/// Each `start` makes a thread, which launches the program and stays with it until `stop`.
class Program : public Application {
 public:
  Program(Services& services, ProgramOptions options)
      : self_(services.self()), options_(std::move(options)) {}

  void stop(StopContext, Done<Report> done) override {
    worker_.request_stop();
    // On a thread of its own: the program can take long to end, and the hooks' thread has other
    // work.
    stopping_ = std::jthread([this, done = std::move(done)]() mutable {
      if (worker_.joinable()) worker_.join();
      if (failure_.empty())
        done();
      else
        done.fail(std::move(failure_));
    });
  }

  void reorganize(Reorganization reorganization, Done<Definition> done) override {
    done(define_members(reorganization));
  }

  void start(Assignment assignment, Done<> done) override {
    if (options_.where == Where::coordinator && assignment.group.coordinator != self_)
      return done();
    const auto file = write_definition(options_.directory, assignment.definition);
    if (!file) return done.fail(file.error().what);
    auto environment = environment_about(self_, assignment.group, assignment.members);
    environment.push_back("MUSTER_DEFINITION_FILE=" + file->string());
    worker_ = std::jthread([this, environment = std::move(environment),
                            done = std::move(done)](const std::stop_token& told) mutable {
      work(environment, std::move(done), told);
    });
  }

 private:
  Expected<Child> launch(const std::vector<std::string>& environment) const {
    ChildOptions child;
    child.command = options_.command;
    child.environment = environment;
    child.inherit = options_.inherit;
    child.grace = options_.stop_deadline * 3 / 4;
    return Child::launch(std::move(child));
  }

  void work(const std::vector<std::string>& environment, Done<> started,
            const std::stop_token& told) {
    auto child = launch(environment);
    if (!child) return started.fail(child.error().what);
    started();
    Duration back_off = options_.first_back_off;
    while (true) {
      const ChildEnd end = child->wait(told);
      if (end.remains)
        failure_ = name() + " has ended, but other processes of its process group have not";
      if (told.stop_requested() || end.exited_with(0)) return;
      // The SIGTERM came from elsewhere. A service manager that stops a whole service sends it to
      // all processes, so the node is told to end too. This is not a failure.
      if (WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGTERM) return options_.give_up();
      if (!end.asks_to_try_again()) return give_up(name() + " " + describe_end(end.status));
      options_.say("node " + std::to_string(self_.value) + ": " + name() +
                   " asks to be started again: in " + format_duration(back_off));
      if (!wait_unless_told(back_off, told)) return;
      back_off = std::min(back_off * 2, options_.longest_back_off);
      child = launch(environment);
      if (!child) return give_up(child.error().what);
    }
  }

  void give_up(std::string why) {
    failure_ = std::move(why) + " while its node was at work";
    options_.give_up();
  }

  [[nodiscard]] const std::string& name() const { return options_.command.front(); }

  const NodeId self_;
  const ProgramOptions options_;
  std::string failure_;    ///< why `stop` fails; only the worker writes it, until joined
  std::jthread worker_;    ///< runs the program from `start` on
  std::jthread stopping_;  ///< waits for the worker; destroyed first
};

}  // namespace

MakeApplication make_program(ProgramOptions options) {
  return [options = std::move(options)](Services& services) {
    return std::make_unique<Program>(services, options);
  };
}

}  // namespace muster::apps
