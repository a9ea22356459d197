#include "apps/base/text.hpp"
#include "real_nodes.hpp"

#include <muster/journal/journal.hpp>

#include <algorithm>
#include <sstream>

namespace muster::apps {
namespace {

using namespace std::chrono_literals;

std::vector<std::string> shell(const std::string& command) {
  return {"--inherit", "--", "/bin/sh", "-c", command};
}

std::vector<std::string> lines_of(const std::filesystem::path& file) {
  std::istringstream text(read_all(file));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

/// A cluster of one node. The node's program finds the directory of the test in the environment
/// variable D.
struct OneNode : RealNodes {
  OneNode() : RealNodes(1) { ::setenv("D", directory.path.c_str(), 1); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(run, OneNode)

BOOST_AUTO_TEST_CASE(tells_its_program_what_it_works_for) {
  run(1, shell("env | grep ^MUSTER_ | grep -v _DEMAND_ | sort >$D/env; cp $MUSTER_DEFINITION_FILE "
               "$D/definition; "
               ": >$D/ready; exec tail -f /dev/null"));
  wait_until([&] { return there("ready"); });
  const auto environment = lines_of(file("env"));
  BOOST_REQUIRE_EQUAL(environment.size(), 5u);
  BOOST_TEST(environment[0] == "MUSTER_COORDINATOR=1");
  BOOST_TEST(environment[1] == "MUSTER_DEFINITION_FILE=" + file("n1").string() + "/definition");
  BOOST_TEST(environment[2].starts_with("MUSTER_GROUP="));
  BOOST_TEST(environment[2].ends_with(".1"));
  BOOST_TEST(environment[3] == "MUSTER_MEMBERS=1");
  BOOST_TEST(environment[4] == "MUSTER_NODE=1");
  BOOST_TEST(read_all(file("definition")) == R"({"coordinator":1,"members":[1]})");
  leaves_in_order();
}

BOOST_AUTO_TEST_CASE(kills_what_ignores_the_end_within_the_stop_deadline) {
  Held held(file("held"));
  run(1, shell("trap '' TERM; exec 3>$D/held; tail -f /dev/null & tail -f /dev/null"));
  held.wait_for_holder();
  leaves_in_order();
  held.wait_until_free();
}

BOOST_AUTO_TEST_CASE(lets_a_program_end_in_order) {
  run(1, shell("trap ': >$D/orderly; exit 0' TERM; : >$D/ready; tail -f /dev/null & wait"));
  wait_until([&] { return there("ready"); });
  leaves_in_order();
  BOOST_TEST(there("orderly"));
}

BOOST_AUTO_TEST_CASE(a_program_that_ends_with_0_has_done_its_work) {
  run(1, shell("echo run >>$D/runs; exit 0"));
  wait_until([&] { return there("runs"); });
  // The program is not run again, and the node goes on until it is told to leave.
  leaves_in_order();
  BOOST_TEST(lines_of(file("runs")).size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_program_that_ends_with_75_is_started_again) {
  run(1, shell("echo run >>$D/runs; [ -e $D/again ] || { : >$D/again; exit 75; }; : >$D/ready; "
               "exec tail -f /dev/null"));
  wait_until([&] { return there("ready"); });
  ends_well(leave(1), {"/bin/sh asks to be started again: in 1s"});
  BOOST_TEST(lines_of(file("runs")).size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_program_that_is_told_to_end_takes_its_node_out_in_order) {
  run(1, shell("kill -TERM $$"));
  ends_well(end(1));
}

BOOST_AUTO_TEST_CASE(a_program_that_fails_ends_its_node_with_76) {
  Held held(file("held"));
  run(1, shell("exec 3>$D/held; tail -f /dev/null & exit 3"));
  held.wait_for_holder();
  says_why(end(1), 76, "/bin/sh ended with exit code 3 while its node was at work");
  held.wait_until_free();  // the processes that the program left behind are gone too
  run(1, shell("kill -9 $$"));
  says_why(end(1), 76, "/bin/sh was ended by signal 9 while its node was at work");
}

BOOST_AUTO_TEST_CASE(a_program_that_cannot_be_executed_is_a_failed_start) {
  write_program(file("text"), "exit 0\n");
  run(1, {"--", file("text").string()});
  wait_until([&] {
    return holds(journal(1), "cannot start " + file("text").string() + ": Exec format error");
  });
  leaves_in_order();
}

BOOST_AUTO_TEST_CASE(what_is_wrong_from_the_beginning_is_said) {
  run(1, {"--", "no-such-program"});
  says_why(end(1), 2, "no-such-program");
  says_why(muster("run --config " + configure(1)), 2, "PROGRAM");
  says_why(muster("run --config " + configure(1) + " --where here -- sh"), 2, "here");
  hooks = HooksConfig{{"sh"}, {}, {}, {}};
  says_why(muster("run --config " + configure(1) + " -- sh"), 64, "[hooks]");
}

BOOST_AUTO_TEST_CASE(a_program_does_not_outlive_its_node) {
  Held held(file("held"));
  run(1, shell("exec 3>$D/held; exec tail -f /dev/null"));
  held.wait_for_holder();
  // Kills the node alone: its program is in a process group of its own.
  processes.at(1).signal(SIGKILL);
  BOOST_TEST(end(1).code == -1);
  held.wait_until_free();
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(run_on_three_nodes)

namespace {

/// Each program writes a line such as "begin GROUP NODE PID" when it begins, and another line when
/// the node tells it to end.
struct ThreeNodes : RealNodes {
  ThreeNodes() : RealNodes(3) {
    ::setenv("D", directory.path.c_str(), 1);
    adopt_orphans();
  }

  void start(std::uint32_t id, const std::string& where) {
    std::vector<std::string> arguments{"--where", where};
    const auto program = shell(
        "said=\"$MUSTER_GROUP $MUSTER_NODE $$ $MUSTER_MEMBERS\"; "
        "trap 'echo \"end $said\" >>$D/history; exit 0' TERM; "
        "echo \"begin $said\" >>$D/history; tail -f /dev/null & wait");
    arguments.insert(arguments.end(), program.begin(), program.end());
    run(id, arguments);
  }

  struct Said {
    std::string what;
    std::uint64_t counter{};
    std::uint32_t coordinator{};
    std::uint32_t node{};
    pid_t pid{};
    std::string members;
  };
  [[nodiscard]] std::vector<Said> history() const {
    std::vector<Said> all;
    for (const std::string& line : lines_of(file("history"))) {
      std::istringstream words(line);
      Said said;
      char dot = 0;
      words >> said.what >> said.counter >> dot >> said.coordinator >> said.node >> said.pid;
      std::getline(words >> std::ws, said.members);
      all.push_back(said);
    }
    return all;
  }
  /// Waits until a program of a later group begins on that node with those members, and returns its
  /// line.
  Said begun(std::uint32_t node, const std::string& members, std::uint64_t after) {
    Said found;
    wait_until([&] {
      for (const Said& said : history()) {
        const bool fits = said.what == "begin" && said.node == node && said.members == members;
        if (fits && said.counter > after) found = said;
      }
      return found.pid != 0;
    });
    return found;
  }
  /// Checks that the journals violate no claim.
  void verify() const {
    ends_well(run_muster(directory,
                         {"verify", file("faults.jsonl"), journal(1), journal(2), journal(3)}));
  }
  /// Kills the node alone. The node's program ends with the node, but the children of the program
  /// do not.
  void kill_node(std::uint32_t id, pid_t program) {
    std::string line;
    journal::fault_line(
        line, {Duration(monotonic_ns()), journal::FaultKind::killed, NodeId{id}, std::nullopt});
    write_file(file("faults.jsonl"), line);
    processes.at(id).signal(SIGKILL);
    end(id);
    int status = 0;
    BOOST_TEST(::waitpid(program, &status, 0) == program);
    BOOST_TEST(describe_end(status) == "was ended by signal 9");
    ::kill(-program, SIGKILL);
  }
  void all_leave() {
    for (std::uint32_t id : {1u, 2u, 3u}) leaves_in_order(id);
    verify();
  }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(the_program_moves_to_the_new_coordinator, ThreeNodes) {
  for (std::uint32_t id : {1u, 2u, 3u}) start(id, "coordinator");
  const Said first = begun(3, "1 2 3", 0);
  kill_node(3, first.pid);
  const Said second = begun(2, "1 2", first.counter);
  start(3, "coordinator");
  begun(3, "1 2 3", second.counter);
  all_leave();
  pid_t at_work = 0;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> groups;
  for (const Said& said : history()) {
    BOOST_TEST(said.node == said.coordinator);
    if (said.what == "end") {
      BOOST_TEST(said.pid == at_work);
      at_work = 0;
      continue;
    }
    // Programs run one at a time: before this program began, the previous one had ended or its node
    // had been killed.
    BOOST_TEST((at_work == 0 || at_work == first.pid));
    at_work = said.pid;
    groups.emplace_back(said.counter, said.coordinator);
  }
  BOOST_TEST(at_work == 0);
  std::sort(groups.begin(), groups.end());
  BOOST_TEST((std::adjacent_find(groups.begin(), groups.end()) == groups.end()));
}

BOOST_FIXTURE_TEST_CASE(the_program_runs_everywhere_with_the_members_of_its_group, ThreeNodes) {
  for (std::uint32_t id : {1u, 2u, 3u}) start(id, "everywhere");
  Said last;
  for (std::uint32_t id : {1u, 2u, 3u}) last = begun(id, "1 2 3", 0);
  kill_node(3, last.pid);
  for (std::uint32_t id : {1u, 2u}) begun(id, "1 2", last.counter);
  start(3, "everywhere");
  for (std::uint32_t id : {1u, 2u, 3u}) begun(id, "1 2 3", last.counter + 1);
  all_leave();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::apps
