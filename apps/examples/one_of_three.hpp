#pragma once

#include <muster/net/node.hpp>
#include <muster/net/value_or_exit.hpp>
#include <muster/storage/sqlite_storage.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/thread_pool.hpp>

#include <string>

namespace muster::examples {

/// Runs one of three nodes on this machine, with ids 1 to 3. Node n listens at port `port` + n of
/// 127.0.0.1, and keeps its state in the directory `name`-n.
class OneOfThree {
 public:
  OneOfThree(const std::string& name, const char* node, const char* port, MakeApplication make)
      : self_{static_cast<std::uint32_t>(std::stoul(node))},
        node_(context_, options(self_, std::stoul(port)),
              net::value_or_exit(storage::SqliteStorage::open(name + '-' + node, {name, self_})),
              std::move(make), hooks.get_executor()) {}

  /// Returns after SIGINT or SIGTERM, when the node has left its group.
  void run() {
    boost::asio::signal_set signals(context_, SIGINT, SIGTERM);
    signals.async_wait([this](auto, int) { node_.leave([this] { context_.stop(); }); });
    net::value_or_exit(node_.start());
    context_.run();
  }

 private:
  static net::NodeOptions options(NodeId self, std::size_t port) {
    net::NodeOptions options{};
    options.config.self = self;
    // By default a node waits before it takes part if its last life was short. The tests kill these
    // nodes again and again, so they do not wait.
    options.lives.hold_down = {};
    for (std::uint32_t i = 1; i <= 3; ++i) {
      options.config.nodes.insert(NodeId{i});
      options.network.addresses[NodeId{i}] = "127.0.0.1:" + std::to_string(port + i);
    }
    return options;
  }

  NodeId self_;
  boost::asio::io_context context_;

 public:
  boost::asio::thread_pool hooks{1};  ///< the application's executor

 private:
  net::Node node_;
};

}  // namespace muster::examples
