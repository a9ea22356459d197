#include "cluster.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>

/// Slow hooks, and reports and definitions of any size. The tests in net/application cover failing
/// hooks. ends_test.cpp also covers failing hooks that end the process.

using namespace muster;
using namespace muster::test;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(outcomes)

// A node answers questions during a slow hook, so no node takes it for dead.
BOOST_AUTO_TEST_CASE(a_slow_start_keeps_nobody_from_answering) {
  Timings timings = patient();
  timings.check_every = 50ms;
  Cluster cluster({.nodes = 2, .timings = timings});
  cluster.stage.hold(NodeId{1}, Hook::start);
  cluster.join(2);
  cluster.start(1);
  Cue cue = cluster.stage.take(NodeId{1}, Hook::start);
  const std::size_t before = cluster.journals.count(NodeId{2});
  std::size_t from = before;
  for (int answers = 0; answers < 3; ++answers)
    from = 1 + cluster.await_line(2, "an answer of node 1", from, is_step<Received>);
  cue.complete();
  cluster.await_group({1, 2});
  BOOST_TEST(events<Unanswered>(cluster.journals.lines(NodeId{2}, before)).empty());
  cluster.judge();
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(sizes)

namespace data = boost::unit_test::data;

// The default limit of sizes, and the largest limit that can be set.
BOOST_DATA_TEST_CASE(reports_and_definitions_of_the_limit_are_carried_whole,
                     data::make({32u * 1024u, 60u * 1024u}), limit) {
  const auto limits = [bytes = limit](NodeId, net::NodeOptions& node) {
    node.limits.report = node.limits.definition = bytes;
  };
  Cluster cluster({.sqlite = true, .alter = limits});
  Bytes whole;
  for (std::size_t at = 0; at < limit; ++at) whole.data += static_cast<char>(at * 7 % 256);
  for (std::uint32_t id = 1; id <= 3; ++id)
    for (const Hook hook : {Hook::stop, Hook::reorganize})
      cluster.stage.play(NodeId{id}, hook, [&](Cue cue) { cue.complete(whole); });
  cluster.join_all();
  for (const Called& called : cluster.stage.calls()) {
    if (called.hook == Hook::start) BOOST_CHECK(called.definition == whole);
    for (const Member& member : called.members) BOOST_CHECK(member.holdings.report == whole);
  }
  cluster.judge();
}

BOOST_AUTO_TEST_SUITE_END()
