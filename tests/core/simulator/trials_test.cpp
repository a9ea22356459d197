#include <muster/journal/replay.hpp>
#include <muster/lab/crash_everywhere.hpp>
#include <muster/lab/simulator.hpp>
#include <muster/values/text.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <stdexcept>

// Statements of an application in a seed, checks of the world by the test, and hooks that fail by
// their own fault.

namespace muster::test {
namespace {

using namespace std::chrono_literals;

/// An application that calls a function of the test in each `start`, and does nothing else.
struct AtStart final : Application {
  using Act = std::function<void(Services&, const Assignment&, Done<>&)>;
  AtStart(Services& given, Act what) : services(given), act(std::move(what)) {}
  void stop(StopContext, Done<Report> done) override { done({}); }
  void reorganize(Reorganization, Done<Definition> done) override { done({"task"}); }
  void start(Assignment task, Done<> done) override { act(services, task, done); }
  Services& services;
  Act act;
};

MakeApplication at_start(const AtStart::Act& act) {
  return [act](Services& services) { return std::make_unique<AtStart>(services, act); };
}

lab::Simulation in_peace(lab::MakeTrial make_trial) {
  lab::Simulation simulation;
  simulation.allowed.clear();
  simulation.make_trial = std::move(make_trial);
  return simulation;
}

lab::Simulation in_peace(const AtStart::Act& act) {
  return in_peace([act] { return lab::Trial{at_start(act)}; });
}

const verify::Violated& violated(const lab::SeedRun& run) {
  BOOST_REQUIRE(run.violated() != nullptr);
  return *run.violated();
}

void holds(const lab::SeedRun& run, const std::string& assertion) {
  BOOST_TEST(run.violated() == nullptr);
  const auto& all = run.outcome.verdicts;
  BOOST_TEST(std::any_of(all.begin(), all.end(), [&](const verify::Verdict& verdict) {
    const auto* held = std::get_if<verify::Holds>(&verdict);
    return held && held->assertion == assertion && held->checked > 0;
  }));
}

/// The reason for which the hook failed by its own fault.
void fails(const lab::SeedRun& run, const std::string& why) {
  BOOST_TEST(violated(run).assertion == "hooks");
  BOOST_TEST(violated(run).disagreement.why.find(why) != std::string::npos,
             violated(run).disagreement.why);
}

// --- Statements of the application

BOOST_AUTO_TEST_CASE(what_an_application_says_is_broken_violates_its_seed) {
  const lab::SeedRun run =
      lab::run_seed(in_peace([](Services& services, const Assignment& task, Done<>& done) {
                      if (services.self() == NodeId{2})
                        services.broken("group " + to_text(task.group) + " is one too many");
                      done();
                    }),
                    7);
  BOOST_TEST(violated(run).assertion == "application");
  BOOST_TEST(violated(run).disagreement.why.starts_with("node 2: group "));
  BOOST_TEST(violated(run).disagreement.nodes == NodeSet{NodeId{2}});
}

BOOST_AUTO_TEST_CASE(a_note_stands_in_the_journal_which_replays_exactly) {
  const lab::SeedRun run =
      lab::run_seed(in_peace([](Services& services, const Assignment&, Done<>& done) {
                      services.note("invoice 1-1");
                      done();
                    }),
                    7);
  holds(run, "hooks");
  replay::Replayer replayer;
  std::size_t notes = 0;
  for (const journal::Line& line : run.lines) {
    const auto* remark = std::get_if<journal::Remark>(&line);
    notes += remark && remark->text == "invoice 1-1" ? 1 : 0;
    BOOST_TEST(!replayer.take(line).value().has_value());
  }
  BOOST_TEST(notes >= run.nodes);
  BOOST_TEST(replayer.passed_over() == 0u);
}

BOOST_AUTO_TEST_CASE(in_a_world_of_ones_own_it_violates_verify) {
  lab::World world(2, 1, at_start([](Services& services, const Assignment&, Done<>& done) {
                     services.broken("");
                     done();
                   }));
  BOOST_REQUIRE(world.run_until_normal());
  BOOST_TEST(!world.verify().holds());
  BOOST_TEST(world.journal().find("\"broken\":\"(the application gave no words)\"") !=
             std::string::npos);
}

// --- A check of each world

BOOST_AUTO_TEST_CASE(a_check_sees_all_nodes_of_its_world_and_no_other) {
  const auto make_trial = [] {
    const auto starts = std::make_shared<std::size_t>(0);
    lab::Trial trial;
    trial.make_application = at_start([starts](Services&, const Assignment&, Done<>& done) {
      ++*starts;
      done();
    });
    trial.check = [starts](const lab::WorldSeen& world) -> std::optional<std::string> {
      if (!world.is_normal()) return "not Normal at the end";
      for (const NodeId node : world.nodes())
        if (!world.is_up(node) || world.application(node) == nullptr) return "a node is missing";
      if (*starts > 5 * world.nodes().size()) return "the starts of another world are counted";
      return std::nullopt;
    };
    return trial;
  };
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    holds(lab::run_seed(in_peace(make_trial), seed), "application");
}

lab::Trial with_check(std::function<std::optional<std::string>(const lab::WorldSeen&)> check) {
  return {at_start([](Services&, const Assignment&, Done<>& done) { done(); }), std::move(check)};
}

BOOST_AUTO_TEST_CASE(what_a_check_finds_violates_its_seed_and_stands_in_the_journal) {
  const lab::SeedRun run = lab::run_seed(in_peace([] {
                                           return with_check([](const lab::WorldSeen&) {
                                             return std::optional<std::string>("two lamps shine");
                                           });
                                         }),
                                         7);
  BOOST_TEST(violated(run).assertion == "application");
  BOOST_TEST(violated(run).disagreement.why == "two lamps shine");
  BOOST_TEST(std::get<journal::Finding>(run.lines.back()).broken == "two lamps shine");
  BOOST_TEST(violated(run).place.line == run.lines.size());
}

BOOST_AUTO_TEST_CASE(a_check_that_throws_has_found_something) {
  const lab::SeedRun run =
      lab::run_seed(in_peace([] {
                      return with_check([](const lab::WorldSeen&) -> std::optional<std::string> {
                        throw std::out_of_range("no cell");
                      });
                    }),
                    7);
  BOOST_TEST(violated(run).disagreement.why == "the check threw: no cell");
}

BOOST_AUTO_TEST_CASE(a_trial_that_cannot_be_made_is_told) {
  fails(lab::run_seed(in_peace([]() -> lab::Trial { throw std::runtime_error("no file"); }), 7),
        "making the trial threw: no file");
  fails(lab::run_seed(in_peace([] { return lab::Trial{}; }), 7), "no make_application");
}

// --- Hooks that fail by their own fault

BOOST_AUTO_TEST_CASE(a_hook_that_throws_fails_by_itself) {
  fails(lab::run_seed(in_peace([](Services&, const Assignment&, Done<>&) {
                        throw std::runtime_error("no task");
                      }),
                      7),
        "start failed: it threw: no task");
  fails(lab::run_seed(in_peace([](Services&, const Assignment&, Done<>&) { throw 7; }), 7),
        "it threw something that is no std::exception");
}

BOOST_AUTO_TEST_CASE(a_hook_that_gives_up_fails_by_itself) {
  fails(lab::run_seed(in_peace([](Services&, const Assignment& task, Done<>& done) {
                        done.fail("group " + to_text(task.group) + " is too much");
                      }),
                      7),
        "is too much");
  fails(lab::run_seed(in_peace([](Services&, const Assignment&, Done<>&) {}), 7),
        "dropped its Done");
}

BOOST_AUTO_TEST_CASE(a_hook_that_never_ends_fails_by_itself) {
  const lab::SeedRun run = lab::run_seed(
      in_peace([] {
        const auto kept = std::make_shared<std::vector<Done<>>>();
        return lab::Trial{at_start([kept](Services&, const Assignment&, Done<>& done) {
          kept->push_back(std::move(done));
        })};
      }),
      7);
  fails(run, "overran stop_deadline");
}

BOOST_AUTO_TEST_CASE(an_application_that_is_not_made_is_told) {
  fails(lab::run_seed(in_peace([] {
                        return lab::Trial{[](Services&) { return std::unique_ptr<AtStart>(); }};
                      }),
                      7),
        "make_application gave no application");
  fails(lab::run_seed(in_peace([] {
                        return lab::Trial{[](Services&) -> std::unique_ptr<Application> {
                          throw std::runtime_error("no licence");
                        }};
                      }),
                      7),
        "make_application threw: no licence");
}

BOOST_AUTO_TEST_CASE(work_that_was_posted_and_throws_ends_its_process) {
  fails(lab::run_seed(in_peace([](Services& services, const Assignment&, Done<>& done) {
                        services.post_after(1ms, [] { throw std::runtime_error("posted"); });
                        done();
                      }),
                      7),
        "threw (catch it there): posted");
  fails(lab::run_seed(in_peace([](Services& services, const Assignment&, Done<>& done) {
                        services.write({"key", {"value"}}, [] { throw 7; });
                        done();
                      }),
                      7),
        "no std::exception");
}

/// An application that, as coordinator, asks the first member before it defines the task.
struct Asking final : Application {
  void stop(StopContext, Done<Report> done) override { done({}); }
  void reorganize(Reorganization all, Done<Definition> done) override {
    const auto kept = std::make_shared<Done<Definition>>(std::move(done));
    all.ask(all.members.front().node, {"what do you hold?"},
            [kept](const auto& answer) { answer ? (*kept)(*answer) : kept->fail(answer.error()); });
  }
  void start(Assignment, Done<> done) override { done(); }
  void answer(Question, Done<Bytes> done) override { done({"nothing"}); }
};

// The faults of a seed can make a hook fail, leave a question unanswered, or pause a node.
BOOST_AUTO_TEST_CASE(no_fault_of_a_seed_is_told_as_a_failure_of_the_application) {
  lab::Simulation simulation;
  simulation.make_trial = [] {
    return lab::Trial{[](Services&) { return std::make_unique<Asking>(); }};
  };
  for (std::uint64_t seed = 1; seed <= 60; ++seed) holds(lab::run_seed(simulation, seed), "hooks");
}

// --- A failure at every point

BOOST_AUTO_TEST_CASE(failing_everywhere_finds_what_the_application_says_is_broken) {
  lab::WorldOptions options;
  options.nodes = 2;
  const auto everywhere = [&](const AtStart::Act& act) {
    options.make_application = at_start(act);
    const lab::CrashReport report = lab::crash_everywhere(
        options, [](lab::World& world) { world.run_until_normal(); },
        [](const lab::WorldSeen&) { return std::nullopt; });
    return report.broken ? report.broken->why : "";
  };
  BOOST_TEST(everywhere([](Services&, const Assignment&, Done<>& done) { done(); }) == "");
  BOOST_TEST(everywhere([](Services& services, const Assignment& task, Done<>& done) {
               if (task.previous && task.previous->group.counter > 1) services.broken("too late");
               done();
             }).find("too late") != std::string::npos);
  BOOST_TEST(everywhere([](Services&, const Assignment& task, Done<>& done) {
               if (task.previous) throw std::runtime_error("not twice");
               done();
             }).find("start failed: it threw: not twice") != std::string::npos);
}

}  // namespace
}  // namespace muster::test
