#include "cluster.hpp"
#include "storages.hpp"

#include <muster/host/hold_down.hpp>
#include <muster/net/admin.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

/// hold_down on real nodes: which lives have to wait, what a waiting node answers, and which lives
/// count.

using namespace muster;
using namespace muster::test;
using namespace std::chrono_literals;
using Tcp = boost::asio::ip::tcp;

namespace {

/// One node and its owner. The last lives of the node were short.
struct Held {
  Held(Duration shortest, std::uint64_t short_lives)
      : cluster({.nodes = 1,
                 .alter =
                     [this, shortest](NodeId, net::NodeOptions& node) {
                       node.lives.hold_down = shortest;
                       node.admin.socket = socket();
                     },
                 .between = watched({.write = [this](const CellBatch& batch) { note(batch); }})}) {
    if (short_lives > 0)
      cluster.cells(1).cells[std::string(HoldDown::cell)] = Bytes{std::to_string(short_lives)};
  }
  [[nodiscard]] std::filesystem::path socket() const { return directory.path() / "admin.sock"; }
  [[nodiscard]] std::string say(std::string_view word) const {
    return net::ask_admin(socket(), Bell::generous, word).value();
  }
  [[nodiscard]] bool is_held_down() const {
    return say("status").find("\"out\":\"held_down\"") != std::string::npos;
  }
  void note(const CellBatch& batch) {
    if (batch.writes.front().key != HoldDown::cell) return;
    const std::lock_guard lock(mutex);
    counts.push_back(batch.writes.front().value.value_or(Bytes{"lasted"}).data);
    cluster.bell.ring();
  }
  [[nodiscard]] std::vector<std::string> counted() {
    const std::lock_guard lock(mutex);
    return counts;
  }

  TemporaryDirectory directory;
  std::mutex mutex;  // guards counts
  std::vector<std::string> counts;
  Cluster cluster;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(hold_down)

BOOST_AUTO_TEST_CASE(a_life_counts_as_short_before_it_listens_and_no_more_when_it_has_lasted) {
  Held node(1s, 0);
  node.cluster.start(1);
  BOOST_TEST(node.counted().front() == "1");  // `start` has returned, so the node listens
  node.cluster.await_group({1});
  node.cluster.await("a life that has lasted", [&] { return node.counted().size() == 2; });
  BOOST_TEST(node.counted().back() == "lasted");
  node.cluster.judge();
}

BOOST_AUTO_TEST_CASE(after_short_lives_it_waits_and_says_so_and_ends_in_order_when_it_is_told) {
  Held node(5min, 1);
  node.cluster.start(1);
  node.cluster.await("the wait", [&] { return node.is_held_down(); });
  BOOST_TEST(says(node.say("status"), "\"status\":\"Down\""));
  BOOST_TEST(says(node.say("elect now"), "held_down"));
  BOOST_TEST(node.counted().empty());  // a life that has not begun does not count
  node.cluster.leave(1);
  BOOST_TEST(node.cluster.journals.count(NodeId{1}) == 0u);
}

BOOST_AUTO_TEST_CASE(when_it_has_waited_it_begins_its_life) {
  Held node(10ms, 2);
  node.cluster.join(1);
  BOOST_TEST(node.counted().front() == "3");
  BOOST_TEST(says(node.say("status"), "\"incarnation\":1,"));
  node.cluster.judge();
}

BOOST_AUTO_TEST_CASE(its_owner_may_drain_it_meanwhile_and_bring_it_back) {
  Held node(5min, 1);
  node.cluster.start(1);
  node.cluster.await("the wait", [&] { return node.is_held_down(); });
  BOOST_TEST(node.say("drain") == "{}");
  BOOST_TEST(says(node.say("status"), "\"out\":\"drained\""));
  BOOST_TEST(node.say("drain undo") == "{}");
  node.cluster.await_group({1});
  node.cluster.judge();
}

// Another process uses the node's port, so the life cannot listen. Such a life has disturbed no
// other node, so the node may try again at once.
BOOST_AUTO_TEST_CASE(a_life_that_cannot_listen_does_not_count) {
  Held node(1s, 0);
  boost::asio::io_context context;
  const Tcp::acceptor other(context,
                            {boost::asio::ip::address_v4::loopback(), node.cluster.port(1)});
  BOOST_TEST(node.cluster.try_start(1).has_error());
  BOOST_TEST(node.counted() == (Words{"1", "0"}));
}

BOOST_AUTO_TEST_CASE(where_it_is_off_nothing_is_counted_and_what_was_counted_is_forgotten) {
  Held node(0s, 5);
  node.cluster.join(1);
  BOOST_TEST(node.counted() == Words{"lasted"});
  node.cluster.judge();
}

BOOST_AUTO_TEST_SUITE_END()
