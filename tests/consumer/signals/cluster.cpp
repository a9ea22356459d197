#include "cluster.hpp"

#include <muster/net/node.hpp>
#include <muster/net/value_or_exit.hpp>
#include <muster/storage/memory_storage.hpp>

#include <boost/asio/thread_pool.hpp>

#include <iostream>
#include <string>
#include <utility>

using namespace muster;

namespace {

struct Worker : Application {
  void stop(StopContext, Done<Report> done) override { done({}); }
  void reorganize(Reorganization, Done<Definition> done) override { done({}); }
  void start(Assignment, Done<> done) override {
    std::cout << "at work" << std::endl;
    done();
  }
};

net::NodeOptions options(unsigned short port) {
  net::NodeOptions options{};
  options.config.self = {1};
  options.config.nodes = {{1}};
  options.network.addresses[{1}] = "127.0.0.1:" + std::to_string(port);
  return options;
}

}  // namespace

struct Cluster::Impl {
  Impl(boost::asio::io_context& context, unsigned short port)
      : node(
            context, options(port), std::make_unique<storage::MemoryStorage>(),
            [](Services&) { return std::make_unique<Worker>(); }, hooks.get_executor()) {}

  boost::asio::thread_pool hooks{1};
  net::Node node;
};

Cluster::Cluster(boost::asio::io_context& context, unsigned short port)
    : impl_(std::make_unique<Impl>(context, port)) {
  net::value_or_exit(impl_->node.start());
}

Cluster::~Cluster() = default;

void Cluster::leave(std::function<void()> left) {
  impl_->node.leave(std::move(left));
}
