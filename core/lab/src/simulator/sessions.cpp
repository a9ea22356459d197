#include "sessions.hpp"

#include <algorithm>
#include <utility>

namespace muster::lab::simulated {

void Session::acknowledged(std::uint64_t number) {
  const auto first = std::find_if(queue.begin(), queue.end(),
                                  [&](const Queued& queued) { return queued.number > number; });
  written -= std::min(written, static_cast<std::size_t>(first - queue.begin()));
  queue.erase(queue.begin(), first);
}

Sessions::Sessions(Network& network, std::shared_ptr<Process> process, const Config& config,
                   const SafeState& safe, Handlers handlers)
    : network_(network),
      process_(std::move(process)),
      config_(config),
      incarnation_(safe.incarnation),
      instance_(process_->world.random.next() | 1),
      handlers_(std::move(handlers)) {
  for (NodeId node : config.nodes) {
    if (node == config.self) continue;
    const auto seen = safe.seen.find(node);
    Peer known;
    known.node = node;
    if (seen != safe.seen.end()) known.seen = seen->second;
    peers_.emplace(node, std::move(known));
  }
}

void Sessions::greet() {
  for (auto& [node, to] : peers_) {
    if (to.connection || to.dialling()) continue;
    to.greet = true;
    dial(to);
  }
}

// --- Calls and answers

void Sessions::send(const Letter& letter, std::optional<Duration> bound) {
  Peer& to = peer(letter.to);
  if (is_answer(letter)) {
    // An answer goes to the life that made the call, or nowhere.
    if (!to.session) return;
    auto& owed = to.session->owed;
    const auto at = std::find(owed.begin(), owed.end(), letter.call);
    if (at == owed.end()) return;
    owed.erase(at);
    to.session->queue.push_back({++to.session->last_number, letter.call, letter});
    flush(to);
    return;
  }
  to.calls.emplace(letter.call, Call{letter, life_called(letter), ++clock_});
  if (bound) after(*bound, [this, &to, number = letter.call] { unanswered(to, number); });
  call_made(to, letter.call);
}

void Sessions::call_made(Peer& to, CallNumber number) {
  const Call& call = to.calls.at(number);
  if (call.life) {
    const bool other =
        to.session ? *call.life != to.session->life : *call.life < to.seen || *call.life == to.over;
    if (other) {
      // Not within the step that makes the call.
      after(Duration{}, [this, &to, number] { unanswered(to, number); });
      return;
    }
  }
  if (to.session) push_call(to, number);
  if (to.connection) return flush(to);
  // A dial that has begun already may have been refused before this call was made: it proves
  // nothing for this one, which gets a dial of its own then.
  if (!to.dialling() && !(to.unwelcome && to.waits)) dial(to);
}

void Sessions::unanswered(Peer& by, CallNumber number) {
  if (!pending(by, number)) return;
  by.calls.erase(number);
  handlers_.unanswered(by.node, number);
}

Call* Sessions::pending(Peer& to, CallNumber number) {
  const auto found = to.calls.find(number);
  if (found == to.calls.end()) return nullptr;
  if (handlers_.awaited(number)) return &found->second;
  to.calls.erase(found);
  return nullptr;
}

// --- Letters

void Sessions::push_call(Peer& to, CallNumber number) {
  to.session->queue.push_back({++to.session->last_number, number, std::nullopt});
}

// Letters of calls that were given up are left out: their numbers are skipped.
void Sessions::flush(Peer& to) {
  if (!to.connection || !to.session) return;
  Session& session = *to.session;
  for (; session.written < session.queue.size(); ++session.written) {
    const Session::Queued& queued = session.queue[session.written];
    const Letter* letter = queued.answer ? &*queued.answer : nullptr;
    if (!letter) {
      Call* const call = pending(to, queued.call);
      if (!call) continue;
      call->written = true;
      letter = &call->letter;
    }
    network_.send(to.connection, to.side, Carried{queued.number, session.received, *letter});
  }
}

void Sessions::came_letter(Peer& from, Carried& carried) {
  Session& session = *from.session;
  session.acknowledged(carried.acknowledged);
  if (carried.number <= session.received) return;
  session.received = carried.number;
  from.quick_dials = 0;
  from.heard = true;
  if (!is_answer(carried.letter)) {
    session.owed.push_back(carried.letter.call);
  } else {
    if (!pending(from, carried.letter.call)) return;
    from.calls.erase(carried.letter.call);
  }
  handlers_.received(std::move(carried.letter));
}

void Sessions::came(const ConnectionPtr& connection, std::size_t side, Frame& frame) {
  take(connection, side, frame);
  handlers_.told();
}

void Sessions::take(const ConnectionPtr& connection, std::size_t side, Frame& frame) {
  if (!connection->sides[side].open) return;
  Peer& from = peer(connection->sides[1 - side].node);
  if (std::holds_alternative<Closed>(frame)) {
    connection->sides[side].open = false;
    return connection_ended(from, connection);
  }
  if (const auto* refusal = std::get_if<Refusal>(&frame)) {
    network_.close(connection, side);
    if (from.greeting == connection) from.greeting.reset();
    if (from.connection == connection) from.connection.reset();
    return was_refused(from, *refusal);
  }
  if (const auto* hello = std::get_if<Hello>(&frame)) {
    if (from.greeting == connection) return answered_hello(from, *hello);
    return greeted(from, connection, side, *hello);
  }
  if (from.connection == connection) came_letter(from, std::get<Carried>(frame));
}

void Sessions::connection_ended(Peer& with, const ConnectionPtr& connection) {
  if (with.greeting == connection)
    with.greeting.reset();
  else if (with.connection == connection)
    with.connection.reset();
  else
    return;
  if (!with.connection && !with.dialling()) dial_quickly(with);
}

}  // namespace muster::lab::simulated
