#include "apps/hosting/one_node.hpp"
#include "nodes.hpp"

#include <signal.h>

/// Tests the commands for a node's owner on real nodes.

namespace muster::apps {
namespace {

/// Three nodes that are Normal in one group, with coordinator 3.
struct Group : Nodes {
  explicit Group(ProtocolName protocol = ProtocolName::bully,
                 Duration calm = std::chrono::seconds(1))
      : Nodes(3, protocol, calm) {
    for (std::uint32_t id : {1u, 2u, 3u}) processes.push_back(start(id));
    for (std::uint32_t id : {1u, 2u, 3u}) await(id, 3);
    until(0, "members --config " + file(1));
  }

  Ran run(const std::string& line, std::uint32_t id) const {
    return ask(line + " --timeout 5min", id);
  }
  Ran ask(const std::string& line, std::uint32_t id) const {
    return muster(line + " --dir " + data(id));
  }
  void await(std::uint32_t id, std::uint32_t coordinator) const {
    const Ran ran = run("wait --coordinator " + std::to_string(coordinator), id);
    BOOST_TEST_REQUIRE(ran.code == 0, ran.output);
  }

  /// Waits until the output of that node's `status` contains `text`, and returns the whole output.
  Ran await_status(std::uint32_t id, const std::string& text) const {
    for (;;) {
      Ran status = ask("status --json", id);
      if (says(status, text)) return status;
    }
  }

