#include "peer.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace muster::net {

Peer::Peer(std::shared_ptr<Context> context, NodeId id, std::string address, Incarnation seen)
    : context_(std::move(context)),
      id_(id),
      address_(std::move(address)),
      seen_(seen),
      timer_(context_->executor) {}

void Peer::call_made(Call& call) {
  if (call.life) {
    const bool other =
        session_ ? *call.life != session_->life() : *call.life < seen_ || *call.life == over_;
    if (other) return context_->unanswered(call);
  }
  if (session_) push(call);
  if (connection_) return flush_soon();
  // A dial that has begun already may have been refused before this call was made: it proves
  // nothing for this one, which gets a dial of its own then.
  if (!dialling() && !(unwelcome_ && waits_)) dial();
}

void Peer::push(Call& call) {
  if (session_->push_call(call, context_->calls, context_->limits)) return;
  ++context_->counters.dropped;
  context_->warn("queue of " + name(), name() + " takes no letters: what is sent to it is dropped");
}

void Peer::answer(CallNumber call, std::string bytes) {
  if (!session_ || !session_->settle(call)) return;
  if (!session_->push_answer(std::move(bytes), context_->calls, context_->limits))
    ++context_->counters.dropped;
  if (connection_) flush_soon();
}

void Peer::asked(std::uint64_t instance, CallNumber call) {
  if (session_ && session_->instance() == instance) session_->owe(call);
}

void Peer::greet() {
  if (connection_ || dialling()) return;
  greet_ = true;
  dial();
}

void Peer::read_now() {
  if (const auto connection = connection_) connection->read_now();
  if (const auto greeting = greeting_) greeting->read_now();
}

void Peer::break_connection() {
  if (const auto connection = connection_) {
    connection->close();
    ended(*connection, End::finished, "broken on purpose");
  }
}

void Peer::close() {
  if (connection_) connection_->close();
  connection_.reset();
  give_up_dial();
}

void Peer::begin_session(const Hello& hello) {
  heard_ = hello.incarnation != over_;
  session_.emplace(hello.incarnation, hello.instance, session_of(hello));
  ++context_->counters.sessions;
  context_->calls.for_each_to(id_, [this](Call& call) {
    if (call.life && *call.life != session_->life())
      context_->unanswered(call);
    else if (!call.written)
      push(call);
  });
}

// The life is over: proven. What was to that life is unanswered, what was to the node goes to its
// next life.
void Peer::end_session() {
  const Incarnation life = session_->life();
  // The Hello of a life that is over may be found after the proof: nothing new is over then.
  if (heard_) context_->notify(LifeOver{id_, life});
  over_ = life;
  session_.reset();
  ++session_count_;
  context_->calls.for_each_to(id_, [&](Call& call) {
    call.written = false;
    if (call.life && *call.life <= life) context_->unanswered(call);
  });
}

void Peer::came(Connection& connection, Frame frame) {
  if (auto* refusal = std::get_if<Refusal>(&frame)) {
    const auto self = connection.shared_from_this();
    const bool by_whom_it_dialled = greeting_ == self && refusal_follows_;
    connection.close();
    if (greeting_ == self) greeting_.reset();
    if (connection_ == self) connection_.reset();
    return was_refused(*refusal, by_whom_it_dialled);
  }
  if (greeting_.get() == &connection) {
    if (auto* hello = std::get_if<Hello>(&frame)) return answered_hello(greeting_, *hello);
    return misbehaved(connection, "sent something before its Hello");
  }
  if (auto* carried = std::get_if<Carried>(&frame))
    return came_letter(connection, std::move(*carried));
  if (auto* acknowledged = std::get_if<Acknowledged>(&frame)) {
    if (!session_->acknowledged(acknowledged->number))
      return misbehaved(connection, "acknowledged a letter that was never sent");
    quick_dials_ = 0;
    return;
  }
  misbehaved(connection, "sent a frame that has no place in a session");
}

void Peer::came_letter(Connection& connection, Carried carried) {
  Letter& letter = carried.letter;
  if (letter.from != id_ || letter.incarnation != session_->life() ||
      letter.to != context_->self.id)
    return misbehaved(connection, "sent a letter that is not from it, or not to this node");
  if (!session_->acknowledged(carried.acknowledged))
    return misbehaved(connection, "acknowledged a letter that was never sent");
  if (!session_->take(carried.number, connection.frame_size())) {
    ++context_->counters.duplicates;
    return;
  }
  ++context_->counters.letters_in;
  quick_dials_ = 0;
  heard_ = true;
  context_->voices.erase(id_);  // it has taken this life
  if (session_->acknowledgement_due()) flush_soon();
  if (is_answer(letter)) {
    Call* const call = context_->calls.pending(letter.call);
    if (!call || call->to != id_) return;  // unanswered meanwhile, or given up
    call->decided = true;
  }
  context_->notify(LetterCame{std::move(letter), session_->instance()});
}

void Peer::misbehaved(Connection& connection, const std::string& what) {
  connection.close();
  ended(connection, End::garbage, what);
}

void Peer::ended(Connection& connection, End end, const std::string& why) {
  if (end != End::finished) {
    ++context_->counters.garbage;
    context_->warn(name(), name() + ": " + why);
  }
  if (greeting_.get() == &connection) {
    greeting_.reset();
    timer_.cancel();
  } else if (connection_.get() == &connection) {
    ++context_->counters.broken;
    connection_.reset();
  }
  if (!connection_ && !dialling()) dial_quickly();
}

void Peer::writable(Connection& connection) {
  if (connection_.get() == &connection) flush();
}

// Letters of one turn go in one write.
void Peer::flush_soon() {
  if (flush_posted_) return;
  flush_posted_ = true;
  boost::asio::post(context_->executor, [self = shared_from_this()] {
    self->flush_posted_ = false;
    self->flush();
  });
}

void Peer::flush() {
  if (!connection_ || !session_) return;
  std::string& out = connection_->out();
  do {
    session_->write(out, Connection::enough_bytes, context_->calls, context_->counters);
    if (session_->acknowledgement_due()) {
      append_frame(out, Acknowledged{session_->received()});
      session_->told();
    }
    if (out.empty()) return;
    connection_->flush();
  } while (out.empty() && !session_->all_written());
}

}  // namespace muster::net
