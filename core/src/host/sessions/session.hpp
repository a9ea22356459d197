#pragma once

#include <muster/host/sessions.hpp>

namespace muster::host {

// --- Letters that go out

/// Puts a letter in the queue; false when there is no room.
bool push(Session& session, Queued queued, const Calls& calls, const SessionLimits& limits);

/// Forgets letters that were written, and belong to calls that nobody awaits any more: they need no
/// acknowledgement.
void forget_given_up(Session& session, const Calls& calls);

/// The other side has every letter up to that number; false when it cannot know of that number.
bool acknowledged(Session& session, std::uint64_t number);

/// A new connection: what the other side has not received goes again, if `again`. False as above.
bool reconnected(Session& session, std::uint64_t received, bool again);

// --- Letters that come in

/// Takes note of a letter that came; false when it was received before.
bool receive(Session& session, std::uint64_t number, std::size_t bytes);

/// True when so much was received without an acknowledgement that it needs a frame of its own.
bool acknowledgement_due(const Session& session);

/// The last number received has been told to the other side.
void told(Session& session);

// --- Calls that this node owes an answer

void owe(Session& session, CallNumber call);

/// True when that call waits for its answer; it does no longer.
bool take_owed(Session& session, CallNumber call);

}  // namespace muster::host
