// How a peer is dialled: at once where that can prove something, with growing delays where it
// cannot.

#include "peer.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace muster::net {

using boost::system::error_code;
using namespace std::chrono_literals;

namespace {

constexpr Duration first_quick_delay = 200us;
constexpr Duration longest_unwelcome_delay = 1s;
constexpr unsigned most_doublings = 16;

Duration doubled(Duration first, unsigned times, Duration most) {
  return std::min(first * (1 << std::min(times, most_doublings)), most);
}

}  // namespace

// A session needs a connection, for else nothing would prove its end; and so does a call.
bool Peer::wanted() const {
  return session_ || greet_ || context_->calls.any_to(id_);
}

void Peer::dial() {
  if (context_->closed || connection_ || dialling()) return;
  timer_.cancel();
  waits_ = false;
  dial_begun_ = ++context_->clock;
  ++context_->counters.dialled;
  dial_ = std::make_shared<Dial>(context_->executor, context_->T);
  dial_->begin(address_, [self = shared_from_this()](DialEnd end, Tcp::socket socket) {
    self->dial_.reset();
    self->dial_ended(end, std::move(socket));
    self->turn_ended();
  });
}

void Peer::dial_ended(DialEnd end, Tcp::socket socket) {
  switch (end) {
    case DialEnd::connected:
      return say_hello(std::move(socket));
    case DialEnd::refused:
      return found_refused();
    case DialEnd::reset:
      return dial_quickly();
    case DialEnd::silence:
      return dial_slowly();
  }
}

void Peer::say_hello(Tcp::socket socket) {
  greeting_ = std::make_shared<Connection>(std::move(socket), context_->frame_deadline(),
                                           context_->counters);
  greeting_->belongs_to(this);
  refusal_follows_ = false;
  append_frame(greeting_->out(), own_hello());
  greeting_->flush();
  greeting_->start();
  timer_.expires_after(context_->T);
  timer_.async_wait([self = shared_from_this(), greeting = greeting_](error_code error) {
    if (error || self->greeting_ != greeting) return;
    greeting->read_now();
    if (self->greeting_ == greeting) {
      greeting->close();
      self->greeting_.reset();
      self->dial_slowly();
    }
    self->turn_ended();
  });
}

// Nothing listens there, and the connection was read to its end before this dial began: the life is
// over.
void Peer::found_refused() {
  context_->read_hellos();  // of a new life, if it has come as far as that
  if (connection_ || dialling()) return;
  greet_ = false;
  unwelcome_ = false;
  quick_dials_ = slow_dials_ = 0;
  if (session_) end_session();
  bool later_calls = false;
  context_->calls.for_each_to(id_, [&](Call& call) {
    if (call.made < dial_begun_)
      context_->unanswered(call);
    else
      later_calls = true;
  });
  if (later_calls) dial();
}

void Peer::dial_after(Duration delay) {
  if (!wanted()) return;
  if (delay == Duration::zero()) return dial();
  waits_ = true;
  timer_.expires_after(delay);
  timer_.async_wait([self = shared_from_this()](error_code error) {
    if (error || !self->waits_) return;
    self->waits_ = false;
    if (self->wanted()) self->dial();
    self->turn_ended();
  });
}

// The other machine answers, so the next dial may prove something: a process that dies accepts for
// a moment. The first is at once.
void Peer::dial_quickly() {
  const Duration delay = quick_dials_ == 0
                             ? Duration::zero()
                             : doubled(first_quick_delay, quick_dials_ - 1, context_->T / 4);
  ++quick_dials_;
  dial_after(delay);
}

// Silence, or a refusal that lasts.
void Peer::dial_slowly() {
  const Duration most =
      unwelcome_ ? std::max(context_->T, longest_unwelcome_delay) : context_->T / 2;
  dial_after(doubled(context_->T / 8, slow_dials_++, most));
}

void Peer::give_up_dial() {
  timer_.cancel();
  waits_ = false;
  if (dial_) dial_->give_up();
  dial_.reset();
  if (greeting_) greeting_->close();
  greeting_.reset();
}

}  // namespace muster::net
