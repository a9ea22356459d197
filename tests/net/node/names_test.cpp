#include "cluster.hpp"

#include <algorithm>

/// Nodes that are dialled by names and listen elsewhere.

using namespace muster;
using namespace muster::test;

BOOST_AUTO_TEST_SUITE(names)

namespace {

std::string port_of(const std::string& address) {
  return address.substr(address.rfind(':'));
}

}  // namespace

// All addresses of a name are tried one after the other. Perhaps no process listens at the first
// address.
BOOST_AUTO_TEST_CASE(are_resolved_when_they_are_dialled) {
  Cluster cluster({.alter = [](NodeId id, net::NodeOptions& node) {
    node.network.listen = node.network.addresses.at(id);
    for (auto& [other, address] : node.network.addresses) address = "localhost" + port_of(address);
  }});
  cluster.join_all();
  cluster.lose(3);  // each of its addresses refuses, which proves that the node is down
  const auto failed = events<Failed>(cluster.journals.lines(NodeId{2}));
  BOOST_TEST(std::any_of(failed.begin(), failed.end(),
                         [](const Failed& event) { return event.node == NodeId{3}; }));
  cluster.join(3);
  cluster.judge();
}

// Debian's installer maps the machine's own name to 127.0.1.1. A node that listens there cannot be
// reached by others.
BOOST_AUTO_TEST_CASE(that_are_loopback_here_alone_are_not_listened_at) {
  const auto names = [](NodeId, net::NodeOptions& node) {
    node.network.addresses.at(NodeId{1}) =
        "0x7f000001" + port_of(node.network.addresses.at(NodeId{1}));
    node.network.insecure = true;
  };
  Cluster cluster({.nodes = 2, .alter = names});
  BOOST_TEST(says(failure_of(cluster.try_start(1)).what, "listen = \"0.0.0.0:"));
}

// If a device between the nodes can refuse connections, a refused connection counts as silence.
BOOST_AUTO_TEST_CASE(that_nobody_listens_at_is_silence_where_that_is_no_proof) {
  Cluster cluster(
      {.nodes = 2, .alter = [](NodeId, net::NodeOptions& node) { node.network.proofs = false; }});
  cluster.join_all();
  cluster.lose(2);
  BOOST_TEST(events<Failed>(cluster.journals.lines(NodeId{1})).empty());
  cluster.join(2);
  cluster.judge();
}

// A node whose name cannot be resolved may be alive. So other nodes treat it as silent, like a node
// that is cut off.
BOOST_AUTO_TEST_CASE(that_are_not_resolved_are_silence_and_told_once) {
  const auto names = [](NodeId, net::NodeOptions& node) {
    node.network.addresses.at(NodeId{2}) =
        "no-such-host.invalid" + port_of(node.network.addresses.at(NodeId{2}));
  };
  Cluster cluster({.nodes = 2, .alter = names});
  const auto process =
      cluster.spawn(1, {"insecure", "reorganize=fail"});  // one election after another
  std::size_t from = 0;
  for (int elections : {1, 2}) {
    BOOST_TEST_CONTEXT("election " << elections)
    from = 1 + cluster.await_line(1, "silence of node 2", from, is_step<Unanswered>);
  }
  BOOST_TEST(process->end_in_order() == 0);
  cluster.journals.read_all();
  const auto lines = cluster.journals.lines(NodeId{1});
  BOOST_TEST(events<Failed>(lines).empty());
  const auto lives = std::count_if(lines.begin(), lines.end(), is_line<journal::Header>);
  BOOST_TEST(process->says("node 1 uses no encryption"));
  const auto errors = process->errors();
  const std::string said = "node 2 cannot be dialled at no-such-host.invalid:";
  const auto told = std::count_if(errors.begin(), errors.end(), [&](const std::string& line) {
    return line.find(said) != std::string::npos &&
           line.find("the name is not resolved (") != std::string::npos;
  });
  BOOST_TEST(told >= 1);
  BOOST_TEST(told <= lives);
}

BOOST_AUTO_TEST_SUITE_END()
