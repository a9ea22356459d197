// hello NODE PORT: runs node 1, 2 or 3 of three, each a process of its own on this machine.
// Node n listens at port PORT + n of 127.0.0.1 and keeps its state in the directory hello-n.
#include "hello.hpp"

#include <muster/net/node.hpp>
#include <muster/net/value_or_exit.hpp>
#include <muster/storage/sqlite_storage.hpp>

#include <boost/asio/signal_set.hpp>
#include <boost/asio/thread_pool.hpp>

#include <iostream>

using namespace muster;

int main(int, char** arguments) {
  net::NodeOptions options{};
  const NodeId self = options.config.self = {std::uint32_t(std::stoul(arguments[1]))};
  for (std::uint32_t i = 1; i <= 3; ++i) {
    options.config.nodes.insert({i});
    options.network.addresses[{i}] = "127.0.0.1:" + std::to_string(std::stoul(arguments[2]) + i);
  }
  // Safe storage: the state that has to survive a crash. A restarted node goes on from here.
  const std::string directory = std::string("hello-") + arguments[1];
  auto store = net::value_or_exit(storage::SqliteStorage::open(directory, {"hello", self}));
  boost::asio::io_context context;    // runs the node: connections, timers, the election
  boost::asio::thread_pool hooks(1);  // runs the application's hooks, which are allowed to block
  const auto say = [](NodeId, const std::string& text) { std::cout << text << std::endl; };
  net::Node node(context, options, std::move(store), examples::greeter(say), hooks.get_executor());
  // On a signal the node leaves its group in order, so the others need no timeout to notice that it
  // is gone.
  boost::asio::signal_set signals(context, SIGINT, SIGTERM);
  signals.async_wait([&](auto, int) { node.leave([&] { context.stop(); }); });
  net::value_or_exit(node.start());
  context.run();
}
