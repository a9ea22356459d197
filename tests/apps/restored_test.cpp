#include "real_nodes.hpp"

/// Nodes that begin from a store as it was before, and from one that an older program has left.

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

/// Node `count`, the highest, has been in a group with the others; its store was copied after that,
/// and put back after it was in another.
struct Restored : RealNodes {
  explicit Restored(std::uint32_t count) : RealNodes(count), highest(count) {
    for (std::uint32_t id = 1; id <= count; ++id) begin_anew(id);
    await_coordinator(highest, {1, highest});
    BOOST_TEST_REQUIRE(leave(highest).code == 0);
    copy_store(store(), file("copy"));
    begin_anew(highest);
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
                    "its safe storage is younger than what peers have seen (incarnation 2, "
                    "they saw another process of that one): restore it, or run this node "
                    "with --initialise to begin anew"),
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
  nodes.begin_anew(3, {"--initialise"});
  nodes.await_coordinator(3, {1, 2, 3});
  nodes.begin_anew(3);
  nodes.await_coordinator(3, {1, 2, 3});
}

BOOST_AUTO_TEST_CASE(is_refused_by_later_lives_of_those_that_met_what_it_was) {
  Restored nodes(3);
  for (std::uint32_t id : {1u, 2u}) nodes.begin_anew(id);
  nodes.is_refused();
}

// One address could be a stranger's: it is not ended, and does not work either.
BOOST_AUTO_TEST_CASE(keeps_its_node_from_work_in_a_cluster_of_two) {
  Restored nodes(2);
  nodes.begin_anew(2);
  const Ran status = nodes.await_outvoted(2);
  BOOST_TEST(says(status, "the lives of this node, of which it has seen 2"), status.output);
  nodes.await_coordinator(1, {1});
  nodes.begin_anew(2, {"--initialise"});
  nodes.await_coordinator(2, {1, 2});
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(a_store_of_format_one_goes_on_as_the_same_node) {
  RealNodes nodes(3);
  nodes.cluster.name = "demo";
  copy_store(fs::path(MUSTER_GOLDEN) / "format-1", nodes.file("n3"));
  for (std::uint32_t id : {1u, 3u}) nodes.begin_anew(id);
  nodes.begin_anew(2, {"--initialise"});  // the store has met a ninth life of it
  nodes.await_coordinator(3, {1, 2, 3});
  BOOST_TEST(says(nodes.ask(3, "status --json"), "\"incarnation\":4"));
  nodes.begin_anew(3);
  nodes.await_coordinator(3, {1, 2, 3});
}

}  // namespace muster::apps
