// How a life ends that is not its process's end, and how the process is left in order.

#include "clock.hpp"
#include "node_impl.hpp"

#include <muster/protocol/calm.hpp>
#include <muster/values/text.hpp>

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace muster::net {

namespace asio = boost::asio;

void Node::Impl::leave(std::function<void()> left) {
  asio::post(strand_, [weak = weak_from_this(), left = std::move(left)]() mutable {
    const auto self = weak.lock();
    if (!self) return;
    self->leaving_ = true;
    self->left_.push_back(std::move(left));
    self->wait_.cancel();
    if (!self->life_ || self->life_->has_ended()) return self->gone();
    self->leave_in_time();
    self->life_->leave();
  });
}

// The application has its deadline; what may last for ever is a disk that hangs.
void Node::Impl::leave_in_time() {
  const Timings& timings = options_.config.timings;
  const Duration bound = timings.stop_deadline + 2 * timings.T;
  wait_.expires_after(bound);
  wait_.async_wait([weak = weak_from_this(), bound, number = ++waits_](auto error) {
    const auto self = weak.lock();
    if (error || !self || self->waits_ != number) return;
    self->fatal({ExitCode::io_error,
                 "node " + to_text(self->options_.config.self) + " has not left in order within " +
                     to_text(bound) +
                     ": its disk has not answered for so long; the others take it for failed"});
  });
}

void Node::Impl::left(LeaveCause cause) {
  if (leaving_) return gone();
  if (cause == LeaveCause::stood_back && !order_) return stand_back();
  if (cause == LeaveCause::unsteady && !order_) return stay_away();
  go_out();
}

void Node::Impl::gone() {
  cancel_waits();
  history_->flush();
  hear_nobody();
  for (const auto& left : std::exchange(left_, {}))
    if (left) left();
}

// Hooks failed again and again: nothing is answered for a while, then a new life begins.
void Node::Impl::stand_back() {
  using namespace std::chrono_literals;
  if (life_->was_normal()) stood_back_ = 0;
  const Duration back_off = std::min<Duration>(1s * (1 << std::min(stood_back_++, 9u)), 5min);
  log_->warn("node " + std::to_string(options_.config.self.value) +
             " stands back: hooks failed again and again, the last time " + news_->last_failure() +
             "; mend the application: a new life begins in " + std::to_string(back_off / 1s) +
             " s");
  order_ = Order{Out::stood_back, back_off};
  go_out();
}

// It lost its groups again and again: others go on without it for a while.
void Node::Impl::stay_away() {
  const Duration time = stays_away(unsteady_, boottime_now(), holds(options_.config));
  log_->warn("node " + std::to_string(options_.config.self.value) + " stays away for " +
             to_text(time) + ": the groups that it coordinated did not last (calm)");
  order_ = Order{Out::unsteady, time};
  go_out();
}

// The life has left in order, or there is none: whoever asked for that is told.
void Node::Impl::go_out() {
  {
    const std::lock_guard lock(life_mutex_);
    out_ = order_->why;
  }
  wait_.cancel();
  ++waits_;
  history_->flush();
  if (*out_ != Out::drained && *out_ != Out::unproven) come_back_after(order_->back_after);
  tell();
}

void Node::Impl::come_back_after(Duration time) {
  wait_.expires_after(time);
  wait_.async_wait([weak = weak_from_this(), number = ++waits_](auto error) {
    const auto self = weak.lock();
    // Another order may have come when the time was over already.
    if (!self || error || self->waits_ != number || !self->order_) return;
    self->order_.reset();
    if (self->life_)
      self->begin_next_life({});
    else
      self->begin_held_life();
  });
}

}  // namespace muster::net