  std::vector<Process> processes;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(control)

BOOST_AUTO_TEST_CASE(each_says_in_its_help_how_it_exits) {
  TestDirectory directory;
  for (const std::string word : {"wait", "step-down", "drain", "elect", "why", "history"}) {
    ends_well(directory.muster(word + " --help"), {"Exit codes:"});
    says_why(directory.muster(word), 2, word == "elect" ? "--reason" : "--dir");
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
  const auto wait = [&](const std::string& words) {
    return nodes.muster("wait --dir " + nodes.data(1) + " --timeout " + words);
  };
  says_why(wait("1ms"), 5, nodes.data(1));
  says_why(wait("soon"), 2, "soon");
  says_why(wait("1s --status sleeping"), 2, "sleeping");
  const Process node = nodes.start(1);
  BOOST_TEST(wait("5min --status normal").code == 0);
  says_why(wait("1s --coordinator 2"), 7, "node 1 is Normal in group ");
}

BOOST_FIXTURE_TEST_CASE(a_coordinator_that_steps_down_names_the_next_and_comes_back, Group) {
  const Ran down = run("step-down --for 60min", 3);
  BOOST_TEST(down.code == 0, down.output);
  BOOST_TEST(says(down, "node 3 has stepped down for 60min; node 2 is coordinator now"),
             down.output);
  BOOST_TEST(run("step-down --for 0s", 3).code == 0);  // from now on
  await(3, 3);
  await(1, 3);
  ends_well(
      run("step-down --for 10ms --json", 1),
      {"{\"did\":\"step-down\",\"node\":1,\"status\":\"Down\"", "\"coordinator\":3,\"group\":["});
  await(1, 3);
}

// In the first test the node is the only one of its cluster. In the second its cluster has two more
// nodes, which are paused and so cannot take over.
BOOST_AUTO_TEST_CASE(a_node_that_leaves_says_that_nobody_took_over) {
  Nodes alone(1);
  const Process one = alone.start(1);
  alone.until(0, "status --dir " + alone.data(1));
  ends_well(alone.muster("drain --dir " + alone.data(1) + " --within 5min --json"),
            {"\"coordinator\":null,\"group\":null"});

  Group group;
  group.processes[0].signal(SIGSTOP);
  group.processes[1].signal(SIGSTOP);
  const Ran left = group.muster("step-down --dir " + group.data(3) + " --within 3s");
  for (std::size_t paused : {0u, 1u}) group.processes[paused].signal(SIGCONT);
  says_why(left, 4, "node 3 has left, but no node has taken over");
}

BOOST_FIXTURE_TEST_CASE(a_drained_node_stays_out_until_it_is_brought_back, Group) {
  says_why(run("drain --undo", 2), 75, "it is not drained");
  const Ran drained = run("drain", 2);
  BOOST_TEST(drained.code == 0, drained.output);
  BOOST_TEST(says(drained, "; node 3 is still coordinator, of group "), drained.output);
  says_why(ask("status", 2), 3, "node 2 is drained");
  says_why(run("step-down", 2), 75, "drained");
  says_why(run("elect --reason no", 2), 75, "drained");
  BOOST_TEST(run("wait --status Down", 2).code == 0);
  ends_well(run("drain --undo", 2), {"node 2 is Normal in group ", "under node 3"});
}

BOOST_FIXTURE_TEST_CASE(a_member_tells_when_its_coordinator_was_heard, Group) {
  for (const std::string word : {"status", "wait", "why"}) {
    ends_well(ask(word, 1), {"its coordinator was heard "});
    const Ran json = ask(word + " --json", 1);
    BOOST_TEST(says(json, "\"coordinator_heard_ns\":"), json.output);
    BOOST_TEST(!says(json, "\"coordinator_heard_ns\":null"), json.output);
    const Ran itself = ask(word + " --json", 3);
    BOOST_TEST(says(itself, "\"coordinator_heard_ns\":null"), itself.output);
    BOOST_TEST(!says(ask(word, 3), "heard"));
  }
}

// docs/explanation/options/calm.md
BOOST_AUTO_TEST_CASE(a_member_that_is_lost_again_is_suspended_and_admitted_later) {
  Group group(ProtocolName::bully, std::chrono::seconds(10));
  for (const bool again : {false, true}) {
    group.processes[0].signal(SIGSTOP);
    group.await_status(3, "\"up\":[2]");
    group.processes[0].signal(SIGCONT);
    if (again) {
      BOOST_TEST(says(group.ask("status --json", 3), "\"held\":[[1,"));
      const Ran words = group.ask("why", 3);
      BOOST_TEST(says(words, "node 1 is kept out for "), words.output);
    }
    const Ran back = group.await_status(3, "\"up\":[1,2]");
    BOOST_TEST(says(back, "\"held\":[]"), back.output);
  }
  const std::string log = read_all(group.directory.path / "n3.log");
  BOOST_TEST(log.find("does not admit node 1 for ") != std::string::npos, log);
}

BOOST_FIXTURE_TEST_CASE(a_coordinator_that_pauses_again_leaves_for_a_while, Group) {
  for (const bool again : {false, true}) {
    processes[2].signal(SIGSTOP);
    await(2, 2);
    processes[2].signal(SIGCONT);
    if (again) await_status(3, "\"out\":\"unsteady\"");
    await(3, 3);
    await(2, 3);
  }
}

// A Normal member asks its coordinator after coordinator_timeout, and waits up to T for the answer.
// A member that has heard nothing for longer than coordinator_timeout + T must not claim to be
// Normal.
BOOST_AUTO_TEST_CASE(a_member_that_heard_nothing_for_too_long_is_not_normal) {
  const Timings timings;
  net::NodeStatus status;
  status.node = NodeId{1};
  status.status = Status::Normal;
  status.coordinator = NodeId{3};
  status.group = GroupNumber{7, NodeId{3}};
  status.coordinator_bound_ns = longest_silence(timings);
  BOOST_TEST(*status.coordinator_bound_ns == timings.coordinator_timeout + 2 * timings.T);
  BOOST_TEST(!not_normal(status).has_value());
  status.coordinator_heard_ns = *status.coordinator_bound_ns;
  BOOST_TEST(!not_normal(status).has_value());
  *status.coordinator_heard_ns += Duration(1);
  const auto why = not_normal(status);
  BOOST_TEST_REQUIRE(why.has_value());
  BOOST_TEST(why->code == ExitCode::not_normal);
  BOOST_TEST(
      why->what.find("node 1 is Normal in group 7.3 under node 3 as far as it knows, but its "
                     "coordinator was heard ") == 0u,
      why->what);
}

BOOST_FIXTURE_TEST_CASE(an_election_may_be_asked_of_any_node, Group) {
  ends_well(run("elect --reason 'to see'", 1), {"node 1 is Normal"});
  ends_well(run("elect --reason 'the disk is new'", 3), {"with members 1 2 3"});
  ends_well(ask("why", 3), {"it was asked for: the disk is new (asked)"});
}

BOOST_AUTO_TEST_CASE(an_invited_group_is_made_anew_by_its_coordinator) {
  Group group(ProtocolName::invitation);
  ends_well(group.run("elect --reason 'the disk is new'", 3), {"with members 1 2 3"});
}

BOOST_FIXTURE_TEST_CASE(history_tells_who_halted_whom_and_outlives_the_process, Group) {
  processes[2].signal(SIGKILL);
  processes[2].wait();
  await(1, 2);
  await(2, 2);  // the coordinator becomes Normal only after all its members
  ends_well(ask("why --json", 1), {"\"coordinator\":2", "\"halted_by\":[2]"});
  says_all(ask("why", 2), {"node 3 failed (failed)", "members    1 2", "halting "});

  processes[1].signal(SIGTERM);
  processes[1].wait();
  ends_well(ask("history --json", 2), {"does not run", "\"evidence\":\"node 3 failed\""});
  const Process again = start(2);
  await(2, 2);
  says_all(ask("history --json", 2),
           {"\"evidence\":\"node 3 failed\"", "\"evidence\":\"node 2 recovered\""});
  const Ran last = ask("history --limit 1 --json", 2);
  BOOST_TEST(!says(last, "node 3 failed"), last.output);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::apps
