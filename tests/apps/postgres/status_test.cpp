#include "apps/postgres/decide/status.hpp"
#include "apps/postgres/script.hpp"

#include <boost/test/unit_test.hpp>

// Tests the status of a cluster that people read, made from the answers of its nodes.

namespace muster::postgres::test {
namespace {

const GroupNumber seventh{7, three};

NodeSaid follows() {
  NodeSaid said;
  said.normal = said.replica = true;
  said.is = "node is Normal";
  said.group = seventh;
  said.doing = "node 2 has the newest data of 3 nodes";
  return said;
}

NodeSaid leads() {
  NodeSaid said = follows();
  said.replica = false;
  said.primary = true;
  return said;
}

NodeSaid silent() {
  NodeSaid said;
  said.unreachable = "nobody listens at 127.0.0.1:7103";
  return said;
}

/// Node 2 is the primary of three, and both other nodes follow.
Heard calm() {
  PrimarySaid primary{{seventh, two, 4, {900}},
                      Copies{{one, two, three}, 2},
                      "2026-11-26T21:30:54Z",
                      {{"n1", true, 0, 0}, {"n3", true, 1'234, 56'789'000}},
                      {}};
  return {
      {{one, two, three}, 2}, {{one, follows()}, {two, leads()}, {three, follows()}}, primary, {}};
}

std::string words(const Heard& heard) {
  return in_words(status_of(heard));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(status)

// The node that shows the status may have another node list than the primary has.
BOOST_AUTO_TEST_CASE(it_is_written_by_the_list_of_the_primary) {
  Heard heard = calm();
  heard.primary->copies = Copies{{one, two, three, NodeId{4}}, 3, {}, 2};
  const std::string said = status_of(heard).counts_on;
  BOOST_TEST(said ==
             "3 of 4 nodes (generation 2) hold each commit before it is acknowledged; 2 other "
             "nodes follow, and 2 are needed");
  BOOST_TEST(status_of(heard).generation.value() == 2U);
}

BOOST_AUTO_TEST_CASE(a_cluster_that_is_written) {
  BOOST_TEST(
      words(calm()) ==
      "primary  node 2 since 2026-11-26T21:30:54Z, group 7.3, timeline 4\n"
      "now      2 of 3 nodes hold each commit before it is acknowledged; 2 other nodes follow, "
      "and 1 is needed\n"
      "why      node 2 has the newest data of 3 nodes\n"
      "node  role         behind    to replay  does\n"
      "1     replica      0 B       0 B        follows\n"
      "2     primary      -         -          takes writes\n"
      "3     replica      1.2 kB    56.8 MB    follows\n");
  BOOST_TEST(status_of(calm()).writable);
}

// The promise is not said to hold while something breaks it.
BOOST_AUTO_TEST_CASE(a_client_that_bears_the_name_of_a_node_is_said) {
  Heard heard = calm();
  heard.primary->impostors = {{"n3", "10.0.0.9", 4711}};
  const ClusterStatus status = status_of(heard);
  BOOST_TEST(status.counts_on ==
             "commits may be acknowledged that no other node holds: see the warning");
  BOOST_TEST_REQUIRE(status.warnings.size() == 1U);
  BOOST_TEST(says(words(heard), "\nwarning  process 4711 serves a client at 10.0.0.9 that"));
  heard.primary->impostors.clear();
  heard.primary->foreign_names = "ANY 1 (x)";
  BOOST_TEST(says(words(heard), "\nwarning  Muster did not start this PostgreSQL"));
}

BOOST_AUTO_TEST_CASE(one_that_is_cloned_and_one_that_does_not_answer) {
  Heard heard = calm();
  heard.nodes[one].replica = false;
  heard.nodes[one].doing = "is cloned";
  heard.nodes[three] = silent();
  heard.primary->standbys = {{"mend_n1", false, {}, {}}};
  heard.primary->clones = {{one, 1'200'000'000, 3'400'000'000}};
  BOOST_TEST(
      words(heard) ==
      "primary  node 2 since 2026-11-26T21:30:54Z, group 7.3, timeline 4\n"
      "now      commits wait until more nodes follow: 0 other nodes follow, and 1 is needed\n"
      "why      node 2 has the newest data of 3 nodes\n"
      "node  role         behind    to replay  does\n"
      "1     none         -         -          is cloned: 1.2 GB of about 3.4 GB\n"
      "2     primary      -         -          takes writes\n"
      "3     unreachable  -         -          nobody listens at 127.0.0.1:7103\n");
  BOOST_TEST(!status_of(heard).writable);
  // A standby counts only if it streams under its own name.
  heard.primary->standbys = {{"n1", false, 5, 5}};
  BOOST_TEST(!status_of(heard).writable);
  heard.primary->standbys = {{"n1", true, 5, 5}};
  BOOST_TEST(status_of(heard).writable);
  BOOST_TEST(status_of(heard).counts_on ==
             "2 of 3 nodes hold each commit before it is acknowledged; 1 other node follows, and 1 "
             "is needed");
  // A standby does not count if its name is no node's name.
  heard.primary->standbys = {{"n9", true, 5, 5}, {"mend_n1", true, 5, 5}};
  BOOST_TEST(!status_of(heard).writable);
}

BOOST_AUTO_TEST_CASE(a_primary_whose_database_is_not_reached_from_here) {
  Heard heard = calm();
  heard.primary.reset();
  heard.primary_silent = "no answer within 2000.0 ms";
  const ClusterStatus status = status_of(heard);
  BOOST_TEST(status.writable);
  BOOST_TEST(status.since == "");
  BOOST_TEST(status.counts_on == "2 of 3 nodes hold each commit before it is acknowledged");
  BOOST_TEST(
      status.why ==
      "the primary's PostgreSQL does not say which nodes follow: no answer within 2000.0 ms");
  BOOST_TEST(words(heard).find("primary  node 2, group 7.3\n") == 0U);
}

BOOST_AUTO_TEST_CASE(who_is_told_to_follow_and_does_not_stream_is_said_to_be_that) {
  Heard heard = calm();
  heard.primary->standbys.clear();
  BOOST_TEST(says(words(heard), "should follow, but does not stream from the primary"));
}

BOOST_AUTO_TEST_CASE(a_primary_beside_a_witness_may_be_alone) {
  Heard heard = calm();
  heard.copies = {{one, two}, 2, {three}};
  heard.primary->alone = true;
  heard.nodes[three] = silent();
  const ClusterStatus status = status_of(heard);
  BOOST_TEST(status.writable);
  BOOST_TEST(status.alone);
  BOOST_TEST(status.counts_on.find("node 2 alone has each commit") == 0U);
  BOOST_TEST(status.nodes.at(2).does.find("the witness: ") == 0U);
}

BOOST_AUTO_TEST_CASE(of_two_that_say_so_the_later_group_has_the_primary) {
  Heard heard = calm();
  heard.nodes[three] = leads();
  heard.nodes[three].group = GroupNumber{8, three};
  BOOST_TEST(primary_of(heard.nodes) == three);
  heard.nodes[three].group = GroupNumber{6, three};
  BOOST_TEST(primary_of(heard.nodes) == two);
}

BOOST_AUTO_TEST_CASE(why_nobody_writes) {
  Heard heard = calm();
  heard.primary.reset();
  heard.nodes[two] = silent();
  heard.nodes[three] = silent();
  const auto why = [&heard] {
    const ClusterStatus status = status_of(heard);
    BOOST_TEST(!status.primary);
    BOOST_TEST(!status.writable);
    BOOST_TEST(status.counts_on == "no commit is acknowledged by a node that answers");
    return status.why;
  };
  BOOST_TEST(why() == "only 1 of 3 nodes answers here, but more than half are needed");
  heard.nodes[two] = follows();
  BOOST_TEST(why() == "no node is the primary, and no node says why; ask again");
  heard.nodes[two].replica = false;
  heard.nodes[two].doing = "waits until other nodes have the marker of its group";
  BOOST_TEST(why() == "node 2 waits until other nodes have the marker of its group");
  heard.nodes[one].normal = false;
  heard.nodes[one].is = "node 1 is in Election";
  BOOST_TEST(why() == "node 1 is in Election");
  heard.nodes[two].doing = "nobody writes: 1 of the 2 nodes that are needed have data here";
  BOOST_TEST(why() == "nobody writes: 1 of the 2 nodes that are needed have data here");
  BOOST_TEST(words(heard).find("primary  none\nnow      no commit is acknowledged") == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::postgres::test
