#include "real_nodes.hpp"

/// Nodes that start from a restored, older store, and from a store of an older program.

namespace muster::apps {
namespace {

namespace fs = std::filesystem;

void copy_store(const fs::path& from, const fs::path& to) {
  fs::create_directory(to);
  fs::permissions(to, fs::perms::owner_all);
  for (const char* const own : {"safe.sqlite", "safe.sqlite-wal"}) {
    fs::copy_file(from / own, to / own, fs::copy_options::overwrite_existing);
    fs::permissions(to / own, fs::perms::owner_read | fs::perms::owner_write);
  }
}

/// The store of node `count`, the highest, was copied after it had been in a group with the others.
/// The copy was restored after the node had been in another group.
struct Restored : RealNodes {
  explicit Restored(std::uint32_t count) : RealNodes(count), highest(count) {
    for (std::uint32_t id = 1; id <= count; ++id) restart(id);
    await_coordinator(highest, {1, highest});
    BOOST_TEST_REQUIRE(leave(highest).code == 0);
    copy_store(store(), file("copy"));
    restart(highest);
    await_coordinator(highest, {1, highest});
    BOOST_TEST_REQUIRE(leave(highest).code == 0);
    copy_store(file("copy"), store());
  }

  [[nodiscard]] fs::path store() const { return file("n" + std::to_string(highest)); }
  void is_refused() {
    fs::remove(log(highest));
    node(highest);
    const Ran ran = end(highest);
    BOOST_TEST(ran.code == 65, ran.output);
    BOOST_TEST(says(ran,
                    "its safe storage is older than what peers have seen (incarnation 2, they saw "
                    "another process with that incarnation): restore its newest copy, or run this "
                    "node with --initialise"),
               ran.output);
  }

  std::uint32_t highest;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(a_store_from_before_the_last_start)

BOOST_AUTO_TEST_CASE(is_refused_as_often_as_it_is_started) {
  Restored nodes(3);
  nodes.is_refused();
  nodes.is_refused();
  nodes.restart(3, {"--initialise"});
  nodes.await_coordinator(3, {1, 2, 3});
  nodes.restart(3);
  nodes.await_coordinator(3, {1, 2, 3});
}

BOOST_AUTO_TEST_CASE(is_refused_by_later_lives_of_those_that_met_what_it_was) {
  Restored nodes(3);
  for (std::uint32_t id : {1u, 2u}) nodes.restart(id);
  nodes.is_refused();
}

// A single address that refuses this node's life could belong to an unauthenticated peer. So the
// node does not end when it hears that refusal, but it does not work either.
BOOST_AUTO_TEST_CASE(keeps_its_node_from_work_in_a_cluster_of_two) {
  Restored nodes(2);
  nodes.restart(2);
  const Ran status = nodes.await_outvoted(2);
  BOOST_TEST(says(status, "the lives of this node: it has already seen incarnation 2"),
             status.output);
  nodes.await_coordinator(1, {1});
  nodes.restart(2, {"--initialise"});
  nodes.await_coordinator(2, {1, 2});
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(a_store_of_format_one_goes_on_as_the_same_node) {
  RealNodes nodes(3);
  nodes.cluster.name = "demo";
  copy_store(fs::path(MUSTER_GOLDEN) / "format-1", nodes.file("n3"));
  for (std::uint32_t id : {1u, 3u}) nodes.restart(id);
  nodes.restart(2, {"--initialise"});  // according to node 3's store, node 2 has had nine lives
  nodes.await_coordinator(3, {1, 2, 3});
  BOOST_TEST(says(nodes.ask(3, "status --json"), "\"incarnation\":4"));
  nodes.restart(3);
  nodes.await_coordinator(3, {1, 2, 3});
}

}  // namespace muster::apps
