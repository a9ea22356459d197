#include "apps/programs/hook_application.hpp"

#include "apps/programs/child.hpp"
#include "apps/programs/definition.hpp"
#include "apps/programs/inputs.hpp"

#include <muster/values/json.hpp>

#include <thread>

namespace muster::apps {

using muster::operator==;

namespace {

using namespace std::chrono_literals;

constexpr Duration first_back_off = 100ms;
constexpr Duration longest_back_off = 1s;

/// Writes each report into a file of a directory. The node's number is the file's name.
Expected<std::filesystem::path> write_reports(const std::filesystem::path& data,
                                              const Members& members) {
  const auto directory = data / "reports";
  std::error_code error;
  std::filesystem::remove_all(directory, error);
  std::filesystem::create_directory(directory, error);
  for (const Member& member : members) {
    const auto written =
        replace_file(directory / std::to_string(member.node.value), member.holdings.report.data);
    if (!written) return written.error();
  }
  return directory;
}

/// One run of one hook.
struct HookCall {
  const char* hook;
  const std::vector<std::string>* command;
  std::vector<std::string> environment;
  std::string input;
  bool gives;                        ///< the program's output is the result of the hook
  std::optional<Duration> deadline;  ///< none: the program runs until it is cancelled
};

/// Runs a hook program until it succeeds or fails. Exit code 75 makes it run again.
class Attempts {
 public:
  Attempts(const HookOptions& options, const HookCall& call, std::stop_token cancelled)
      : options_(options), call_(call), cancelled_(std::move(cancelled)) {}

  Expected<std::string> run() {
    Duration back_off = first_back_off;
    while (true) {
      auto child = Child::launch(child_options());
      if (!child) return failure(child.error().what);
      ChildEnd end = child->wait(cancelled_);
      if (end.too_large) {
        return failure("it gave more than the " + std::to_string(options_.output_limit) +
                       " bytes that a " + (call_.deadline ? "report" : "definition") + " may have");
      }
      if (end.told) return failure("it was cancelled, and " + describe_end(end.status));
      if (end.overran) return failure("it overran its deadline, and " + describe_end(end.status));
      if (end.exited_with(0)) return std::move(end.output);
      if (!end.asks_to_try_again()) return failure("it " + describe_end(end.status));
      const Duration rest = left().value_or(Duration::max());
      if (!wait_unless_told(std::min(back_off, rest), cancelled_) || rest <= back_off)
        return failure("it asked to be run again (exit code 75) up to its deadline");
      back_off = std::min(back_off * 2, longest_back_off);
    }
  }

 private:
  [[nodiscard]] std::optional<Duration> left() const {
    if (!call_.deadline) return std::nullopt;
    return *call_.deadline - (std::chrono::steady_clock::now() - begun_);
  }

  [[nodiscard]] ChildOptions child_options() const {
    ChildOptions child;
    child.command = *call_.command;
    child.environment = call_.environment;
    child.inherit = options_.commands.inherit;
    child.directory = options_.commands.directory;
    child.input = call_.input;
    if (call_.gives) child.output_limit = options_.output_limit;
    child.deadline = left();
    // One stop deadline has to cover both the end of a cancelled hook and the stop after it.
    child.grace = options_.timings.stop_deadline / (call_.deadline ? 8 : 4);
    child.rest = Rest::spared;
    return child;
  }

  [[nodiscard]] Failure failure(const std::string& why) const {
    return {ExitCode::hook_failed,
            std::string(call_.hook) + " (" + call_.command->front() + "): " + why};
  }

  const HookOptions& options_;
  const HookCall& call_;
  std::stop_token cancelled_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

class HookPrograms : public Application {
 public:
  HookPrograms(Services& services, HookOptions options)
      : self_(services.self()), options_(std::move(options)) {}

  void stop(StopContext context, Done<Report> done) override {
    if (commands().stop.empty()) return done();
    // The program has to end, or to be killed, within the time that is left.
    const Duration all = options_.timings.stop_deadline;
    const Duration deadline = std::max(context.deadline - all / 4, all / 8);
    context.deadline = deadline;
    run({"stop", &commands().stop, environment("stop", context.group, {}),
         to_json(input_of(self_, context)), true, deadline},
        {}, [done = std::move(done)](Expected<std::string> gave) mutable {
          if (!gave) return done.fail(gave.error().what);
          done({std::move(*gave)});
        });
  }

  void reorganize(Reorganization context, Done<Definition> done) override {
    if (commands().reorganize.empty()) return done(define_members(context));
    const auto reports = write_reports(options_.data, context.members);
    if (!reports) return done.fail(reports.error().what);
    auto variables = environment("reorganize", context.group, context.nodes());
    variables.push_back("MUSTER_REPORTS=" + reports->string());
    run({"reorganize",
         &commands().reorganize,
         std::move(variables),
         to_json(input_of(self_, context)),
         true,
         {}},
        context.cancelled, [done = std::move(done)](Expected<std::string> gave) mutable {
          if (!gave) return done.fail(gave.error().what);
          done({std::move(*gave)});
        });
  }

  void start(Assignment context, Done<> done) override {
    if (commands().start.empty()) return done();
    const auto file = write_definition(options_.data, context.definition);
    if (!file) return done.fail(file.error().what);
    auto variables = environment("start", context.group, context.members);
    variables.push_back("MUSTER_DEFINITION_FILE=" + file->string());
    run({"start",
         &commands().start,
         std::move(variables),
         to_json(input_of(self_, context)),
         false,
         {}},
        context.cancelled, [done = std::move(done)](const Expected<std::string>& gave) mutable {
          if (!gave) return done.fail(gave.error().what);
          done();
        });
  }

 private:
  [[nodiscard]] const HooksConfig& commands() const { return options_.commands; }

  [[nodiscard]] std::vector<std::string> environment(const char* hook,
                                                     const std::optional<GroupNumber>& group,
                                                     const NodeSet& members) const {
    auto variables = environment_about(self_, group, members);
    variables.push_back(std::string("MUSTER_HOOK=") + hook);
    return variables;
  }

  /// Runs the hook on a thread of its own, so the hooks' thread does not wait. The program is
  /// killed when that thread ends.
  template <class End>
  void run(HookCall call, std::stop_token cancelled, End end) {
    worker_ = std::jthread([this, call = std::move(call), cancelled = std::move(cancelled),
                            end = std::move(end)](const std::stop_token& told) mutable {
      std::stop_source either;
      const std::stop_callback first(told, [&either] { either.request_stop(); });
      const std::stop_callback second(cancelled, [&either] { either.request_stop(); });
      end(Attempts(options_, call, either.get_token()).run());
    });
  }

  const NodeId self_;
  const HookOptions options_;
  std::jthread worker_;  ///< runs the present hook, or ran the last one
};

}  // namespace

MakeApplication make_hooks(HookOptions options) {
  return [options = std::move(options)](Services& services) {
    return std::make_unique<HookPrograms>(services, options);
  };
}

}  // namespace muster::apps
