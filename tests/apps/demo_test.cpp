#include "apps/cluster/cluster.hpp"
#include "apps/cluster/ports.hpp"
#include "command.hpp"

#include <muster/journal/journal.hpp>

#include <signal.h>

#include <cctype>

namespace muster::apps {
namespace {

struct Demo : TestDirectory {
  /// Runs `script` as a demo, with a T that is long enough for sanitizers and busy machines.
  [[nodiscard]] Ran demo(const std::string& script, const std::string& more = "") const {
    const auto file = path / "demo.script";
    std::ofstream(file) << script;
    return muster("demo --T 2s --script " + file.string() + ' ' + more);
  }
};

const std::string wait = "wait normal within 100s\n";

/// Two `muster node` processes, not started yet.
std::unique_ptr<Cluster> two_nodes(const TestDirectory& directory) {
  const auto ports = ReservedPorts::take(2).value();
  ClusterOptions options;
  options.directory = directory.path;
  options.program = MUSTER_PROGRAM;
  options.cluster.name = "two";
  options.cluster.hold_down = Duration::zero();  // lives in tests are short
  options.cluster.nodes = addresses_on(ports.ports());
  Timings& timings = options.cluster.timings;
  timings.T = std::chrono::seconds(2);
  timings.coordinator_timeout = timings.check_every + timings.T;
  options.application = {"none", 20};
  return Cluster::make(std::move(options)).value();
}

void start_both(Cluster& cluster) {
  for (const NodeId node : cluster.nodes()) BOOST_TEST_REQUIRE(cluster.start(node).has_value());
}

bool becomes_normal(Cluster& cluster) {
  return cluster.until([&] { return cluster.normal(); }, std::chrono::seconds(100));
}

struct TwoNodes {
  TestDirectory directory;
  std::unique_ptr<Cluster> cluster = two_nodes(directory);
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(cluster, TwoNodes)

BOOST_AUTO_TEST_CASE(is_not_normal_for_what_was_before_a_start_or_a_pause) {
  start_both(*cluster);
  BOOST_TEST_REQUIRE(becomes_normal(*cluster));
  cluster->pause(NodeId{1});
  BOOST_TEST(!cluster->normal());
  cluster->resume(NodeId{1});
  BOOST_TEST(!cluster->normal());
  BOOST_TEST_REQUIRE(becomes_normal(*cluster));
  for (const NodeId node : cluster->nodes()) cluster->kill(node);
  start_both(*cluster);
  BOOST_TEST(!cluster->normal());
  BOOST_TEST(becomes_normal(*cluster));
  BOOST_TEST(cluster->terminate_all());
}

BOOST_AUTO_TEST_CASE(leaves_in_order_when_it_is_told_so_while_it_begins) {
  start_both(*cluster);
  BOOST_TEST(cluster->terminate_all());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(demo, Demo)

BOOST_AUTO_TEST_CASE(kill_and_restart_hold_every_promise) {
  const Ran ran =
      demo(wait + "run 500ms\nkill coordinator\n" + wait + "run 500ms\nstart coordinator\n" + wait +
           "kill lowest highest-member\n" + wait + "start all\n" + wait + "run 500ms\n");
  ends_well(ran, {"kill -9: node 5, the coordinator", "because node 5 failed",
                  "node 5 recovers, life 2", "because node 5 recovered", "All held: 3 faults"});
  for (char c : ran.output)
    BOOST_REQUIRE((c == '\n' || std::isprint(static_cast<unsigned char>(c)) != 0));
}

BOOST_AUTO_TEST_CASE(of_the_invitation_holds_what_that_promises) {
  const Ran ran =
      demo(wait + "run 500ms\nkill coordinator\n" + wait + "start all\n" + wait + "run 500ms\n",
           "--nodes 3 --protocol invitation");
  ends_well(ran, {"begins Merge and invites others", "3a           holds"});
  BOOST_TEST(!says(ran, "1a "), ran.output);
  BOOST_TEST(says(ran, "All held: 1 fault,"), ran.output);
}

BOOST_AUTO_TEST_CASE(all_down_and_up_again_keep_every_accepted_record) {
  const Ran ran =
      demo(wait + "run 1s\nkill all\nstart all\n" + wait + "run 500ms\n", "--nodes 3 --json");
  ends_well(ran, {"\"held\":true"});
  const std::string promise = "every accepted record is in its node's store\",\"holds\":true";
  BOOST_TEST(says(ran, promise), ran.output);
  BOOST_TEST(!says(ran, promise + ",\"checked\":0"), ran.output);
}

BOOST_AUTO_TEST_CASE(what_was_waited_for_in_vain_is_1_and_keeps_the_directory) {
  const auto kept = path / "run";
  const Ran ran = demo(
      wait + "wait normal\npause all\nresume 1\n" + "wait normal within 1ms\nresume all\n" + wait,
      "--nodes 3 --dir " + kept.string());
  says_why(ran, 1, kept.string());
  BOOST_TEST(says(ran, "DOES NOT HOLD: "), ran.output);
  BOOST_TEST(std::filesystem::exists(kept / "n1" / "journal.jsonl"));
}

BOOST_AUTO_TEST_CASE(a_step_that_cannot_be_done_is_2_with_its_line) {
  says_why(demo(wait + "start 3\n", "--nodes 3"), 2, "demo.script:2: start 3");
}

BOOST_AUTO_TEST_CASE(a_directory_of_an_earlier_demo_is_gone_on_with) {
  const std::string more = "--nodes 3 --dir " + (path / "run").string();
  BOOST_TEST(demo(wait + "run 300ms\n", more).code == 0);
  ends_well(demo(wait + "run 300ms\n", more), {"node 3 recovers, life 2: it was last in group"});
  BOOST_TEST(std::filesystem::exists(path / "run" / "earlier" / "1" / "faults.jsonl"));
}

BOOST_AUTO_TEST_CASE(its_nodes_end_with_it_however_it_ends) {
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGKILL}) {
    const Demo other;
    const auto run = other.path / "run";
    std::ofstream(other.path / "s") << wait << "pause 2\nrun 1000s\n";
    const auto output = other.path / "output";
    auto demo = Process::launch(muster_with({"demo", "--nodes", "3", "--T", "2s", "--dir",
                                             run.string(), "--script", (other.path / "s").string()},
                                            output));
    BOOST_REQUIRE(demo.has_value());
    wait_until_says(*demo, output, "SIGSTOP: node 2");
    demo->signal(number);
    const int status = demo->wait();
    if (number == SIGKILL)
      BOOST_TEST((WIFSIGNALED(status) && WTERMSIG(status) == number), describe_end(status));
    else
      says_why({WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_all(output)}, 130,
               "interrupted before the end of the script");
    // A node that outlived its demo would still lock its store, and the node of the next demo would
    // end with 75. The kernel needs a moment to end the nodes.
    Ran next;
    do {
      next = other.demo(wait, "--nodes 3 --dir " + run.string());
    } while (next.code == 1 && says(next, "75"));
    BOOST_TEST(next.code == 0, next.output);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::apps
