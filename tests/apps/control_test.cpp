#include "apps/muster/commands/one_node.hpp"
#include "nodes.hpp"

#include <signal.h>

/// The commands of a node's owner, against real nodes.

namespace muster::apps {
namespace {

/// Three nodes, Normal in one group under node 3.
struct Group : Nodes {
  explicit Group(ProtocolName protocol = ProtocolName::bully,
                 Duration calm = std::chrono::seconds(1))
      : Nodes(3, protocol, calm) {
    for (std::uint32_t id : {1u, 2u, 3u}) processes.push_back(start(id));
    for (std::uint32_t id : {1u, 2u, 3u}) await(id, 3);
    until(0, {"members", "--config", file(1)});
  }

  Ran run(std::vector<std::string> words, std::uint32_t id) const {
    words.insert(words.end(), {"--dir", data(id), "--timeout", "5min"});
    return run_muster(directory, words);
  }
  Ran ask(std::vector<std::string> words, std::uint32_t id) const {
    words.insert(words.end(), {"--dir", data(id)});
    return run_muster(directory, words);
  }
  void await(std::uint32_t id, std::uint32_t coordinator) const {
    const Ran ran = run({"wait", "--coordinator", std::to_string(coordinator)}, id);
    BOOST_TEST_REQUIRE(ran.code == 0, ran.output);
  }

  std::vector<Process> processes;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(control)

BOOST_AUTO_TEST_CASE(each_says_in_its_help_how_it_exits) {
  TestDirectory directory;
  for (const std::string word : {"wait", "step-down", "drain", "elect", "why", "history"}) {
    const Ran ran = run_muster(directory, {word, "--help"});
    BOOST_TEST(ran.code == 0, ran.output);
    BOOST_TEST(says(ran, "Exit codes:"), ran.output);
    says_why(run_muster(directory, {word}), 2, word == "elect" ? "--reason" : "--dir");
  }
}

BOOST_AUTO_TEST_CASE(wait_is_there_before_the_node_is) {
  Nodes nodes(1);
  const auto output = nodes.directory.path / "wait";
  auto waits = Process::launch(
      muster_with({"wait", "--config", nodes.file(1), "--timeout", "5min"}, output));
  BOOST_REQUIRE(waits.has_value());
  const Process node = nodes.start(1);
  const int status = waits->wait();
  BOOST_TEST((WIFEXITED(status) && WEXITSTATUS(status) == 0), read_all(output));
  BOOST_TEST(read_all(output).find("node 1 is Normal in group ") == 0u, read_all(output));
}

BOOST_AUTO_TEST_CASE(wait_gives_up_and_says_what_there_was_instead) {
  Nodes nodes(1);
  const auto wait = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"wait", "--dir", nodes.data(1), "--timeout"});
    return run_muster(nodes.directory, words);
  };
  says_why(wait({"1ms"}), 5, nodes.data(1));
  says_why(wait({"soon"}), 2, "soon");
  says_why(wait({"1s", "--status", "sleeping"}), 2, "sleeping");
  const Process node = nodes.start(1);
  BOOST_TEST(wait({"5min", "--status", "normal"}).code == 0);
  says_why(wait({"1s", "--coordinator", "2"}), 7, "node 1 is Normal in group ");
}

BOOST_AUTO_TEST_CASE(a_coordinator_that_steps_down_names_the_next_and_comes_back) {
  Group group;
  const Ran down = group.run({"step-down", "--for", "60min"}, 3);
  BOOST_TEST(down.code == 0, down.output);
  BOOST_TEST(says(down, "node 3 has stepped down for 60min; node 2 is coordinator now"),
             down.output);
  BOOST_TEST(group.run({"step-down", "--for", "0s"}, 3).code == 0);  // from now on
  group.await(3, 3);
  group.await(1, 3);
  const Ran member = group.run({"step-down", "--for", "10ms", "--json"}, 1);
  BOOST_TEST(member.code == 0, member.output);
  BOOST_TEST(says(member, "{\"did\":\"step-down\",\"node\":1,\"status\":\"Down\""), member.output);
  BOOST_TEST(says(member, "\"coordinator\":3,\"group\":["), member.output);
  group.await(1, 3);
}

