#include "cluster.hpp"

#include <muster/values/text.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>

#include <csignal>

/// The ways in which a node ends its process: the exit code, the sentence on standard error, and
/// the last line of its journal.

using namespace muster;
using namespace muster::test;
using namespace std::chrono_literals;
namespace data = boost::unit_test::data;

namespace {

Timings short_deadlines() {
  Timings timings = patient();
  timings.stop_deadline = timings.start_deadline = 100ms;
  timings.reorganize_deadline = timings.T;
  return timings;
}

/// Node 1's process has ended with this code. The last line on standard error and the last line of
/// the journal give the reason.
void check_end(Cluster& cluster, Process& process, int code, const std::string& what) {
  BOOST_TEST(process.wait() == code);
  const auto errors = process.errors();
  BOOST_TEST_REQUIRE(!errors.empty());
  const std::string& line = errors.back();
  BOOST_TEST(line.find(" error muster: ") == std::string("2026-11-21T22:05:12.345Z").size(), line);
  BOOST_TEST(says(line, what));
  BOOST_TEST(says(line, "exit code " + std::to_string(code)));
  cluster.journals.read_all();
  const journal::Ended ended = ended_in(cluster.journals.lines(NodeId{1}));
  BOOST_TEST(ended.code == code);
  BOOST_TEST(says(ended.why, what));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ends)

// If the process went on, the node could not know whether the application has ceased.
BOOST_AUTO_TEST_CASE(a_stop_that_goes_wrong_ends_the_process_with_76) {
  for (const auto& [words, what] :
       {std::pair("stop=fail", "stop failed: as it was told"),
        std::pair("stop=hang", "stop overran stop_deadline = 100 ms")}) {
    Cluster cluster({.nodes = 1, .timings = short_deadlines()});
    const auto process = cluster.spawn(1, {words});
    check_end(cluster, *process, 76, what);
    BOOST_TEST(process->errors().size() == 1u);
    cluster.judge();
  }
}

// A node that waited for the disk would never leave. The node may leave without the disk, because
// everything that it has promised is durable.
BOOST_AUTO_TEST_CASE(who_is_to_leave_does_not_wait_for_a_disk_that_hangs) {
  Cluster cluster({.nodes = 1, .timings = short_deadlines()});
  const auto process = cluster.spawn(1, {"hang_save=2", "T=100"});
  process->end_of_words();
  check_end(cluster, *process, 74,
            "node 1 could not leave in order within 300 ms: its disk did not answer in that time");
  cluster.judge();
}

// The hung member is proven dead, and the others go on without it.
BOOST_FIXTURE_TEST_CASE(the_others_go_on_without_a_process_that_ended_itself, Judged<3>) {
  start(2);
  join(3);
  const auto process = spawn(1, {"start=hang", "start_deadline=100", "stop_deadline=100"});
  check_end(
      *this, *process, 76,
      "a hook did not end within stop_deadline = 100 ms after it was cancelled; allow more time");
  await_group({2, 3});
}

BOOST_AUTO_TEST_CASE(an_application_that_writes_what_it_may_not_ends_with_76) {
  for (const auto& [word, what] : {std::pair('w', "a cell whose key has 600 bytes"),
                                   std::pair('o', "those are the node's own")}) {
    Cluster cluster({.nodes = 1});
    const auto process = cluster.spawn(1, {});
    cluster.await_group({1});
    process->tell(word);
    check_end(cluster, *process, 76, what);
    cluster.judge();
  }
}

// The work that follows the throwing call is lost, whatever code made that call.
BOOST_DATA_TEST_CASE(what_an_application_posts_or_is_told_by_may_not_throw,
                     data::make({"posted", "posted_after", "durable", "scanned", "answered",
                                 "permitted"}),
                     where) {
  Cluster cluster({.nodes = 1});
  const auto process = cluster.spawn(1, {std::string("throws=") + where});
  check_end(cluster, *process, 76,
            "node 1: a task or a callback of the application threw (catch it there): as it was "
            "told; fix the application, then start the node again");
  BOOST_TEST(process->errors().size() == 1u);
  cluster.judge();
}

// The node has stepped back and cannot save a higher incarnation. The node must not listen again,
// because another process could begin a life with the same number.
BOOST_AUTO_TEST_CASE(a_next_life_that_cannot_begin_durably_does_not_begin) {
  // The node waits T before the third `reorganize`.
  Cluster cluster({.nodes = 1, .timings = patient(1s)});
  const auto process = cluster.spawn(
      1, {"reorganize=fail", "fail_save=3"});  // the saves: a life, a group, the next life
  cluster.await("its end, or another life", [&] {
    const auto lines = cluster.journals.lines(NodeId{1});
    const auto* ended = lines.empty() ? nullptr : std::get_if<journal::Ended>(&lines.back());
    return (ended && ended->code == 74) || cluster.journals.life(NodeId{1}).value == 2;
  });
  process->end_of_words();
  check_end(cluster, *process, 74, "cannot write safe.sqlite: gone");
  BOOST_TEST(cluster.journals.life(NodeId{1}).value == 1u);
  cluster.judge();
}

// The node never answers Ready. The answer would promise that the data of the failed Save is
// durable.
BOOST_FIXTURE_TEST_CASE(nothing_is_sent_after_a_save_that_failed, Judged<2>) {
  join(2);
  const auto process = spawn(1, {"fail_save=3"});  // saves: its life, the group number, Ready
  check_end(*this, *process, 74, "cannot write safe.sqlite: gone");
  await_group({2});
  journals.read_all();
  for (const journal::Line& line : journals.lines(NodeId{2}))
    BOOST_TEST(!is_answer_from<Installed>(NodeId{1})(line));
  const auto lines = journals.lines(NodeId{1});
  BOOST_TEST(is_letter<Ready>(lines.at(lines.size() - 2)));
}

BOOST_FIXTURE_TEST_CASE(a_node_that_leaves_ends_in_order_with_0, Judged<1>) {
  const auto process = spawn(1, {});
  await_group({1});
  BOOST_TEST(process->end_in_order() == 0);
  BOOST_TEST(process->errors().empty());
  journals.read_all();
  BOOST_TEST(ended_in(journals.lines(NodeId{1})).code == 0);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(emptiness)

// Node 1 has two lives, and then its store is lost.
void wipe_after_two_lives(Cluster& cluster, const std::set<std::uint32_t>& others) {
  for (const std::uint32_t other : others) cluster.start(other);
  std::set<std::uint32_t> all = others;
  all.insert(1);
  for (int life = 1; life <= 2; ++life) {
    const auto process = cluster.spawn(1, {});
    cluster.await_group(all);
    BOOST_TEST(process->end_in_order() == 0);
    cluster.await_group(others);
  }
  cluster.wipe(1);
}

BOOST_AUTO_TEST_CASE(a_wiped_node_ends_with_65_and_names_the_way_out) {
  Cluster cluster({.nodes = 3, .sqlite = true});
  wipe_after_two_lives(cluster, {2, 3});
  const auto wiped = cluster.spawn(1, {});
  check_end(cluster, *wiped, 65, "or run this node with --initialise");
  const std::string line = wiped->errors().back();
  BOOST_TEST(says(line, "incarnation 1, they saw 2"));
  cluster.await_group({2, 3});
  cluster.judge({"durable"});
}

// A single address could belong to an unauthenticated peer (docs/reference/failures.md). So the
// node records that refusal, but goes on alone.
BOOST_AUTO_TEST_CASE(a_wiped_node_of_two_is_told_and_not_ended) {
  Cluster cluster({.nodes = 2, .sqlite = true});
  wipe_after_two_lives(cluster, {2});
  const auto wiped = cluster.spawn(1, {});
  cluster.await("it is told the way out", [&] {
    return wiped->says(
        "2 was seen of it; if its store was emptied or restored, start it once with --initialise");
  });
  BOOST_TEST(wiped->end_in_order() == 0);
}

BOOST_AUTO_TEST_CASE(a_node_that_is_initialised_adopts_a_later_life_durably) {
  bool initialise = false;
  Cluster cluster({.nodes = 2, .alter = [&](NodeId, net::NodeOptions& node) {
                     node.lives.initialise = initialise;
                   }});
  cluster.start(2);
  cluster.join(1);
  cluster.kill(1);
  cluster.join(1);
  cluster.kill(1);
  cluster.wipe(1);
  initialise = true;
  cluster.start(1);
  cluster.await("the adopted life", [&] { return cluster.journals.life(NodeId{1}).value == 3; });
  cluster.await_group({1, 2});
  BOOST_TEST(says(cluster.node(1).status_json(), "\"incarnation\":3"));
  cluster.leave(1);
  BOOST_TEST(cluster.cells(1).safe.incarnation.value == 3u);
  cluster.judge({"durable"});
}

// Its peers know incarnation 1, and the empty store begins with that same number.
BOOST_AUTO_TEST_CASE(a_store_wiped_after_its_first_life_starts_again_as_well) {
  Cluster cluster(
      {.nodes = 2, .alter = [](NodeId, net::NodeOptions& node) { node.lives.initialise = true; }});
  cluster.start(2);
  cluster.join(1);
  cluster.kill(1);
  cluster.wipe(1);
  cluster.start(1);
  cluster.await("the adopted life", [&] { return cluster.journals.life(NodeId{1}).value == 2; });
  cluster.await_group({1, 2});
  cluster.judge({"durable"});
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(clones)

// Two processes with one id begin from copies of one store. The other nodes refuse the process that
// starts later, and the logs of both sides name that process. The group goes on undisturbed.
BOOST_AUTO_TEST_CASE(a_clone_is_refused_and_named) {
  Cluster cluster({.nodes = 2});
  const auto parent = cluster.spawn(1, {});
  cluster.await_group({1});
  BOOST_TEST(parent->end_in_order() == 0);
  const std::string elsewhere = cluster.make_directory("elsewhere");
  std::filesystem::copy(cluster.directory() / "store1", elsewhere + "/store1",
                        std::filesystem::copy_options::recursive);
  std::filesystem::permissions(elsewhere + "/store1", std::filesystem::perms::owner_all);
  const auto second = cluster.spawn(2, {});
  const auto original = cluster.spawn(1, {});
  const GroupNumber group = cluster.await_group({1, 2});

  Ports port(1);
  const std::string addresses = "127.0.0.1:" + std::to_string(port[0]) + "," +
                                cluster.options_of(1).network.addresses.at(NodeId{2});
  const auto clone = cluster.spawn(1, {"directory=" + elsewhere, "addresses=" + addresses});
  const std::string named = "two processes say that they are incarnation 2 of node 1";
  cluster.await("the clone to be refused", [&] { return clone->says("refuses this node"); });
  BOOST_TEST(clone->says(named));
  cluster.await("its name", [&] { return second->says(named); });
  BOOST_TEST(cluster.journals.view(NodeId{1})->group == group);
  BOOST_TEST(cluster.journals.view(NodeId{2})->group == group);
  clone->signal(SIGKILL);
  clone->wait();
  cluster.judge();
}

BOOST_AUTO_TEST_SUITE_END()
