#include "cluster.hpp"
#include "storages.hpp"

#include <boost/asio/ip/tcp.hpp>

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <stdexcept>

/// The beginning and the end of lives: what is durable before others hear of a life, when it can be
/// reached, and the next life after a node stepped back.

using namespace muster;
using namespace muster::test;
using namespace std::chrono_literals;

namespace {

/// True when a process accepts connections at the address of that node.
bool listens(const Cluster& cluster, std::uint32_t id) {
  boost::asio::io_context context;
  boost::asio::ip::tcp::socket socket(context);
  boost::system::error_code error;
  socket.connect({boost::asio::ip::address_v4::loopback(), cluster.port(id)}, error);
  if (error && error != boost::asio::error::connection_refused)
    throw std::runtime_error(error.message());  // no assertion, since this may be any thread
  return !error;
}

/// This is the shortest T that busy machines allow. Back-offs are multiples of T.
const Timings quick = patient(1s, 250ms);

bool stands_back(const journal::Line& line) {
  const auto* step = std::get_if<journal::Step>(&line);
  return step && std::find(step->actions.begin(), step->actions.end(),
                           Action{Leave{LeaveCause::stood_back}}) != step->actions.end();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lives)

BOOST_AUTO_TEST_CASE(the_incarnation_is_durable_before_the_node_can_be_reached) {
  // The incarnation of each new life, and whether the node could be reached when that incarnation
  // was saved.
  std::vector<std::pair<std::uint64_t, bool>> raised;
  Cluster* there = nullptr;
  const auto note = [&, first = true](const SafeState& safe) mutable {
    if (first) raised.emplace_back(safe.incarnation.value, listens(*there, 1));
    first = false;
    return Expected<>();
  };
  Cluster cluster({.nodes = 1, .between = watched({.save = note})});
  there = &cluster;
  cluster.start(1);
  BOOST_TEST(listens(cluster, 1));
  cluster.await_group({1});
  cluster.kill(1);
  cluster.join(1);
  const std::vector<std::pair<std::uint64_t, bool>> expected{{1, false}, {2, false}};
  BOOST_TEST(raised == expected);
  cluster.judge();
}

BOOST_AUTO_TEST_CASE(a_node_whose_incarnation_cannot_be_raised_does_not_begin) {
  const auto fail = [](const SafeState&) -> Expected<> {
    return Failure{ExitCode::io_error, "gone"};
  };
  Cluster cluster({.nodes = 1, .between = watched({.save = fail})});
  BOOST_TEST(failure_of(cluster.try_start(1)).code == ExitCode::io_error);
  BOOST_TEST(!listens(cluster, 1));
  BOOST_TEST(cluster.stage.calls().empty());
  cluster.journals.read_all();
  BOOST_TEST(cluster.journals.count(NodeId{1}) == 0u);
}

// While the application works, the port accepts connections. Once the port refuses connections, no
// work is done any more.
BOOST_FIXTURE_TEST_CASE(the_listener_is_closed_when_all_has_ceased, Judged<1>) {
  join(1);
  stage.hold(NodeId{1}, Hook::stop);
  std::promise<bool> reachable;
  node(1).leave([&] { reachable.set_value(listens(*this, 1)); });
  Cue cue = stage.take(NodeId{1}, Hook::stop);
  BOOST_TEST(listens(*this, 1));
  BOOST_TEST(journals.view(NodeId{1}).has_value());
  cue.complete();
  BOOST_TEST(!reachable.get_future().get());
}

BOOST_FIXTURE_TEST_CASE(a_node_whose_address_is_taken_says_so, Judged<1>) {
  join(1);
  Running running;
  Running hooks;
  auto options = options_of(1);
  options.journal.reset();
  net::Node second(running.context, options, std::make_unique<storage::MemoryStorage>(),
                   stage.make(NodeId{1}), hooks.context.get_executor());
  BOOST_TEST(failure_of(second.start()).code == ExitCode::temporary);
  std::promise<void> left;
  second.leave([&] { left.set_value(); });  // a node that never began leaves at once
  left.get_future().wait();
  running.halt();
}

BOOST_FIXTURE_TEST_CASE(a_node_that_has_not_begun_is_down, Nodes<1>) {
  Running running;
  Running hooks;
  net::Node node(running.context, options_of(1), std::make_unique<storage::MemoryStorage>(),
                 stage.make(NodeId{1}), hooks.context.get_executor());
  BOOST_TEST(node.view().status == Status::Down);
  BOOST_TEST(says(node.status_json(), "\"status\":\"Down\""));
  running.halt();
}

BOOST_FIXTURE_TEST_CASE(a_node_whose_numbers_are_used_up_does_not_begin, Nodes<1>) {
  Running running;
  Running hooks;
  auto storage = std::make_unique<storage::MemoryStorage>();
  SafeState safe;
  safe.incarnation.value = highest_number;
  BOOST_REQUIRE(storage->save(safe).has_value());
  net::Node node(running.context, options_of(1), std::move(storage), stage.make(NodeId{1}),
                 hooks.context.get_executor());
  const Failure failure = failure_of(node.start());
  BOOST_TEST(failure.code == ExitCode::storage_refused);
  BOOST_TEST(failure.what.starts_with("the node's store: incarnation has to be at most"));
  running.halt();
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(standing_back)

// The node answers nothing for a while, and then a new life begins. From its fourth call on the
// hook ends well, so that the new life works even if it began before the test looks.
BOOST_AUTO_TEST_CASE(after_three_failures_a_node_stands_back_and_begins_a_new_life) {
  Cluster cluster({.nodes = 1, .timings = quick});
  const auto begun = std::make_shared<std::atomic<int>>(0);
  cluster.stage.play(NodeId{1}, Hook::reorganize,
                     [begun](Cue cue) { ++*begun <= 3 ? fails(std::move(cue)) : cue.complete(); });
  cluster.start(1);
  cluster.await_line(1, "standing back", 0, stands_back);
  cluster.await_group({1});
  BOOST_TEST(cluster.stage.count(NodeId{1}, Hook::reorganize) == 4u);
  const auto lines = cluster.journals.lines(NodeId{1});
  const auto ended = std::find_if(lines.begin(), lines.end(), is_line<journal::Ended>);
  BOOST_TEST_REQUIRE((ended != lines.end()));
  BOOST_TEST(std::get<journal::Ended>(*ended).code == 0);
  BOOST_TEST(cluster.journals.life(NodeId{1}).value == 2u);
  BOOST_TEST(listens(cluster, 1));
  BOOST_TEST(cluster.stage.calls(NodeId{1}).back().application == 2u);
  BOOST_TEST(cluster.stage.applications(NodeId{1}) == 1);
  cluster.judge();
}

BOOST_AUTO_TEST_CASE(a_node_may_be_left_while_it_stands_back) {
  Cluster cluster({.nodes = 1, .timings = quick});
  cluster.stage.play(NodeId{1}, Hook::reorganize, fails);
  cluster.start(1);
  cluster.await_line(1, "standing back", 0, stands_back);
  cluster.leave(1);
  BOOST_TEST(!listens(cluster, 1));
  BOOST_TEST(cluster.journals.life(NodeId{1}).value == 1u);
  cluster.judge();
}

BOOST_AUTO_TEST_SUITE_END()
