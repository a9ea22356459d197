#include "cluster.hpp"

#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <future>
#include <stdexcept>
#include <thread>

/// What permits do on real nodes, beside P1: who waits for one, and who is asked to end its work.

using namespace muster;
using test::Cluster;
using test::Cue;

namespace {

const Permits& permits_of(Cluster& cluster, std::uint32_t id) {
  return cluster.stage.services(NodeId{id}).permits();
}

/// A node that is made and has no group yet.
Cue begun(Cluster& cluster, std::uint32_t id) {
  cluster.stage.hold(NodeId{id}, Hook::reorganize);
  cluster.start(id);
  return cluster.stage.take(NodeId{id}, Hook::reorganize);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(permits_of_nodes)

BOOST_AUTO_TEST_CASE(a_thread_of_the_users_waits_for_the_group) {
  Cluster cluster({.nodes = 1});
  Cue cue = begun(cluster, 1);
  std::promise<GroupNumber> worked;
  std::thread thread([&, permits = permits_of(cluster, 1)] {
    worked.set_value(permits.acquire().wait().group());
  });
  cue.complete();
  const GroupNumber group = cluster.await_group({1});
  BOOST_TEST((worked.get_future().get() == group));
  thread.join();
  cluster.judge();
}

BOOST_AUTO_TEST_CASE(a_callback_comes_after_start_on_the_executor_of_the_hooks) {
  Cluster cluster({.nodes = 1});
  Cue cue = begun(cluster, 1);
  std::promise<std::thread::id> thread;
  std::atomic<std::size_t> starts = 0;
  permits_of(cluster, 1).acquire().then([&](const Permit&) {
    starts = cluster.stage.count(NodeId{1}, Hook::start);
    thread.set_value(std::this_thread::get_id());
  });
  cue.complete();
  BOOST_TEST(cluster.hooks(1).threads().contains(thread.get_future().get()));
  BOOST_TEST(starts == 1u);
  cluster.judge();
}

BOOST_AUTO_TEST_CASE(who_waits_when_the_life_ends_is_told_so) {
  Cluster cluster({.nodes = 1});
  const Cue cue = begun(cluster, 1);
  const Permits permits = permits_of(cluster, 1);
  std::promise<boost::system::error_code> told;
  std::thread thread([&] {
    try {
      (void)permits.acquire().wait();
    } catch (const boost::system::system_error& error) {
      told.set_value(error.code());
    }
  });
  cluster.kill(1);
  BOOST_TEST((told.get_future().get() == boost::system::errc::operation_canceled));
  thread.join();
  BOOST_TEST(!permits.try_acquire().has_value());
}

BOOST_AUTO_TEST_CASE(a_hook_that_would_wait_for_ever_is_refused) {
  Cluster cluster({.nodes = 1});
  std::atomic<bool> refused = false;
  cluster.stage.play(NodeId{1}, Hook::reorganize, [&](Cue cue) {
    try {
      (void)permits_of(cluster, 1).acquire().wait();
    } catch (const std::logic_error&) {
      refused = true;
    }
    cue.complete();
  });
  cluster.start(1);
  cluster.await_group({1});
  BOOST_TEST(refused);
  cluster.judge();
}

BOOST_AUTO_TEST_CASE(a_stop_is_requested_when_the_group_is_revoked_and_never_on_the_strand) {
  Cluster cluster;
  cluster.start_all();
  cluster.await_group({1, 2, 3});
  auto permit = permits_of(cluster, 1).try_acquire();
  BOOST_TEST_REQUIRE(permit.has_value());
  std::promise<bool> asked;
  std::set<std::thread::id> others = cluster.running(1).threads();
  std::atomic<bool> on_the_strand = false;
  const std::stop_callback callback(permit->stop_token(), [&] {
    on_the_strand = others.contains(std::this_thread::get_id());
    asked.set_value(permit->valid());
  });
  BOOST_TEST(permit->valid());
  cluster.kill(3);
  BOOST_TEST(!asked.get_future().get());
  BOOST_TEST(!on_the_strand);
  cluster.await("the Halt of node 2 at node 1", [&] {
    const auto view = cluster.journals.view(NodeId{1});
    return view && view->halted_by == NodeId{2};
  });
  permit.reset();
  cluster.await_group({1, 2});
  cluster.judge();
}

BOOST_AUTO_TEST_SUITE_END()
