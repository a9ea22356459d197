#include "session.hpp"

#include <muster/net/frame.hpp>

#include <algorithm>
#include <utility>

namespace muster::net {

namespace {

// Letters are acknowledged by those that go the other way; these are the most that wait for one.
constexpr std::uint64_t untold_letters = 32;
constexpr std::size_t untold_limit = 64 * 1024;

// A life that makes calls which are never answered does not grow this without end.
constexpr std::size_t most_owed = 1024;

}  // namespace

bool Session::push_call(const Call& call, Calls& calls, const SessionLimits& limits) {
  return push({0, call.number, {}, call.bytes.size()}, calls, limits);
}

bool Session::push_answer(std::string bytes, Calls& calls, const SessionLimits& limits) {
  const std::size_t size = bytes.size();
  return push({0, std::nullopt, std::move(bytes), size}, calls, limits);
}

bool Session::push(Queued queued, Calls& calls, const SessionLimits& limits) {
  const auto full = [&] {
    return queue_.size() >= limits.queue_letters ||
           queued_bytes_ + queued.size > limits.queue_bytes;
  };
  if (full()) drop_dead(calls);
  if (full()) return false;
  queued.number = ++last_number_;
  queued_bytes_ += queued.size;
  queue_.push_back(std::move(queued));
  return true;
}

// Letters of calls that nobody awaits any more: their numbers are skipped.
void Session::drop_dead(Calls& calls) {
  std::deque<Queued> alive;
  std::size_t alive_written = 0;
  queued_bytes_ = 0;
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    Queued& queued = queue_[i];
    if (queued.call && !calls.pending(*queued.call)) continue;
    if (i < written_) ++alive_written;
    queued_bytes_ += queued.size;
    alive.push_back(std::move(queued));
  }
  queue_ = std::move(alive);
  written_ = alive_written;
}

void Session::write(std::string& out, std::size_t enough, Calls& calls, Counters& counters) {
  for (; written_ < queue_.size() && out.size() < enough; ++written_) {
    const Queued& queued = queue_[written_];
    const std::string* bytes = &queued.bytes;
    if (queued.call) {
      Call* call = calls.pending(*queued.call);
      if (!call) continue;
      call->written = true;
      bytes = &call->bytes;
    }
    append_carried(out, queued.number, received_, *bytes);
    told();
    ++counters.letters_out;
    if (queued.number <= highest_written_) ++counters.resent;
    highest_written_ = std::max(highest_written_, queued.number);
  }
  // What nobody awaits any more needs no acknowledgement to be forgotten.
  while (written_ > 0 && queue_.front().call && !calls.pending(*queue_.front().call)) {
    queued_bytes_ -= queue_.front().size;
    queue_.pop_front();
    --written_;
  }
}

bool Session::acknowledged(std::uint64_t number) {
  if (number > highest_written_) return false;
  while (!queue_.empty() && queue_.front().number <= number) {
    queued_bytes_ -= queue_.front().size;
    queue_.pop_front();
    if (written_ > 0) --written_;
  }
  return true;
}

bool Session::reconnected(std::uint64_t received) {
  if (!acknowledged(received)) return false;
  written_ = 0;
  return true;
}

bool Session::take(std::uint64_t number, std::size_t bytes) {
  if (number <= received_) return false;
  received_ = number;
  untold_bytes_ += bytes;
  return true;
}

bool Session::acknowledgement_due() const {
  return received_ - told_ >= untold_letters || untold_bytes_ >= untold_limit;
}

void Session::owe(CallNumber call) {
  if (owed_.size() >= most_owed) owed_.erase(owed_.begin());
  owed_.push_back(call);
}

bool Session::settle(CallNumber call) {
  const auto at = std::find(owed_.begin(), owed_.end(), call);
  if (at == owed_.end()) return false;
  owed_.erase(at);
  return true;
}

}  // namespace muster::net
