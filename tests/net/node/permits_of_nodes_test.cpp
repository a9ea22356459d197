#include "cluster.hpp"

#include <boost/system/system_error.hpp>

#include <atomic>
#include <future>
#include <thread>

/// Permits on real nodes, beyond P1: how work waits for a permit, and how a permit tells its work
/// to end.

using namespace muster;
using namespace muster::test;

namespace {

const Permits& permits_of(Cluster& cluster, std::uint32_t id) {
  return cluster.stage.services(NodeId{id}).permits();
}

/// A node that has been constructed and has no group yet.
Cue begun(Cluster& cluster, std::uint32_t id) {
  cluster.stage.hold(NodeId{id}, Hook::reorganize);
  cluster.start(id);
  return cluster.stage.take(NodeId{id}, Hook::reorganize);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(permits_of_nodes)

BOOST_FIXTURE_TEST_CASE(a_callback_comes_after_start_on_the_executor_of_the_hooks, Judged<1>) {
  Cue cue = begun(*this, 1);
  std::promise<std::thread::id> thread;
  std::atomic<std::size_t> starts = 0;
  permits_of(*this, 1).acquire().then([&](const Permit&) {
    starts = stage.count(NodeId{1}, Hook::start);
    thread.set_value(std::this_thread::get_id());
  });
  cue.complete();
  BOOST_TEST(hooks(1).threads().contains(thread.get_future().get()));
  BOOST_TEST(starts == 1u);
}

BOOST_FIXTURE_TEST_CASE(who_waits_when_the_life_ends_is_told_so, Nodes<1>) {
  const Cue cue = begun(*this, 1);
  const Permits permits = permits_of(*this, 1);
  std::promise<boost::system::error_code> told;
  const std::jthread thread([&] {
    try {
      (void)permits.acquire().wait();
    } catch (const boost::system::system_error& error) {
      told.set_value(error.code());
    }
  });
  kill(1);
  BOOST_TEST(told.get_future().get() == boost::system::errc::operation_canceled);
  BOOST_TEST(!permits.try_acquire().has_value());
}

BOOST_FIXTURE_TEST_CASE(a_stop_is_requested_when_the_group_is_revoked_and_never_on_the_strand,
                        Judged<3>) {
  join_all();
  auto permit = permits_of(*this, 1).try_acquire();
  BOOST_TEST_REQUIRE(permit.has_value());
  std::promise<bool> asked;
  const auto others = running(1).threads();
  std::atomic<bool> on_the_strand = false;
  const std::stop_callback callback(permit->stop_token(), [&] {
    on_the_strand = others.contains(std::this_thread::get_id());
    asked.set_value(permit->valid());
  });
  BOOST_TEST(permit->valid());
  kill(3);
  BOOST_TEST(!asked.get_future().get());
  BOOST_TEST(!on_the_strand);
  await_halted(1, 2);
  permit.reset();
  await_group({1, 2});
}

BOOST_AUTO_TEST_SUITE_END()
