#include "node/absence.hpp"

#include "base/clock.hpp"

#include <algorithm>

namespace muster::net {

using namespace std::chrono_literals;

std::optional<std::string> Absence::order(Out why, Duration back_after) {
  if (closed_) return "the process is ending";
  if (ordered() == Out::drained && why != Out::drained)
    return "it is drained; muster drain --undo brings it back";
  const bool is_on_its_way = order_.has_value();
  const auto life = handlers_.present();
  if (!is_on_its_way && !life) return "it is starting a new life; ask again";
  order_ = Order{why, back_after};
  if (out())
    begin();
  else if (!is_on_its_way)
    life->leave();
  return std::nullopt;
}

std::optional<std::string> Absence::undo_drain() {
  if (closed_) return "the process is ending";
  if (ordered() != Out::drained) return "it is not drained";
  end();
  return std::nullopt;
}

std::optional<Out> Absence::ordered() const {
  return order_ ? std::optional(order_->why) : std::nullopt;
}

void Absence::begin() {
  {
    const std::lock_guard lock(mutex_);
    out_ = order_->why;
  }
  back_.cancel();
  const bool owner_ends_it = order_->why == Out::drained || order_->why == Out::unproven;
  if (!owner_ends_it)
    back_.after(order_->back_after, [this] {
      order_.reset();
      handlers_.come_back();
    });
  handlers_.is_out();
}

void Absence::begin(Out why, Duration back_after) {
  order_ = Order{why, back_after};
  begin();
}

void Absence::end() {
  order_ = Order{Out::stepped_down, {}};
  if (out()) begin();
}

void Absence::close() {
  closed_ = true;
  back_.cancel();
}

void Absence::is_over() {
  const std::lock_guard lock(mutex_);
  out_.reset();
}

Duration Absence::back_off(bool was_normal) {
  if (was_normal) backed_off_ = 0;
  return std::min<Duration>(1s * (1 << std::min(backed_off_++, 9u)), 5min);
}

Duration Absence::stay_away(Holds holds) {
  return stays_away(unsteady_, boottime_now(), holds);
}

std::optional<Out> Absence::out() const {
  const std::lock_guard lock(mutex_);
  return out_;
}

}  // namespace muster::net
