#include "node/services.hpp"

#include <muster/host/user_call.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

namespace muster::net {

namespace asio = boost::asio;

NodeServices::NodeServices(NodeId self, NodeSet nodes, asio::any_io_executor executor,
                           std::shared_ptr<LifePermits> permits, StorageThread& storage,
                           Handlers handlers)
    : self_(self),
      nodes_(std::move(nodes)),
      executor_(std::move(executor)),
      permits_(std::move(permits)),
      storage_(storage),
      handlers_(std::move(handlers)) {}

void NodeServices::close() {
  storage_.shut();
}

void NodeServices::write(CellBatch batch, std::function<void()> durable) {
  if (!storage_.is_open()) return;
  for (const CellBatch::Write& write : batch.writes)
    if (write.key.starts_with(own_cells))
      return handlers_.fatal(
          {ExitCode::hook_failed, "the application wrote a cell whose key begins with \"" +
                                      std::string(own_cells) +
                                      "\": those are the node's own; rename the cell"});
  storage_.write(std::move(batch), [weak = weak_from_this(), fatal = handlers_.fatal,
                                    durable = std::move(durable)](Expected<> written) {
    if (!written) return fatal(written.error());
    if (const auto self = weak.lock()) self->post(durable);
  });
}

void NodeServices::scan(std::string prefix,
                        std::function<void(std::vector<std::pair<std::string, Bytes>>)> done) {
  storage_.scan(std::move(prefix), [weak = weak_from_this(), fatal = handlers_.fatal,
                                    done = std::move(done)](Expected<StorageThread::Cells> cells) {
    if (!cells) return fatal(cells.error());
    const auto self = weak.lock();
    if (!self) return;
    std::erase_if(*cells, [](const auto& cell) { return cell.first.starts_with(own_cells); });
    self->post([done, found = std::make_shared<StorageThread::Cells>(std::move(*cells))] {
      done(std::move(*found));
    });
  });
}

void NodeServices::post(std::function<void()> work) {
  asio::post(executor_, [weak = weak_from_this(), work = std::move(work)] {
    if (const auto self = weak.lock()) self->run(work);
  });
}

void NodeServices::post_after(Duration delay, std::function<void()> work) {
  const auto timer = std::make_shared<asio::steady_timer>(executor_, delay);
  timer->async_wait([weak = weak_from_this(), timer, work = std::move(work)](auto error) {
    const auto self = weak.lock();
    if (!error && self) self->run(work);
  });
}

void NodeServices::step_down(Duration back_after) {
  handlers_.step_down(time_out(back_after));
}

void NodeServices::show(Shown shown) {
  std::unique_lock lock(showing_mutex_);
  const auto wrong = showing_.show(std::move(shown), permits_->present_grant());
  lock.unlock();
  if (wrong) handlers_.fatal({ExitCode::hook_failed, *wrong});
}

Shown NodeServices::shown() const {
  const std::lock_guard lock(showing_mutex_);
  return showing_.now(permits_->present_grant(), permits_->may_work());
}

// Runs on the application's executor. The application is destroyed there too, so it exists as long
// as this runs.
void NodeServices::run(const std::function<void()>& work) {
  if (!storage_.is_open()) return;
  call_user(work, [this](const std::string& why) {
    handlers_.fatal(
        {ExitCode::hook_failed, "node " + std::to_string(self_.value) + ": " + why +
                                    "; fix the application, then start the node again"});
  });
}

}  // namespace muster::net
