#include "cluster.hpp"
#include "storages.hpp"

#include <muster/net/storage_thread.hpp>

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <future>
#include <thread>

/// What an application asks of its services from threads of its own.

using namespace muster;
using test::Cluster;
using test::ClusterOptions;

BOOST_AUTO_TEST_SUITE(services)

// Threads of the application wait, as the disk does; neither what it posts, nor a hook, nor the end
// of the life waits for them.
BOOST_AUTO_TEST_CASE(that_wait_for_room_hold_up_neither_hooks_nor_the_protocol) {
  constexpr std::size_t most = net::StorageThread::most_waiting;
  test::Door door;
  ClusterOptions options{.nodes = 1};
  options.between = [&](NodeId, std::unique_ptr<SafeStorage> inner) {
    return std::make_unique<test::WatchedWrites>(std::move(inner),
                                                 [&](const CellBatch&) { door.pass(); });
  };
  Cluster cluster(std::move(options));
  cluster.start(1);
  cluster.await_group({1});
  door.shut();
  Services& services = cluster.stage.services(NodeId{1});
  std::atomic<std::size_t> asked = 0;
  std::vector<std::thread> threads;
  for (int at = 0; at < 4; ++at)
    threads.emplace_back([&] {
      for (std::size_t i = 0; i < most; ++i, ++asked) services.write({"k", {"v"}}, [] {});
    });
  while (asked < most) std::this_thread::yield();  // all but one in the queue: more have to wait
  std::promise<void> posted;
  services.post([&] { posted.set_value(); });
  posted.get_future().wait();
  std::promise<void> left;
  cluster.node(1).leave([&] { left.set_value(); });
  left.get_future().wait();
  BOOST_TEST(cluster.stage.count(NodeId{1}, Hook::stop) == 2u);
  for (std::thread& thread : threads) thread.join();  // nothing more is wanted of them
  door.open();
  cluster.judge();
}

BOOST_AUTO_TEST_SUITE_END()
