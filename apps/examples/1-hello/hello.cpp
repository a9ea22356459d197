// hello NODE PORT: one of three nodes, at 127.0.0.1, ports PORT + 1 to PORT + 3.
#include <muster/adapters.hpp>
#include <muster/net/node.hpp>
#include <muster/storage/sqlite_storage.hpp>

#include <boost/asio/signal_set.hpp>
#include <boost/asio/thread_pool.hpp>

#include <iostream>

using namespace muster;

Definition greeting(const Reorganization& all) {  // on the coordinator, when all have stopped
  std::string names;
  for (const Member& member : all.members) names += ' ' + std::to_string(member.node.value);
  return {"hello," + names};
}
void greet(const Assignment& task) {  // on every member
  std::cout << task.definition.data << " in group " << task.group.counter << std::endl;
}

int main(int, char** arguments) {
  net::NodeOptions options{};
  const NodeId self = options.config.self = {std::uint32_t(std::stoul(arguments[1]))};
  for (std::uint32_t i = 1; i <= 3; ++i) {
    options.config.nodes.insert({i});
    options.addresses[{i}] = "127.0.0.1:" + std::to_string(std::stoul(arguments[2]) + i);
  }
  auto store = storage::SqliteStorage::open(std::string("hello-") + arguments[1], {"hello", self});
  boost::asio::io_context context;
  boost::asio::thread_pool hooks(1);
  const auto make = [](Services&) {
    return make_application(Functions{.reorganize = greeting, .start = greet});
  };
  net::Node node(context, options, std::move(store).value(), make, hooks.get_executor());
  boost::asio::signal_set signals(context, SIGINT, SIGTERM);
  signals.async_wait([&](auto, int) { node.leave([&] { context.stop(); }); });
  node.start().value();
  context.run();
}
