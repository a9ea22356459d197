#include "cluster.hpp"

#include <unistd.h>

/// A process that gets no more descriptors, threads or memory.

using namespace muster;
using namespace muster::test;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(shortage)

namespace {

/// T is so long that a call never becomes unanswered by silence within a test.
Timings without_silence() {
  Timings timings = patient(10min);
  timings.reorganize_deadline = timings.T;
  return timings;
}

/// True if the process is root. Only then it can become a user that limits bind.
boost::test_tools::assertion_result is_root(boost::unit_test::test_unit_id) {
  return ::geteuid() == 0;
}

}  // namespace

// First the node holds an election, in which only a refused dial can prove that the other node is
// down. That dial needs a descriptor. Then the other node begins its life, and accepting its
// connection needs a descriptor. If the process had no descriptor, the test could go on only after
// a silence of T, and T is too long for that.
BOOST_AUTO_TEST_CASE(of_descriptors_leaves_one_to_dial_and_to_accept_with) {
  Cluster cluster({.nodes = 2, .timings = without_silence()});
  const auto process = cluster.spawn(2, {"reorganize=descriptors"});
  cluster.await_group({2});
  cluster.start(1);
  cluster.await_group({1, 2});
  BOOST_TEST(process->says("no file descriptor is left for connections: raise the limit"));
  BOOST_TEST(process->end_in_order() == 0);
  cluster.judge();
}

// Here not even the reserved descriptor is free. So the node cannot dial a third node, and treats
// that node as silent. But nodes with a session still exchange questions and answers.
BOOST_FIXTURE_TEST_CASE(of_descriptors_is_no_death_where_a_session_stands, Judged<3>) {
  const auto process = spawn(2, {"reorganize=descriptors"});
  await_group({2});
  start(1);  // the connection of this node takes the last descriptor
  const GroupNumber group = await_group({1, 2});
  BOOST_TEST(process->end_in_order() == 0);
  journals.read_all();
  for (std::uint32_t id : {1u, 2u})
    for (const Failed& failed : events<Failed>(journals.lines(NodeId{id})))
      BOOST_TEST((failed.node == NodeId{2} && id == 1), "after it has left, and not before");
  BOOST_TEST(group.coordinator == NodeId{2});
}

// When a hook is cancelled, a new thread requests the stop of the hook's token.
BOOST_AUTO_TEST_CASE(of_threads_ends_the_process_with_74,
                     *boost::unit_test::precondition(is_root)) {
  Timings timings = patient();
  timings.start_deadline = 100ms;
  Cluster cluster({.nodes = 1, .timings = timings});
  const auto process = cluster.spawn(1, {"stop=threads", "start=hang", "store=memory"});
  BOOST_TEST(process->wait() == 74);
  BOOST_TEST(process->says("node 1: no thread is left ("));
  BOOST_TEST(process->says("raise the limit (ulimit -u)"));
  BOOST_TEST(process->errors().size() == 1u);
}

BOOST_FIXTURE_TEST_CASE(of_memory_ends_the_process_with_74, Nodes<1>) {
  const auto process = spawn(1, {"left=memory"});
  await_group({1});
  process->end_of_words();
  BOOST_TEST(process->wait() == 74);
  BOOST_TEST(process->says("node 1: there is no memory left"));
  BOOST_TEST(process->errors().size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
