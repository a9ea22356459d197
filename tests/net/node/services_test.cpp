#include "cluster.hpp"
#include "storages.hpp"

#include <muster/net/storage_thread.hpp>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <atomic>
#include <future>
#include <thread>

/// Calls of an application to its services from its own threads.

using namespace muster;
using namespace muster::test;

namespace {

boost::json::object status_of(Cluster& cluster, std::uint32_t id) {
  return boost::json::parse(cluster.node(id).status_json()).as_object();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(services)

// The application's threads wait, since the disk waits. The application's posted functions, its
// hooks and the end of its life do not wait for these threads.
BOOST_AUTO_TEST_CASE(that_wait_for_room_hold_up_neither_hooks_nor_the_protocol) {
  constexpr std::size_t most = net::StorageThread::most_waiting;
  Door door;
  Cluster cluster(
      {.nodes = 1, .between = watched({.write = [&](const CellBatch&) { door.pass(); }})});
  cluster.join(1);
  door.shut();
  Services& services = cluster.stage.services(NodeId{1});
  std::atomic<std::size_t> asked = 0;
  std::vector<std::thread> threads;
  for (int at = 0; at < 4; ++at)
    threads.emplace_back([&] {
      for (std::size_t i = 0; i < most; ++i, ++asked) services.write({"k", {"v"}}, [] {});
    });
  while (asked < most) std::this_thread::yield();  // the queue is full, so further writes wait
  std::promise<void> posted;
  services.post([&] { posted.set_value(); });
  posted.get_future().wait();
  std::promise<void> left;
  cluster.node(1).leave([&] { left.set_value(); });
  left.get_future().wait();
  BOOST_TEST(cluster.stage.count(NodeId{1}, Hook::stop) == 2u);
  for (std::thread& thread : threads) thread.join();  // the writes of these threads are dropped
  door.open();
  cluster.judge();
}

BOOST_FIXTURE_TEST_CASE(let_a_node_step_down_and_come_back, Judged<3>) {
  join_all();
  const auto incarnation = [&] {
    return status_of(*this, 3).at("incarnation").to_number<std::uint64_t>();
  };
  const std::uint64_t before = incarnation();
  stage.services(NodeId{3}).step_down(std::chrono::milliseconds(1));
  await("its next life", [&] { return incarnation() > before; });
  await_group({1, 2, 3});
}

// A role is valid for one group only. Load balancers must not see the role of an earlier group.
BOOST_FIXTURE_TEST_CASE(show_a_role_until_the_next_stop, Judged<2>) {
  stage.play(NodeId{2}, Hook::start, [&](Cue cue) {
    if (stage.count(NodeId{2}, Hook::start) == 1)
      stage.services(NodeId{2}).show({{{"primary", true}, {"replica", false}}, "open\n"});
    cue.complete();
  });
  GroupNumber before = join_all();
  const auto shown = [&] { return boost::json::serialize(status_of(*this, 2).at("shown")); };
  BOOST_TEST(shown() == R"({"roles":[["primary",true],["replica",false]],"text":"open?"})");
  stage.services(NodeId{1}).elect("to see");
  await("a new group", [&] { return node(2).view().group > before; });
  before = await_group({1, 2});
  BOOST_TEST(shown() == R"({"roles":[["primary",false],["replica",false]],"text":"open?"})");
}

BOOST_AUTO_TEST_CASE(know_what_is_no_role) {
  const std::string a_z = "a role has 1 to 32 letters a to z, digits and '-'";
  BOOST_TEST(!(Shown{{{"read-only2", true}}, {}}.wrong().has_value()));
  BOOST_TEST(*(Shown{{{"", true}}, {}}.wrong()) == "the role \"\": " + a_z);
  BOOST_TEST(*(Shown{{{"Primary", true}}, {}}.wrong()) == "the role \"Primary\": " + a_z);
  BOOST_TEST(*(Shown{{{"status", false}}, {}}.wrong()) ==
             "the role \"status\": the node itself has a page of that name; choose another");
  Shown many;
  for (int i = 0; i < 17; ++i) many.roles["r" + std::to_string(i)] = true;
  BOOST_TEST(*many.wrong() == "17 roles: 16 at most");
}

BOOST_AUTO_TEST_SUITE_END()
