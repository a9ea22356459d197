#include "cluster.hpp"

#include <muster/adapters.hpp>
#include <muster/net/frame.hpp>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/write.hpp>

#include <functional>
#include <thread>

/// Misuse from outside: unauthenticated peers at the port, output that nobody reads, options that
/// do not fit, and a handler that throws.

using namespace muster;
using namespace muster::test;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(misuse)

namespace {

using Tcp = boost::asio::ip::tcp;

/// An unauthenticated peer at the port of a node.
class UnknownPeer {
 public:
  UnknownPeer(const Cluster& cluster, std::uint32_t id) : socket_(context_) {
    socket_.connect({boost::asio::ip::address_v4::loopback(), cluster.port(id)});
  }
  void say(const net::Frame& frame) {
    boost::asio::write(socket_, boost::asio::buffer(net::encode_frame(frame)));
  }
  /// Reads until the node closes the connection.
  std::string hear() {
    std::string heard;
    char bytes[4096];
    boost::system::error_code error;
    while (!error) heard.append(bytes, socket_.read_some(boost::asio::buffer(bytes), error));
    return heard;
  }

 private:
  boost::asio::io_context context_;
  Tcp::socket socket_;
};

/// A node that finds a differing node waits for stop_deadline.
ClusterOptions where_some_differ() {
  ClusterOptions options;
  options.timings.stop_deadline = 2s;
  return options;
}

net::Hello hello(std::uint32_t from, std::uint32_t to, std::string cluster,
                 std::uint64_t incarnation) {
  net::Hello said;
  said.role = net::Role::node;
  said.cluster = std::move(cluster);
  said.from = NodeId{from};
  said.to = NodeId{to};
  said.incarnation = Incarnation{incarnation};
  said.instance = 4711;
  said.number = 1;
  said.session = 1;
  return said;
}

const std::string own_cluster = "name=test\n";  // the text of Cluster's nodes

/// The objects that a Node needs in the test's process.
struct Made {
  Running running;
  Running hooks;
  std::unique_ptr<SafeStorage> storage = std::make_unique<storage::MemoryStorage>();
  MakeApplication application = [](Services&) { return make_application(Functions{}); };
  boost::asio::any_io_executor executor = hooks.context.get_executor();
  net::NodeOptions options;

  Made() {
    options.config.self = {1};
    options.config.nodes = {{1}, {2}};
    options.network.addresses = {{{1}, "127.0.0.1:1"}, {{2}, "127.0.0.1:2"}};
  }
};

}  // namespace

// Nodes without this protection ended with exit code 65 on each of these frames.
BOOST_FIXTURE_TEST_CASE(an_unknown_peer_in_the_name_of_a_node_ends_no_node, Judged<2>) {
  start(2);
  const auto process = spawn(1, {});
  const GroupNumber group = await_group({1, 2});
  for (const auto& said :
       {hello(1, 1, "name=another\n", 1'000'000'000), hello(1, 1, own_cluster, 1'000'000'000),
        hello(1, 1, own_cluster, 2), hello(1, 1, own_cluster, highest_number)}) {
    UnknownPeer unknown_peer(*this, 1);
    unknown_peer.say(said);
    BOOST_TEST(!unknown_peer.hear().empty());
  }
  BOOST_TEST(process->end_in_order() == 0);
  BOOST_TEST((process->says("the clusters differ") || process->says("another process says")));
  BOOST_TEST(group.coordinator == NodeId{2});
}

// The peer listens at the address of a node that is down. The peer also dials each node that has
// dialled it. Before nodes had this protection, both nodes ended with exit code 65.
BOOST_AUTO_TEST_CASE(an_unknown_peer_at_the_address_of_a_node_that_is_down_ends_no_node) {
  Cluster cluster(where_some_differ());
  boost::asio::io_context context;
  const Tcp::endpoint place{boost::asio::ip::address_v4::loopback(), cluster.port(3)};
  Tcp::acceptor acceptor(context, place);
  std::atomic<bool> over = false;
  std::atomic<int> refused = 0;
  std::thread unknown_peer([&] {
    const std::uint64_t figures[] = {1, 2, std::uint64_t{1} << 60};
    while (!over) {
      boost::system::error_code error;
      Tcp::socket socket(context);
      acceptor.accept(socket, error);
      if (error) return;
      net::Hello said = hello(3, refused % 2 == 0 ? 1 : 2, own_cluster, 1);
      said.session = 0;
      const std::string bytes = (refused % 2 == 0 ? "" : net::encode_frame(said)) +
                                net::encode_frame(net::Refusal{net::RefusalReason::outlived, "seen",
                                                               figures[refused % 3]});
      boost::asio::write(socket, boost::asio::buffer(bytes), error);
      const std::uint32_t other = said.to.value;
      try {
        UnknownPeer(cluster, other).say(hello(other, other, own_cluster, 2));
      } catch (const boost::system::system_error&) {  // it does not listen yet
      }
      ++refused;
    }
  });
  const auto one = cluster.spawn(1, {});
  const auto two = cluster.spawn(2, {});
  cluster.await_group({1, 2});
  cluster.await("it has refused them", [&] { return refused >= 12; });
  over = true;
  UnknownPeer(cluster, 3);  // the node accepts this connection and ends it
  unknown_peer.join();
  for (const auto& process : {&one, &two}) BOOST_TEST((*process)->end_in_order() == 0);
  cluster.judge();
}

