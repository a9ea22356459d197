#include <muster/host/inbox.hpp>

#include <algorithm>
#include <utility>

namespace muster {

void Inbox::begin(const SafeState& safe, Duration now) {
  waiting_.push_front({Recovered{safe}, now});
  last_pause_ = now;
}

void Inbox::put(Event event, Duration now) {
  waiting_.push_back({std::move(event), now});
}

void Inbox::expire(Timer timer, Arming arming, Duration now) {
  waiting_.push_back({Expired{timer}, now, arming});
}

void Inbox::on_pause(Duration gap) {
  if (gap > longest_wait_) pause_ = std::max(pause_.value_or(gap), gap);
}

bool Inbox::is_late(Duration now) const {
  return !waiting_.empty() && now - std::max(waiting_.front().since, last_pause_) > longest_wait_;
}

std::optional<Event> Inbox::next(Duration now) {
  while (!waiting_.empty() && is_void(waiting_.front())) waiting_.pop_front();
  // One Paused is given for all events that have waited too long.
  if (!waiting_.empty()) on_pause(now - std::max(waiting_.front().since, last_pause_));
  const auto pause = std::exchange(pause_, std::nullopt);
  if (pause && begun_) {
    last_pause_ = now;
    pausing_ = true;
    return Paused{*pause};
  }
  if (waiting_.empty()) return std::nullopt;
  begun_ = true;
  Event event = std::move(waiting_.front().event);
  waiting_.pop_front();
  return event;
}

bool Inbox::has_call(NodeId from, CallNumber call) const {
  return std::any_of(waiting_.begin(), waiting_.end(), [&](const Waiting& waiting) {
    const auto* received = std::get_if<Received>(&waiting.event);
    return received && received->letter.from == from && received->letter.call == call &&
           !is_answer(received->letter);
  });
}

bool Inbox::is_void(const Waiting& waiting) const {
  const auto* expired = std::get_if<Expired>(&waiting.event);
  return expired && armings_.at(expired->timer) != waiting.arming;
}

}  // namespace muster