// Where nobody is left, and where those who are cannot work without it.
BOOST_AUTO_TEST_CASE(a_node_that_leaves_says_that_nobody_took_over) {
  Nodes alone(1);
  const Process one = alone.start(1);
  alone.until(0, {"status", "--dir", alone.data(1)});
  const Ran drained =
      run_muster(alone.directory, {"drain", "--dir", alone.data(1), "--within", "5min", "--json"});
  BOOST_TEST(drained.code == 0, drained.output);
  BOOST_TEST(says(drained, "\"coordinator\":null,\"group\":null"), drained.output);

  Group group;
  group.processes[0].signal(SIGSTOP);
  group.processes[1].signal(SIGSTOP);
  const Ran left =
      run_muster(group.directory, {"step-down", "--dir", group.data(3), "--within", "3s"});
  for (std::size_t paused : {0u, 1u}) group.processes[paused].signal(SIGCONT);
  says_why(left, 4, "node 3 has left, and nobody took over");
}

BOOST_AUTO_TEST_CASE(a_drained_node_stays_out_until_it_is_brought_back) {
  Group group;
  says_why(group.run({"drain", "--undo"}, 2), 75, "it is not drained");
  const Ran drained = group.run({"drain"}, 2);
  BOOST_TEST(drained.code == 0, drained.output);
  BOOST_TEST(says(drained, "; node 3 is still coordinator, of group "), drained.output);
  says_why(group.ask({"status"}, 2), 3, "node 2 is drained");
  says_why(group.run({"step-down"}, 2), 75, "drained");
  says_why(group.run({"elect", "--reason", "no"}, 2), 75, "drained");
  BOOST_TEST(group.run({"wait", "--status", "Down"}, 2).code == 0);
  const Ran back = group.run({"drain", "--undo"}, 2);
  BOOST_TEST(back.code == 0, back.output);
  BOOST_TEST(says(back, "node 2 is Normal in group "), back.output);
  BOOST_TEST(says(back, "under node 3"), back.output);
}

BOOST_AUTO_TEST_CASE(a_member_tells_when_its_coordinator_was_heard) {
  const Group group;
  for (const std::string word : {"status", "wait", "why"}) {
    const Ran member = group.ask({word}, 1);
    BOOST_TEST(member.code == 0, member.output);
    BOOST_TEST(says(member, "its coordinator was heard "), member.output);
    const Ran json = group.ask({word, "--json"}, 1);
    BOOST_TEST(says(json, "\"coordinator_heard_ns\":"), json.output);
    BOOST_TEST(!says(json, "\"coordinator_heard_ns\":null"), json.output);
    const Ran itself = group.ask({word, "--json"}, 3);
    BOOST_TEST(says(itself, "\"coordinator_heard_ns\":null"), itself.output);
    BOOST_TEST(!says(group.ask({word}, 3), "heard"));
  }
}

/// Waits until `status` of that node says so, and gives all that it says.
Ran await_status(const Group& group, std::uint32_t id, const std::string& text) {
  for (;;) {
    Ran status = group.ask({"status", "--json"}, id);
    if (says(status, text)) return status;
  }
}

// docs/options/calm.md
BOOST_AUTO_TEST_CASE(a_member_that_is_lost_again_is_held_and_let_in_later) {
  Group group(ProtocolName::bully, std::chrono::seconds(10));
  for (const bool again : {false, true}) {
    group.processes[0].signal(SIGSTOP);
    await_status(group, 3, "\"up\":[2]");
    group.processes[0].signal(SIGCONT);
    if (again) {
      BOOST_TEST(says(group.ask({"status", "--json"}, 3), "\"held\":[[1,"));
      const Ran words = group.ask({"why"}, 3);
      BOOST_TEST(says(words, "node 1 is held for "), words.output);
    }
    const Ran back = await_status(group, 3, "\"up\":[1,2]");
    BOOST_TEST(says(back, "\"held\":[]"), back.output);
  }
  const std::string log = read_all(group.directory.path / "n3.log");
  BOOST_TEST(log.find("does not let node 1 in for ") != std::string::npos, log);
}

BOOST_AUTO_TEST_CASE(a_coordinator_that_pauses_again_leaves_for_a_while) {
  Group group;
  for (const bool again : {false, true}) {
    group.processes[2].signal(SIGSTOP);
    group.await(2, 2);
    group.processes[2].signal(SIGCONT);
    if (again) await_status(group, 3, "\"out\":\"unsteady\"");
    group.await(3, 3);
    group.await(2, 3);
  }
}

