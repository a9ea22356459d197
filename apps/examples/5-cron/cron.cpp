// cron NODE PORT FILE: one of three nodes, ports PORT + 1 to 3; they share the file.
#include "cron.hpp"

#include <muster/net/node.hpp>
#include <muster/storage/sqlite_storage.hpp>

#include <boost/asio/signal_set.hpp>
#include <boost/asio/thread_pool.hpp>

#include <iostream>

using namespace muster;
using namespace std::chrono_literals;
using examples::Cron;

int main(int, char** arguments) {
  net::NodeOptions options{};
  const NodeId self = options.config.self = {std::uint32_t(std::stoul(arguments[1]))};
  for (std::uint32_t i = 1; i <= 3; ++i) {
    options.config.nodes.insert({i});
    options.addresses[{i}] = "127.0.0.1:" + std::to_string(std::stoul(arguments[2]) + i);
  }
  boost::asio::io_context context;
  boost::asio::thread_pool hooks(1);
  const auto now = [] {
    return std::chrono::floor<Cron::Time>(std::chrono::system_clock::now()).time_since_epoch();
  };
  const auto tell = [](const std::string& job, Cron::Time due) {
    std::cout << job << " of " << due.count() << std::endl;
  };
  const Cron::Jobs jobs{{"backup", 50ms}, {"mail", 70ms}, {"report", 110ms}};
  const auto make = [&](Services& node) {
    auto file = storage::FencedStore::open(arguments[3]).value();
    return std::make_unique<Cron>(node, std::move(file), jobs, now, tell);
  };
  auto store = storage::SqliteStorage::open(std::string("cron-") + arguments[1], {"cron", self});
  net::Node node(context, options, std::move(store).value(), make, hooks.get_executor());
  boost::asio::signal_set signals(context, SIGINT, SIGTERM);
  signals.async_wait([&](auto, int) { node.leave([&] { context.stop(); }); });
  node.start().value();
  context.run();
}
