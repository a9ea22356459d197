// jobs fill COUNT FILE, once; then jobs NODE PORT FILE: one of three nodes, ports PORT + 1 to 3.
#include "jobs.hpp"

#include <muster/net/node.hpp>
#include <muster/storage/sqlite_storage.hpp>

#include <boost/asio/signal_set.hpp>
#include <boost/asio/thread_pool.hpp>

#include <iostream>

using namespace muster;
using examples::Jobs;

int main(int, char** arguments) {
  const std::string first = arguments[1];
  auto queue = [file = arguments[3]] { return storage::FencedStore::open(file).value(); };
  if (first == "fill") return Jobs::fill(*queue(), std::stoull(arguments[2])) ? 0 : 1;
  net::NodeOptions options{};
  const NodeId self = options.config.self = {std::uint32_t(std::stoul(first))};
  for (std::uint32_t i = 1; i <= 3; ++i) {
    options.config.nodes.insert({i});
    options.addresses[{i}] = "127.0.0.1:" + std::to_string(std::stoul(arguments[2]) + i);
  }
  boost::asio::io_context context;
  boost::asio::thread_pool hooks(1);
  const auto tell = [](NodeId, const GroupNumber& group, std::uint64_t job) {
    std::cout << "job " << job << " in group " << group.counter << std::endl;
  };
  const auto make = [&](Services& node) { return std::make_unique<Jobs>(node, queue(), tell); };
  auto store = storage::SqliteStorage::open("jobs-" + first, {"jobs", self}).value();
  net::Node node(context, options, std::move(store), make, hooks.get_executor());
  boost::asio::signal_set signals(context, SIGINT, SIGTERM);
  signals.async_wait([&](auto, int) { node.leave([&] { context.stop(); }); });
  node.start().value();
  context.run();
}