// A member that is Normal asks its coordinator after coordinator_timeout and waits for T: one that
// has heard nothing for longer has no right to say so.
BOOST_AUTO_TEST_CASE(a_member_that_heard_nothing_for_too_long_is_not_normal) {
  const Timings timings;
  net::NodeStatus status;
  status.node = NodeId{1};
  status.status = Status::Normal;
  status.coordinator = NodeId{3};
  status.group = GroupNumber{7, NodeId{3}};
  status.coordinator_bound_ns = longest_silence(timings);
  BOOST_TEST((*status.coordinator_bound_ns == timings.coordinator_timeout + 2 * timings.T));
  BOOST_TEST(!not_normal(status).has_value());
  status.coordinator_heard_ns = *status.coordinator_bound_ns;
  BOOST_TEST(!not_normal(status).has_value());
  *status.coordinator_heard_ns += Duration(1);
  const auto why = not_normal(status);
  BOOST_TEST_REQUIRE(why.has_value());
  BOOST_TEST((why->code == ExitCode::not_normal));
  BOOST_TEST(
      why->what.find("node 1 is Normal in group 7.3 under node 3 as far as it knows, but its "
                     "coordinator was heard ") == 0u,
      why->what);
}

BOOST_AUTO_TEST_CASE(an_election_may_be_asked_of_any_node) {
  Group group;
  const Ran member = group.run({"elect", "--reason", "to see"}, 1);
  BOOST_TEST(member.code == 0, member.output);
  BOOST_TEST(says(member, "node 1 is Normal"), member.output);
  const Ran highest = group.run({"elect", "--reason", "the disk is new"}, 3);
  BOOST_TEST(highest.code == 0, highest.output);
  BOOST_TEST(says(highest, "with members 1 2 3"), highest.output);
  const Ran why = group.ask({"why"}, 3);
  BOOST_TEST(why.code == 0, why.output);
  BOOST_TEST(says(why, "it was asked for: the disk is new (asked)"), why.output);
}

BOOST_AUTO_TEST_CASE(an_invited_group_is_made_anew_by_its_coordinator) {
  Group group(ProtocolName::invitation);
  const Ran asked = group.run({"elect", "--reason", "the disk is new"}, 3);
  BOOST_TEST(asked.code == 0, asked.output);
  BOOST_TEST(says(asked, "with members 1 2 3"), asked.output);
}

BOOST_AUTO_TEST_CASE(history_tells_who_halted_whom_and_outlives_the_process) {
  Group group;
  group.processes[2].signal(SIGKILL);
  group.processes[2].wait();
  group.await(1, 2);
  group.await(2, 2);  // it is Normal when all its members are
  const Ran halted = group.ask({"why", "--json"}, 1);
  BOOST_TEST(halted.code == 0, halted.output);
  BOOST_TEST(says(halted, "\"coordinator\":2"), halted.output);
  BOOST_TEST(says(halted, "\"halted_by\":[2]"), halted.output);
  const Ran why = group.ask({"why"}, 2);
  BOOST_TEST(says(why, "node 3 failed (failed)"), why.output);
  BOOST_TEST(says(why, "members    1 2"), why.output);
  BOOST_TEST(says(why, "halting "), why.output);

  group.processes[1].signal(SIGTERM);
  group.processes[1].wait();
  const Ran kept = group.ask({"history", "--json"}, 2);
  BOOST_TEST(kept.code == 0, kept.output);
  BOOST_TEST(says(kept, "does not run"), kept.output);
  BOOST_TEST(says(kept, "\"evidence\":\"node 3 failed\""), kept.output);
  const Process again = group.start(2);
  group.await(2, 2);
  const Ran both = group.ask({"history", "--json"}, 2);
  BOOST_TEST(says(both, "\"evidence\":\"node 3 failed\""), both.output);
  BOOST_TEST(says(both, "\"evidence\":\"node 2 recovered\""), both.output);
  const Ran last = group.ask({"history", "--limit", "1", "--json"}, 2);
  BOOST_TEST(!says(last, "node 3 failed"), last.output);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::apps
