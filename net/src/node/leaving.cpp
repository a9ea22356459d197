// The ends of a node's process: in order, at once, or by a fault.

#include "node/end_process.hpp"
#include "node/impl.hpp"

#include <muster/values/text.hpp>

#include <boost/asio/post.hpp>

#include <utility>

#include <unistd.h>

namespace muster::net {

namespace asio = boost::asio;

void Node::Impl::leave(std::function<void()> left) {
  asio::post(strand_, [weak = weak_from_this(), left = std::move(left)]() mutable {
    const auto self = weak.lock();
    if (!self) return;
    self->absence_.close();
    self->left_.push_back(std::move(left));
    const auto life = self->lives_->present();
    if (!life) return self->gone();
    self->leave_in_time();
    life->leave();
  });
}

// Limits the time of an orderly end. The application has a deadline of its own, but a disk can hang
// for ever.
void Node::Impl::leave_in_time() {
  const Timings& timings = options_.config.timings;
  const Duration bound = timings.stop_deadline + 2 * timings.T;
  left_in_time_.after(bound, [this, bound] {
    fatal({ExitCode::io_error, name() + " could not leave in order within " + to_text(bound) +
                                   ": its disk did not answer in that time; the other nodes will "
                                   "treat this node as failed"});
  });
}

void Node::Impl::gone() {
  left_in_time_.cancel();
  certificates_.cancel();
  chronicle_.flush();
  hear_nobody();
  for (const auto& left : std::exchange(left_, {}))
    if (left) left();
}

void Node::Impl::hear_nobody() {
  if (admin_) admin_->close();
  if (watchers_) watchers_->close();
}

void Node::Impl::close() {
  hear_nobody();
  certificates_.cancel();
  absence_.close();
  left_in_time_.cancel();
  lives_->close();
  *thrown_ = [log = log_](const std::exception* error) {
    log->fatal(std::string("a handler threw after its node had ended: ") +
               (error ? error->what() : "no std::exception"));
    ::_exit(static_cast<int>(ExitCode::impossible_state));
  };
}

void Node::Impl::fatal(const Failure& failure) {
  end_process(failure, options_.config.timings.T / 8, *log_, [&] {
    if (options_.log.fatal) options_.log.fatal(failure);
    if (const auto life = lives_->last()) life->note_end(failure);
  });
}

}  // namespace muster::net
