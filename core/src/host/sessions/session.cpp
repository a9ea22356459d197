#include "session.hpp"

#include <algorithm>
#include <utility>

namespace muster::host {

namespace {

// Each letter that this node sends acknowledges the letters it has received. If this many letters
// or bytes arrive while this node sends no letter, it acknowledges them by a frame of its own.
constexpr std::uint64_t untold_letters = 32;
constexpr std::size_t untold_limit = 64 * 1024;

// A bound on memory, for a life whose calls are never answered.
constexpr std::size_t most_owed = 1024;

bool given_up(const Queued& queued, const Calls& calls) {
  return !queued.answer && !calls.contains(queued.call);
}

// Removes the letters of calls that are given up. The numbers of these letters are skipped.
void drop_given_up(Session& session, const Calls& calls) {
  std::vector<Queued> left;
  std::size_t left_written = 0;
  session.queued_bytes = 0;
  for (std::size_t i = 0; i < session.queue.size(); ++i) {
    Queued& queued = session.queue[i];
    if (given_up(queued, calls)) continue;
    if (i < session.written) ++left_written;
    session.queued_bytes += queued.size;
    left.push_back(std::move(queued));
  }
  session.queue = std::move(left);
  session.written = left_written;
}

void forget_first(Session& session, std::size_t count) {
  const auto end = session.queue.begin() + static_cast<std::ptrdiff_t>(count);
  for (auto at = session.queue.begin(); at != end; ++at) session.queued_bytes -= at->size;
  session.queue.erase(session.queue.begin(), end);
  session.written -= std::min(session.written, count);
}

}  // namespace

bool push(Session& session, Queued queued, const Calls& calls, const SessionLimits& limits) {
  const auto full = [&] {
    return session.queue.size() >= limits.queue_letters ||
           session.queued_bytes + queued.size > limits.queue_bytes;
  };
  if (full()) drop_given_up(session, calls);
  if (full()) return false;
  queued.number = ++session.last_number;
  session.queued_bytes += queued.size;
  session.queue.push_back(std::move(queued));
  return true;
}

void forget_given_up(Session& session, const Calls& calls) {
  std::size_t count = 0;
  while (count < session.written && given_up(session.queue[count], calls)) ++count;
  forget_first(session, count);
}

bool acknowledged(Session& session, std::uint64_t number) {
  if (number > session.highest_written) return false;
  const auto first = std::find_if(session.queue.begin(), session.queue.end(),
                                  [&](const Queued& queued) { return queued.number > number; });
  forget_first(session, static_cast<std::size_t>(first - session.queue.begin()));
  return true;
}

bool reconnected(Session& session, std::uint64_t received, bool again) {
  if (!acknowledged(session, received)) return false;
  if (again) session.written = 0;
  return true;
}

bool receive(Session& session, std::uint64_t number, std::size_t bytes) {
  if (number <= session.received) return false;
  session.received = number;
  session.untold_bytes += bytes;
  return true;
}

bool acknowledgement_due(const Session& session) {
  return session.received - session.told >= untold_letters || session.untold_bytes >= untold_limit;
}

void told(Session& session) {
  session.told = session.received;
  session.untold_bytes = 0;
}

void owe(Session& session, CallNumber call) {
  if (session.owed.size() >= most_owed) session.owed.erase(session.owed.begin());
  session.owed.push_back(call);
}

bool take_owed(Session& session, CallNumber call) {
  const auto at = std::find(session.owed.begin(), session.owed.end(), call);
  if (at == session.owed.end()) return false;
  session.owed.erase(at);
  return true;
}

}  // namespace muster::host
