#pragma once

#include "permits.hpp"

#include <muster/net/storage_thread.hpp>
#include <muster/services.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <memory>

namespace muster::net {

/// What the application of one life is given. What it posted and what it asked of its cells comes
/// back only while that life lasts.
class NodeServices final : public Services, public std::enable_shared_from_this<NodeServices> {
 public:
  /// `fatal` is called from the storage thread when a write failed, and where the application threw
  /// or wrote what is not its own.
  NodeServices(NodeId self, NodeSet nodes, boost::asio::any_io_executor executor,
               std::shared_ptr<LifePermits> permits, StorageThread& storage,
               std::function<void(const Failure&)> fatal);

  /// The life is over: nothing that was posted runs any more, and what is asked from now on, or
  /// waits to be, is dropped. Waits for nobody. The storage may end after that.
  void close();

  NodeId self() const override { return self_; }
  const NodeSet& nodes() const override { return nodes_; }
  const Permits& permits() const override { return permits_->door(); }
  void write(CellBatch batch, std::function<void()> durable) override;
  void scan(std::string prefix,
            std::function<void(std::vector<std::pair<std::string, Bytes>>)> done) override;
  void post(std::function<void()> work) override;
  void post_after(Duration delay, std::function<void()> work) override;

 private:
  const NodeId self_;
  const NodeSet nodes_;
  boost::asio::any_io_executor executor_;
  std::shared_ptr<LifePermits> permits_;
  void run(const std::function<void()>& work);

  StorageThread::Door storage_;  ///< shut when the life is over
  std::function<void(const Failure&)> fatal_;
};

}  // namespace muster::net
