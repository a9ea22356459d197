#pragma once

#include <muster/protocol/letter.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace muster::net {

using Clock = std::chrono::steady_clock;

/// A call that is neither answered nor unanswered yet.
struct Call {
  CallNumber number;
  NodeId to;
  std::optional<Incarnation> life;  ///< the life that it names, if any
  std::uint64_t made{};             ///< when, in the order of calls and dials
  std::optional<Clock::time_point> deadline;
  std::string bytes;     ///< the letter: kept, for a call to a node goes to its next life too
  bool written = false;  ///< on a connection to the life that the session is with
  bool decided = false;  ///< its answer, or that it is unanswered, waits to be delivered
};

/// The calls of this life that are out, by number.
class Calls {
 public:
  void add(Call call) {
    const auto at = place(call.number);
    if (at == calls_.end() || at->number != call.number) calls_.insert(at, std::move(call));
  }
  /// The call, unless it is decided, given up, or never was.
  [[nodiscard]] Call* pending(CallNumber number) {
    const auto at = place(number);
    return at != calls_.end() && at->number == number && !at->decided ? &*at : nullptr;
  }
  /// Forgets it; false when it was forgotten before.
  bool erase(CallNumber number) {
    const auto at = place(number);
    if (at == calls_.end() || at->number != number) return false;
    calls_.erase(at);
    return true;
  }
  template <class Predicate>
  void keep_only(const Predicate& awaited) {
    std::erase_if(calls_, [&](const Call& call) { return !awaited(call.number); });
  }
  /// Calls `visit` with each call to that node that is not decided, in the order in which they were
  /// made.
  template <class Visit>
  void for_each_to(NodeId node, const Visit& visit) {
    for (Call& call : calls_)
      if (call.to == node && !call.decided) visit(call);
  }
  [[nodiscard]] bool any_to(NodeId node) const {
    return std::any_of(calls_.begin(), calls_.end(),
                       [node](const Call& call) { return call.to == node && !call.decided; });
  }
  [[nodiscard]] std::optional<Clock::time_point> next_deadline() const {
    std::optional<Clock::time_point> next;
    for (const Call& call : calls_)
      if (!call.decided && call.deadline && (!next || *call.deadline < *next)) next = call.deadline;
    return next;
  }
  /// The calls whose bound has passed.
  [[nodiscard]] std::vector<std::pair<NodeId, CallNumber>> overdue(Clock::time_point now) const {
    std::vector<std::pair<NodeId, CallNumber>> found;
    for (const Call& call : calls_)
      if (!call.decided && call.deadline && *call.deadline <= now)
        found.emplace_back(call.to, call.number);
    return found;
  }

 private:
  std::vector<Call>::iterator place(CallNumber number) {
    return std::lower_bound(
        calls_.begin(), calls_.end(), number,
        [](const Call& call, CallNumber wanted) { return call.number < wanted; });
  }
  std::vector<Call> calls_;  // few, and nearly always added at the end
};

}  // namespace muster::net
