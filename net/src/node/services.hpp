#pragma once

#include "node/permits.hpp"

#include <muster/host/services.hpp>
#include <muster/journal/journal.hpp>
#include <muster/net/storage_thread.hpp>
#include <muster/services.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <memory>
#include <mutex>

namespace muster::net {

/// The Services of one life's application. Posted work and results of storage arrive only while the
/// life lasts.
class NodeServices final : public Services, public std::enable_shared_from_this<NodeServices> {
 public:
  /// Called from any thread.
  struct Handlers {
    /// A write failed, or the application threw, wrote a cell of the node, or named an invalid
    /// role.
    std::function<void(const Failure&)> fatal;
    std::function<void(std::string why)> elect;
    std::function<void(Duration back_after)> step_down;
    std::function<void(journal::RemarkKind kind, const std::string& text)> remark;
  };

  NodeServices(NodeId self, NodeSet nodes, boost::asio::any_io_executor executor,
               std::shared_ptr<LifePermits> permits, StorageThread& storage, Handlers handlers);

  /// The life is over. Posted work does not run any more, and all requests are dropped, including
  /// those that wait already. Does not block. The storage may be destroyed after this call.
  void close();

  NodeId self() const override { return self_; }
  const NodeSet& nodes() const override { return nodes_; }
  const Permits& permits() const override { return permits_->door(); }
  void write(CellBatch batch, std::function<void()> durable) override;
  void scan(std::string prefix,
            std::function<void(std::vector<std::pair<std::string, Bytes>>)> done) override;
  void post(std::function<void()> work) override;
  void post_after(Duration delay, std::function<void()> work) override;
  void elect(std::string why) override { handlers_.elect(std::move(why)); }
  void step_down(Duration back_after) override;
  void show(Shown shown) override;
  void broken(std::string what) override {
    handlers_.remark(journal::RemarkKind::broken, remark_of(what));
  }
  void note(std::string what) override {
    handlers_.remark(journal::RemarkKind::note, remark_of(what));
  }

  /// The last state that the application has shown, with its present roles. From any thread.
  [[nodiscard]] Shown shown() const;

 private:
  const NodeId self_;
  const NodeSet nodes_;
  boost::asio::any_io_executor executor_;
  std::shared_ptr<LifePermits> permits_;
  void run(const std::function<void()>& work);

  StorageThread::Door storage_;  ///< shut when the life is over
  const Handlers handlers_;
  mutable std::mutex showing_mutex_;
  Showing showing_;  // guarded by showing_mutex_
};

}  // namespace muster::net