// The node's output for people is a full pipe that nobody reads.
BOOST_FIXTURE_TEST_CASE(a_full_standard_error_does_not_keep_a_node_from_working, Judged<2>) {
  const auto process = spawn(2, {"full_stderr"});
  start(1);
  await_group({1, 2});
  for (int i = 0; i < 3; ++i) {
    UnknownPeer unknown_peer(*this, 2);
    unknown_peer.say(hello(1, 2, "name=another\n", 1));
    BOOST_TEST(!unknown_peer.hear().empty());
  }
  kill(1);
  await_group({2});
  start(1);
  await_group({1, 2});
  BOOST_TEST(process->end_in_order() == 0);
}

BOOST_FIXTURE_TEST_CASE(nor_from_ending, Nodes<1>) {
  const auto process = spawn(1, {"full_stderr", "fail_save=2"});
  BOOST_TEST(process->wait() == 74);
  journals.read_all();
  BOOST_TEST(std::holds_alternative<journal::Ended>(journals.lines(NodeId{1}).back()));
}

// The exception prevents the work that would have followed the throwing call, and the node cannot
// know that work.
BOOST_FIXTURE_TEST_CASE(what_leaves_a_handler_ends_the_process_with_70, Nodes<1>) {
  const auto process = spawn(1, {"left=throw"});
  await_group({1});
  process->end_of_words();
  BOOST_TEST(process->wait() == 70);
  BOOST_TEST_REQUIRE(!process->errors().empty());
  BOOST_TEST(says(process->errors().back(), "a handler threw: as it was told"));
}

BOOST_AUTO_TEST_CASE(a_node_that_cannot_be_is_not_started) {
  const auto begins = [](const std::function<void(Made&)>& change, const std::string& words) {
    Made made;
    change(made);
    net::Node node(made.running.context, made.options, std::move(made.storage),
                   std::move(made.application), made.executor);
    const Expected<> started = node.start();
    BOOST_TEST_REQUIRE(started.has_error(), words);
    BOOST_TEST((started.error().code == ExitCode::bad_configuration), words);
    BOOST_TEST(says(started.error().what, words));
  };
  begins([](Made& made) { made.storage = nullptr; }, "storage has to be an open store");
  begins([](Made& made) { made.application = {}; }, "make_application has to be");
  begins([](Made& made) { made.executor = {}; }, "hooks has to be an executor");
  begins([](Made& made) { made.executor = boost::asio::make_strand(made.running.context); },
         "hooks has to be an executor of another context than the protocol's");
  begins([](Made& made) { made.options.config.nodes = {}; }, "nodes has to be at least one");
  begins([](Made& made) { made.options.config.nodes.insert({0}); }, "ids from 1 on");
  begins([](Made& made) { made.options.config.self = {3}; }, "id has to be one of the ids");
  begins([](Made& made) { made.options.network.addresses.erase({2}); }, "address of node 2");
  begins([](Made& made) { made.options.network.addresses[{2}] = "127.0.0.1:1"; },
         "node 1 has this one");
  begins([](Made& made) { made.options.network.addresses[{2}] = "10.0.0.1:2"; }, "loopback");
  for (const char* wrong : {"everywhere", "0.0.0.0:7101", "127.0.0.1:0"})
    begins([wrong](Made& made) { made.options.network.listen = wrong; }, "listen has to be ");
  for (const char* wrong : {"everywhere", "0.0.0.0:9100", "127.0.0.1:0"})
    begins([wrong](Made& made) { made.options.http = {wrong}; }, "http.listen has to be ");
  begins([](Made& made) { made.options.config.timings.T = 0s; }, "T has to be longer than 0");
  begins([](Made& made) { made.options.limits.report = 64 * 1024; }, "limits.report");
  begins([](Made& made) { made.options.limits.definition = 64 * 1024; }, "limits.definition");
}

BOOST_FIXTURE_TEST_CASE(a_node_is_started_once, Judged<1>) {
  join(1);
  BOOST_TEST(says(failure_of(node(1).start()).what, "started once"));
}

BOOST_FIXTURE_TEST_CASE(a_factory_that_gives_no_application_is_named, Nodes<1>) {
  const auto process = spawn(1, {"application=none"});
  BOOST_TEST(process->wait() == 76);
  BOOST_TEST(says(process->errors().back(), "node 1: make_application gave no application; fix"));
}

BOOST_FIXTURE_TEST_CASE(a_factory_that_throws_is_told_as_that, Nodes<1>) {
  const auto process = spawn(1, {"application=throw"});
  BOOST_TEST(process->wait() == 76);
  const std::string said = process->errors().back();
  BOOST_TEST(says(said, "node 1: make_application threw: there is no lamp; fix the application"));
  BOOST_TEST(!says(said, "stop"));
}

// The code in the README, the guide and the examples leaves the cluster's text empty.
BOOST_AUTO_TEST_CASE(nodes_without_a_text_of_their_own_refuse_those_of_another_configuration) {
  ClusterOptions options = where_some_differ();
  options.alter = [](NodeId id, net::NodeOptions& node) {
    node.cluster.clear();
    if (id == NodeId{1}) node.config.timings.T += 1ms;
  };
  Cluster cluster(std::move(options));
  cluster.start(2);
  cluster.start(3);
  cluster.start(1);
  cluster.await_group({2, 3});
  cluster.await("node 1 is refused, and by whom", [&] {
    return cluster.node(2).status_json().find("\"differing\":[[1,\"T (") != std::string::npos;
  });
  cluster.await_group({2, 3});
}

BOOST_AUTO_TEST_SUITE_END()
