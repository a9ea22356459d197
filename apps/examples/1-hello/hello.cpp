// hello NODE PORT: one of three nodes, at 127.0.0.1, ports PORT + 1 to PORT + 3.
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
  const std::string directory = std::string("hello-") + arguments[1];
  auto store = net::value_or_exit(storage::SqliteStorage::open(directory, {"hello", self}));
  boost::asio::io_context context;
  boost::asio::thread_pool hooks(1);
  const auto say = [](NodeId, const std::string& text) { std::cout << text << std::endl; };
  net::Node node(context, options, std::move(store), examples::greeter(say), hooks.get_executor());
  boost::asio::signal_set signals(context, SIGINT, SIGTERM);
  signals.async_wait([&](auto, int) { node.leave([&] { context.stop(); }); });
  net::value_or_exit(node.start());
  context.run();
}
