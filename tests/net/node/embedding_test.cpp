#include "cluster.hpp"
#include "storages.hpp"

#include <boost/asio/post.hpp>

#include <atomic>
#include <future>

/// A node in a program that has contexts, threads and other nodes of its own.

using namespace muster;
using namespace muster::test;

BOOST_AUTO_TEST_SUITE(embedding)

// The whole protocol runs on one strand and all hooks on another, whatever the number of threads.
// Functions that any thread may call are called at all times.
BOOST_AUTO_TEST_CASE(a_node_lives_in_contexts_that_many_threads_run) {
  Cluster cluster({.context_threads = 4, .hook_threads = 4});
  cluster.start_all();
  std::atomic<bool> over = false;
  std::thread curious([&, &node = cluster.node(1)] {
    while (!over) {
      const std::string status = node.status_json();
      const View view = node.view();
      std::this_thread::yield();
    }
  });
  cluster.await_group({1, 2, 3});
  std::atomic<int> worked = 0;
  std::thread busy([&] {
    while (!over) {
      for (std::uint32_t id = 1; id <= 2; ++id)
        if (auto permit = cluster.stage.services(NodeId{id}).permits().try_acquire();
            permit && permit->valid())
          ++worked;
      std::this_thread::yield();
    }
  });
  for (int round = 0; round < 3; ++round) {
    cluster.lose(3);
    cluster.join(3);
  }
  over = true;
  curious.join();
  busy.join();
  BOOST_TEST(worked > 0);
  for (const Called& called : cluster.stage.calls()) BOOST_CHECK(!called.beside_another);
  cluster.judge();
}

// Services::post uses the same strand as the hooks.
BOOST_AUTO_TEST_CASE(what_an_application_posts_runs_one_at_a_time_with_its_hooks) {
  Cluster cluster({.nodes = 1, .hook_threads = 4});
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  std::atomic<int> ran = 0;
  const auto work = [&] {
    most = std::max(most.load(), ++inside);
    std::this_thread::yield();
    --inside;
    ++ran;
    cluster.bell.ring();
  };
  cluster.stage.play(NodeId{1}, Hook::start, [&](Cue cue) {
    Services& services = cluster.stage.services(NodeId{1});
    for (int at = 0; at < 100; ++at) services.post(work);
    services.post_after(std::chrono::milliseconds(1), work);
    services.write({"k", {"v"}}, work);
    services.scan("k", [&](const auto& cells) {
      BOOST_ASSERT(cells.size() == 1);
      work();
    });
    work();
    cue.complete();
  });
  cluster.start(1);
  cluster.await("all work", [&] { return ran == 104; });
  BOOST_TEST(most == 1);
  cluster.judge();
}

BOOST_FIXTURE_TEST_CASE(each_who_leaves_is_told_once_whichever_thread_it_is, Judged<1>) {
  join(1);
  std::atomic<int> told = 0;
  std::vector<std::thread> leavers;
  for (int at = 0; at < 4; ++at)
    leavers.emplace_back([&, &node = node(1)] {
      node.leave([&] {
        ++told;
        bell.ring();
      });
    });
  for (std::thread& leaver : leavers) leaver.join();
  await("all to be told", [&] { return told == 4; });
  leave(1);  // again, when it has gone
  BOOST_TEST(told == 4);
  BOOST_TEST(stage.count(NodeId{1}, Hook::stop) == 2u);
}

BOOST_AUTO_TEST_CASE(a_node_may_be_left_as_soon_as_it_has_begun) {
  for (int round = 0; round < 20; ++round) {
    Cluster cluster({.nodes = 1});
    cluster.start(1);
    cluster.leave(1);
    cluster.judge();
  }
}

BOOST_FIXTURE_TEST_CASE(a_node_may_be_left_by_its_own_hook, Judged<1>) {
  std::promise<void> left;
  stage.play(NodeId{1}, Hook::start, [&](Cue cue) {
    node(1).leave([&] { left.set_value(); });
    cue.complete();
  });
  start(1);
  left.get_future().wait();
}

// Even now the application can be in a hook and call its services.
BOOST_FIXTURE_TEST_CASE(a_hook_may_still_run_when_its_node_is_destroyed, Nodes<1>) {
  Running running;
  Running hooks;
  auto kept = std::make_shared<storage::MemoryCells>();
  auto node = std::make_unique<net::Node>(running.context, options_of(1),
                                          std::make_unique<storage::MemoryStorage>(kept),
                                          stage.make(NodeId{1}), hooks.context.get_executor());
  Door door;
  std::promise<void> in_hook;
  bool wrong = false;
  std::optional<Cue> late;
  stage.play(NodeId{1}, Hook::start, [&](Cue cue) {
    in_hook.set_value();
    door.pass();
    Services& services = stage.services(NodeId{1});
    wrong = services.permits().try_acquire().has_value();
    services.write({"k", {"v"}}, [&] { wrong = true; });
    services.scan("", [&](const auto&) { wrong = true; });
    services.post([&] { wrong = true; });
    late.emplace(std::move(cue));
  });
  door.shut();
  BOOST_TEST_REQUIRE(node->start().has_value());
  in_hook.get_future().wait();
  running.halt();
  node.reset();
  door.open();
  hooks.halt_when_idle();
  late->complete();
  BOOST_TEST(!wrong);
  BOOST_TEST(kept->cells.empty());
  BOOST_TEST(stage.applications(NodeId{1}) == 0);
}

BOOST_FIXTURE_TEST_CASE(two_nodes_share_a_context_and_one_goes_on_when_the_other_is_destroyed,
                        Judged<2>) {
  auto running = std::make_unique<Running>(2);
  Running hooks;
  std::unique_ptr<net::Node> nodes[2];
  for (std::uint32_t id = 1; id <= 2; ++id) {
    nodes[id - 1] = std::make_unique<net::Node>(
        running->context, options_of(id), std::make_unique<storage::MemoryStorage>(),
        stage.make(NodeId{id}), hooks.context.get_executor());
    BOOST_TEST_REQUIRE(nodes[id - 1]->start().has_value());
  }
  await_group({1, 2});
  running->halt();
  journals.note(journal::FaultKind::killed, NodeId{2});
  nodes[1].reset();
  running->go_on();
  journals.read_all();
  await_group({1});
  std::promise<void> left;
  nodes[0]->leave([&] { left.set_value(); });
  left.get_future().wait();
  running->halt();
  nodes[0].reset();
}

BOOST_AUTO_TEST_SUITE_END()
