// What a Hello makes of a peer: whether it is taken, which life it proves to be over, and how the
// session goes on over the new connection.

#include "peer.hpp"

#include "hello_check.hpp"

#include <utility>

namespace muster::net {

std::optional<Refusal> Peer::refuse_life(const Hello& hello) const {
  if (hello.incarnation < seen_) {
    return Refusal{RefusalReason::outlived,
                   name() + " says that it is incarnation " +
                       std::to_string(hello.incarnation.value) + ", but " +
                       std::to_string(seen_.value) +
                       " was seen of it; if its store was emptied or restored, 'muster node "
                       "--initialise' begins it anew",
                   seen_.value};
  }
  if (seen_.value > 0 && hello.incarnation.value > seen_.value + most_lives_ahead) {
    return Refusal{RefusalReason::stranger, name() + " says that it is incarnation " +
                                                std::to_string(hello.incarnation.value) +
                                                ", and no more than " +
                                                std::to_string(seen_.value) + " was seen of it"};
  }
  if (hello.incarnation == seen_ && instance_ != 0 && hello.instance != instance_) {
    return Refusal{RefusalReason::clone,
                   "two processes say that they are incarnation " + std::to_string(seen_.value) +
                       " of " + name() +
                       "; if its store was wiped, 'muster node "
                       "--initialise' begins it anew",
                   seen_.value};
  }
  return std::nullopt;
}

// A Hello that was said before one that was taken already.
bool Peer::stale(const Hello& hello) const {
  if (hello.instance != instance_) return false;
  return hello.number <= last_hello_ || (session_ && session_of(hello) < session_->peer_session());
}

// A Hello that was said before the other side knew this life begins its first session with it.
std::uint64_t Peer::session_of(const Hello& hello) const {
  return hello.peer_instance == context_->self.instance ? hello.session : 1;
}

// Where the Hello is of a newer life, the one before is over. What it has said still counts.
void Peer::take_life(const Hello& hello) {
  if (session_ && session_->instance() != hello.instance) {
    if (const auto connection = connection_) {
      connection->read_now();
      connection->close();
      connection_.reset();
    }
    end_session();
  }
  if (hello.incarnation > seen_) {
    context_->calls.for_each_to(id_, [&](Call& call) {
      if (call.life && *call.life < hello.incarnation) context_->unanswered(call);
    });
  }
  if (instance_ != hello.instance) session_count_ = 1;
  seen_ = hello.incarnation;
  instance_ = hello.instance;
  last_hello_ = hello.number;
}

void Peer::greeted(const std::shared_ptr<Connection>& connection, const Hello& hello) {
  if (const auto refusal = refuse_life(hello)) return refuse(connection, *refusal);
  if (stale(hello) || connection->at_end()) return connection->close();
  const bool crossing = greeting_ && context_->self.id > id_;
  take_life(hello);
  if (crossing && greeting_) {
    ++context_->counters.refused_hellos;
    append_frame(connection->out(), Refusal{RefusalReason::crossing,
                                            "the connection that the higher id dialled stays"});
    connection->flush();
    return connection->close();
  }
  establish(connection, hello, true);
}

void Peer::answered_hello(const std::shared_ptr<Connection>& connection, const Hello& hello) {
  const auto kept = connection;  // `greeting_` is let go of below
  if (auto refusal = refuse_speech(context_->self, hello)) return refuse(kept, *refusal);
  if (hello.role != Role::node || hello.from != id_) {
    return refuse(kept, Refusal{RefusalReason::stranger,
                                "node " + std::to_string(hello.from.value) + " answers at " +
                                    address_ + ", where " + name() + " should be"});
  }
  if (const auto refusal = refuse_life(hello)) return refuse(kept, *refusal);
  if (hello.session == 0) {  // what it refuses this life for comes next
    refusal_follows_ = true;
    return;
  }
  if (stale(hello)) return misbehaved(*kept, "said an old Hello");
  take_life(hello);
  establish(kept, hello, false);
}

void Peer::establish(const std::shared_ptr<Connection>& connection, const Hello& hello,
                     bool accepted) {
  if (greeting_ == connection) greeting_.reset();
  give_up_dial();
  if (connection_) connection_->close();
  connection_.reset();
  // The other side has ended the session: it took a refused connection for the end of this life, as
  // a firewall can make it. What it was told may have been done, and is not told again.
  if (session_ && session_of(hello) > session_->peer_session()) {
    session_.reset();
    ++session_count_;
  }
  if (!session_) begin_session(hello);
  const bool same =
      hello.peer_instance == context_->self.instance && hello.peer_session == session_count_;
  connection_ = connection;
  connection_->belongs_to(this);
  if (!session_->reconnected(same ? hello.received : 0))
    return misbehaved(*connection, "says that it received a letter that was never sent");
  greet_ = false;
  unwelcome_ = false;
  slow_dials_ = 0;
  context_->calm("cluster of " + name());
  context_->differing.erase(id_);
  if (!accepted) {  // who has dialled may still refuse this life
    context_->calm(name());
    context_->voices.erase(id_);
  }
  if (accepted) append_frame(connection->out(), own_hello());
  connection->flush();
  flush();
}

Hello Peer::own_hello() {
  Hello hello = context_->hello(id_);
  hello.peer_instance = instance_;
  hello.session = session_count_;
  if (session_) {
    hello.peer_session = session_->peer_session();
    hello.received = session_->received();
    session_->told();
  }
  return hello;
}

void Peer::refuse(const std::shared_ptr<Connection>& connection, const Refusal& refusal) {
  ++context_->counters.refused_hellos;
  context_->warn(name(), "refused " + name() + ": " + refusal.text);
  // Who dials has said its Hello.
  if (refusal.figure > 0 && greeting_ != connection)
    append_frame(connection->out(), context_->hello(id_));
  append_frame(connection->out(), refusal);
  connection->flush();
  connection->close();
  if (greeting_ != connection) return;
  greeting_.reset();
  unwelcome_ = true;
  dial_slowly();
}

// A figure counts where this node has dialled, and after a Hello for the same cluster. Whoever
// listens at that address may say both; so one such voice is told, and no more (Voices).
void Peer::was_refused(const Refusal& refusal, bool by_whom_it_dialled) {
  timer_.cancel();
  if (refusal.reason == RefusalReason::crossing) return dial_quickly();
  unwelcome_ = true;
  context_->warn(name(), name() + " refuses this node: " + presentable(refusal.text, 300));
  if (refusal.reason == RefusalReason::outlived || refusal.reason == RefusalReason::clone) {
    if (by_whom_it_dialled)
      context_->outlived(id_, Incarnation{refusal.figure});
    else
      greet_ = true;  // to hear it there
  }
  dial_slowly();
}

}  // namespace muster::net
