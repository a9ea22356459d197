#pragma once

#include <boost/asio/io_context.hpp>

#include <functional>
#include <memory>

/// A cluster of one node, in a library that shows nothing of Muster to the program.
class Cluster {
 public:
  /// The node runs in `context` and listens at `port` of 127.0.0.1. The node prints "at work" once
  /// its application works.
  Cluster(boost::asio::io_context& context, unsigned short port);
  ~Cluster();

  void leave(std::function<void()> left);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};
