#include "links.hpp"

#include <muster/claims/verify.hpp>
#include <muster/values/text.hpp>

#include <algorithm>

/// The Invitation algorithm on real nodes: the same Application, and several groups while the
/// network is cut.

using namespace muster;
using namespace muster::test;

namespace {

using namespace std::chrono_literals;

// The deadlines are so long that no hook overruns them. T is so short that groups merge while a
// test waits.
Timings timings() {
  Timings timings = patient(600ms, 200ms);
  timings.stop_deadline = timings.start_deadline = timings.reorganize_deadline = 8s;
  return timings;
}

ClusterOptions inviting(std::uint32_t nodes, Links* links = nullptr) {
  ClusterOptions options{.nodes = nodes, .timings = timings()};
  options.alter = [links](NodeId, net::NodeOptions& node) {
    node.config.protocol = ProtocolName::invitation;
    if (links) links->lead(node);
  };
  return options;
}

/// The names of the assertions that were checked at least once and hold.
std::set<std::string> held(const Cluster& cluster) {
  const auto lines = cluster.journals.merged();
  verify::Foreseer foreseer;
  for (const journal::Line& line : lines) foreseer.take(line);
  verify::Verifier verifier(foreseer.finish(), [](const verify::NotClaimed&) {});
  std::uint64_t number = 0;
  for (const journal::Line& line : lines)
    BOOST_REQUIRE(verifier.take(line, {"merged", ++number}).has_value());
  std::set<std::string> all;
  for (const verify::Verdict& verdict : verifier.finish().verdicts)
    if (const auto* holds = std::get_if<verify::Holds>(&verdict)) all.insert(holds->assertion);
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(invitations)

BOOST_AUTO_TEST_CASE(while_the_network_is_cut_each_side_works_and_when_it_heals_they_merge) {
  Links links;
  Cluster cluster(inviting(5, &links));
  cluster.start_all();
  const GroupNumber whole = cluster.await_together(nodes({1, 2, 3, 4, 5}));
  for (const NodeId node : {NodeId{4}, NodeId{5}}) {
    cluster.journals.note(journal::FaultKind::cut, node, nodes({1, 2, 3}));
    links.cut(node);
  }
  const GroupNumber left = cluster.await_together(nodes({1, 2, 3}));
  const GroupNumber right = cluster.await_together(nodes({4, 5}));
  BOOST_TEST(left != right);
  BOOST_TEST((whole < left && whole < right));
  for (const NodeId node : {NodeId{4}, NodeId{5}}) {
    links.heal(node);
    cluster.journals.note(journal::FaultKind::healed, node);
  }
  const GroupNumber merged = cluster.await_together(nodes({1, 2, 3, 4, 5}));
  BOOST_TEST((left < merged && right < merged));
  cluster.leave_all();
  cluster.judge();
  const auto checked = held(cluster);
  for (const char* assertion : {"3a", "3b", "group-grows", "hook-grammar"})
    BOOST_TEST(checked.contains(assertion), assertion << " was not checked");
  for (const char* assertion : {"1a", "1b", "2", "works-apart"})
    BOOST_TEST(!checked.contains(assertion), assertion << " is not claimed");
}

BOOST_AUTO_TEST_SUITE_END()

// The textbook Bully on real nodes. If crashes are the only faults, the nodes agree.
BOOST_AUTO_TEST_SUITE(textbook_nodes)

BOOST_AUTO_TEST_CASE(agree_on_the_highest_that_is_up) {
  const auto textbook = [](NodeId, net::NodeOptions& node) {
    node.config.protocol = ProtocolName::textbook;
  };
  Cluster cluster({.timings = timings(), .alter = textbook});
  const auto await_agreement = [&](const NodeSet& members, std::uint32_t coordinator) {
    cluster.await("agreement of " + to_text(members), [&] {
      return std::all_of(members.begin(), members.end(), [&](NodeId node) {
        const auto view = cluster.journals.view(node);
        return view && view->status == Status::Normal && view->coordinator == NodeId{coordinator};
      });
    });
  };
  // The highest node starts first, alone. If two nodes won at the same time, every other node would
  // follow the winner whose message came last, and would never change that.
  cluster.start(3);
  await_agreement(nodes({3}), 3);
  cluster.start(1);
  cluster.start(2);
  await_agreement(nodes({1, 2, 3}), 3);
  cluster.kill(3);
  await_agreement(nodes({1, 2}), 2);
  cluster.start(3);
  await_agreement(nodes({1, 2, 3}), 3);
  cluster.leave_all();
  cluster.judge();
}

BOOST_AUTO_TEST_SUITE_END()
