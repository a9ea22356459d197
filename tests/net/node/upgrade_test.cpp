#include "cluster.hpp"

#include <muster/net/admin.hpp>

#include <map>
#include <memory>
#include <set>
#include <string>

/// A cluster moves from one wire version to the next, node by node. Some processes of the cluster
/// also speak the next version.

using namespace muster;
using namespace muster::test;

namespace {

const char* const older = "wire=2-2";
const char* const both = "wire=2-3";
const char* const next = "wire=3-3";

/// Three processes, each with a store that its next life finds.
struct Rolling {
  explicit Rolling(ClusterOptions options = {.nodes = 3}) : cluster(std::move(options)) {}

  void start(std::uint32_t id, const char* speaks) {
    processes[id] = cluster.spawn(id, {speaks, "hold_down=0", "admin_socket=" + socket(id)});
  }
  [[nodiscard]] std::string socket(std::uint32_t id) const {
    return cluster.directory() / (std::to_string(id) + ".sock");
  }
  void leave(std::uint32_t id) {
    BOOST_TEST(processes.at(id)->end_in_order() == 0);
    processes.erase(id);
  }
  /// Lets the node leave and come back with the other version. The others must form one group
  /// without it and then one with it, and no further group.
  void change(std::uint32_t id, const char* speaks) {
    std::set<std::uint32_t> others{1, 2, 3};
    others.erase(id);
    cluster.await_group({1, 2, 3});
    const std::size_t before = groups();
    leave(id);
    cluster.await_group(others);
    start(id, speaks);
    cluster.await_group({1, 2, 3});
    BOOST_TEST(groups() == before + 2);
  }
  /// The number of groups formed so far.
  [[nodiscard]] std::size_t groups() const {
    std::set<GroupNumber> all;
    for (const journal::Line& line : cluster.journals.merged())
      if (const auto* step = std::get_if<journal::Step>(&line);
          step && step->view.status == Status::Normal)
        all.insert(step->view.group.value());
    return all.size();
  }
  /// Waits until the node's status shows these wire versions for its sessions.
  void await_wire(std::uint32_t id, const std::string& wire) {
    cluster.await("node " + std::to_string(id) + " speaks " + wire, [&] {
      const auto status = net::ask_admin(socket(id), Bell::generous);
      return status && status->find("\"wire\":" + wire + ",") != std::string::npos;
    });
  }

  Cluster cluster;
  std::map<std::uint32_t, std::unique_ptr<Process>> processes;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(upgrades)

BOOST_AUTO_TEST_CASE(one_after_the_other_speak_with_each_in_the_newest_version_of_both) {
  Rolling nodes;
  for (std::uint32_t id : {1U, 2U, 3U}) nodes.start(id, older);
  nodes.await_wire(3, "[[1,2],[2,2]]");
  nodes.change(1, both);
  nodes.await_wire(1, "[[2,2],[3,2]]");
  nodes.change(2, both);
  nodes.await_wire(2, "[[1,3],[3,2]]");
  nodes.change(3, both);
  nodes.await_wire(3, "[[1,3],[2,3]]");
  // A node may also go back to the older version.
  nodes.change(2, older);
  nodes.await_wire(3, "[[1,3],[2,2]]");
  for (std::uint32_t id : {1U, 2U, 3U}) nodes.leave(id);
  nodes.cluster.judge();
}

BOOST_AUTO_TEST_CASE(to_a_version_that_the_others_do_not_speak_take_no_part_and_say_why) {
  ClusterOptions options{.nodes = 3};
  // For this time a node waits after it has found a node that differs.
  options.timings.stop_deadline = std::chrono::seconds(2);
  Rolling nodes(std::move(options));
  for (std::uint32_t id : {2U, 3U}) nodes.start(id, older);
  nodes.cluster.await_group({2, 3});
  nodes.start(1, next);
  // Which node is refused first depends on which node dials first.
  const auto await_said = [&](std::uint32_t id, const std::string& text) {
    nodes.cluster.await(text, [&] { return nodes.processes.at(id)->says(text); });
  };
  await_said(1, "takes no part, because many nodes differ from it");
  for (std::uint32_t id : {1U, 2U, 3U}) await_said(id, "wire versions that do not meet (");
  nodes.cluster.await_group({2, 3});
  nodes.leave(1);
  nodes.start(1, both);
  nodes.cluster.await_group({1, 2, 3});
  for (std::uint32_t id : {1U, 2U, 3U}) nodes.leave(id);
  nodes.cluster.judge();
}

BOOST_AUTO_TEST_SUITE_END()
