// Dials, and what a Hello makes of a peer: whether it is taken, which life it proves to be over,
// and how the session goes on over the new connection.

#include "sessions.hpp"

#include <algorithm>
#include <utility>

namespace muster::lab::simulated {

namespace {

constexpr Duration first_quick_delay = std::chrono::microseconds(200);
constexpr Duration longest_unwelcome_delay = std::chrono::seconds(1);
constexpr unsigned most_doublings = 16;

Duration doubled(Duration first, unsigned times, Duration most) {
  return std::min(first * (1 << std::min(times, most_doublings)), most);
}

}  // namespace

// --- Dials

// A session needs a connection, for else nothing would prove its end; and so does a call.
bool Sessions::wanted(const Peer& to) const {
  return to.session || to.greet ||
         std::any_of(to.calls.begin(), to.calls.end(),
                     [&](const auto& call) { return handlers_.awaited(call.first); });
}

void Sessions::dial(Peer& to) {
  if (to.connection || to.dialling()) return;
  to.waits = false;
  ++to.wait;
  to.dial = to.dial_begun = ++clock_;
  network_.dial(process_, this, config_.self, to.node, to.dial);
  after(config_.timings.T, [this, &to, dial = to.dial] {
    if (to.dial != dial) return;
    to.dial = 0;
    dial_slowly(to);
  });
}

void Sessions::dial_ended(NodeId node, std::uint64_t dial, DialEnd end,
                          const ConnectionPtr& connection) {
  Peer& to = peer(node);
  if (to.dial != dial) {
    if (connection) network_.close(connection, 0);
    return;
  }
  to.dial = 0;
  if (end == DialEnd::refused) {
    found_refused(to);
    return handlers_.told();
  }
  // Accepted by a process that was over before this was known here.
  if (!connection->sides[0].open) return dial_quickly(to);
  to.greeting = connection;
  to.side = 0;
  network_.send(connection, 0, own_hello(to));
  after(config_.timings.T, [this, &to, connection] {
    if (to.greeting != connection) return;
    network_.close(connection, 0);
    to.greeting.reset();
    dial_slowly(to);
  });
}

// Nothing listens there, and the connection was read to its end before this dial began: the life is
// over.
void Sessions::found_refused(Peer& to) {
  to.greet = false;
  to.unwelcome = false;
  to.quick_dials = to.slow_dials = 0;
  if (to.session) end_session(to);
  unanswered_to(to, [&](const Call& call) { return call.made < to.dial_begun; });
  if (wanted(to)) dial(to);
}

void Sessions::dial_after(Peer& to, Duration delay) {
  if (!wanted(to)) return;
  if (delay == Duration::zero()) return dial(to);
  to.waits = true;
  after(delay, [this, &to, wait = ++to.wait] {
    if (to.wait != wait || !to.waits) return;
    to.waits = false;
    if (wanted(to)) dial(to);
  });
}

// The other machine answers, so the next dial may prove something. The first is at once.
void Sessions::dial_quickly(Peer& to) {
  const Duration delay =
      to.quick_dials == 0 ? Duration::zero()
                          : doubled(first_quick_delay, to.quick_dials - 1, config_.timings.T / 4);
  ++to.quick_dials;
  dial_after(to, delay);
}

// Silence, or a refusal that lasts.
void Sessions::dial_slowly(Peer& to) {
  const Duration T = config_.timings.T;
  const Duration most = to.unwelcome ? std::max(T, longest_unwelcome_delay) : T / 2;
  dial_after(to, doubled(T / 8, to.slow_dials++, most));
}

void Sessions::give_up_dial(Peer& to) {
  ++to.wait;
  to.waits = false;
  to.dial = 0;
  if (to.greeting) network_.close(to.greeting, 0);
  to.greeting.reset();
}

// --- Hellos

Hello Sessions::own_hello(Peer& to) {
  Hello hello{incarnation_, instance_, ++hellos_, to.session_count, to.instance, 0, 0};
  if (to.session) {
    hello.peer_session = to.session->peer_session;
    hello.received = to.session->received;
  }
  return hello;
}

// A life before the last one that was seen, or the same in another process.
bool Sessions::refuses(const Peer& from, const Hello& hello) const {
  return hello.incarnation < from.seen ||
         (hello.incarnation == from.seen && from.instance != 0 && hello.instance != from.instance);
}

// A Hello that was said before one that was taken already.
bool Sessions::stale(const Peer& from, const Hello& hello) const {
  if (hello.instance != from.instance) return false;
  return hello.number <= from.last_hello ||
         (from.session && session_of(hello) < from.session->peer_session);
}

// A Hello that was said before the other side knew this life begins its first session with it.
std::uint64_t Sessions::session_of(const Hello& hello) const {
  return hello.peer_instance == instance_ ? hello.session : 1;
}

void Sessions::greeted(Peer& from, const ConnectionPtr& connection, std::size_t side,
                       const Hello& hello) {
  if (refuses(from, hello)) {
    network_.send(connection, side, Refusal{from.seen});
    return network_.close(connection, side);
  }
  if (stale(from, hello)) return network_.close(connection, side);
  const bool crossing = from.greeting && config_.self > from.node;
  take_life(from, hello);
  if (crossing && from.greeting) {
    network_.send(connection, side, Refusal{});
    return network_.close(connection, side);
  }
  establish(from, connection, side, hello, true);
}

void Sessions::answered_hello(Peer& from, const Hello& hello) {
  const ConnectionPtr connection = from.greeting;
  if (refuses(from, hello)) {
    network_.send(connection, 0, Refusal{from.seen});
    network_.close(connection, 0);
    from.greeting.reset();
    from.unwelcome = true;
    return dial_slowly(from);
  }
  if (stale(from, hello)) {
    network_.close(connection, 0);
    return connection_ended(from, connection);
  }
  take_life(from, hello);
  establish(from, connection, 0, hello, false);
}

// Where the Hello is of a newer life, the one before is over.
void Sessions::take_life(Peer& of, const Hello& hello) {
  if (of.session && of.session->instance != hello.instance) {
    if (of.connection) network_.close(of.connection, of.side);
    of.connection.reset();
    end_session(of);
  }
  if (hello.incarnation > of.seen)
    unanswered_to(of,
                  [&](const Call& call) { return call.life && *call.life < hello.incarnation; });
  if (of.instance != hello.instance) of.session_count = 1;
  of.seen = hello.incarnation;
  of.instance = hello.instance;
  of.last_hello = hello.number;
}

void Sessions::establish(Peer& with, const ConnectionPtr& connection, std::size_t side,
                         const Hello& hello, bool accepted) {
  if (with.greeting == connection) with.greeting.reset();
  give_up_dial(with);
  if (with.connection && with.connection != connection) network_.close(with.connection, with.side);
  // The other side has ended the session: it took a refused connection for the end of this life.
  if (with.session && session_of(hello) > with.session->peer_session) {
    with.session.reset();
    ++with.session_count;
  }
  if (!with.session) begin_session(with, hello);
  const bool same = hello.peer_instance == instance_ && hello.peer_session == with.session_count;
  with.connection = connection;
  with.side = side;
  with.session->acknowledged(same ? hello.received : 0);
  with.session->written = 0;
  with.greet = false;
  with.unwelcome = false;
  with.slow_dials = 0;
  if (accepted) network_.send(connection, side, own_hello(with));
  flush(with);
}

void Sessions::begin_session(Peer& with, const Hello& hello) {
  with.heard = hello.incarnation != with.over;
  with.session.emplace(
      Session{hello.incarnation, hello.instance, session_of(hello), {}, 0, 0, 0, {}});
  unanswered_to(with,
                [&](const Call& call) { return call.life && *call.life != with.session->life; });
  for (const auto& [number, call] : with.calls)
    if (!call.written && handlers_.awaited(number)) push_call(with, number);
}

// The life is over: proven. What was to that life is unanswered, what was to the node goes to its
// next life.
void Sessions::end_session(Peer& with) {
  const Incarnation life = with.session->life;
  if (with.heard) handlers_.failed(with.node, life);
  with.over = life;
  with.session.reset();
  ++with.session_count;
  for (auto& [number, call] : with.calls) call.written = false;
  unanswered_to(with, [&](const Call& call) { return call.life && *call.life <= life; });
}

void Sessions::was_refused(Peer& by, const Refusal& refusal) {
  ++by.wait;
  by.waits = false;
  if (!refusal.seen) return dial_quickly(by);
  by.unwelcome = true;
  if (*refusal.seen >= incarnation_) handlers_.outlived(*refusal.seen);
  dial_slowly(by);
}

}  // namespace muster::lab::simulated
