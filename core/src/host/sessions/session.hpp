#pragma once

#include <muster/host/sessions.hpp>

namespace muster::host {

// --- Outgoing letters

/// Adds a letter to the queue. Returns false if the queue has no room.
bool push(Session& session, Queued queued, const Calls& calls, const SessionLimits& limits);

/// Removes written letters of calls that are given up, because they need no acknowledgement.
void forget_given_up(Session& session, const Calls& calls);

/// The other side has received every letter up to `number`. Returns false if no such letter was
/// written.
bool acknowledged(Session& session, std::uint64_t number);

/// The session has a new connection. If `again`, the letters that the other side has not received
/// are written again. Returns false if `received` cannot be true.
bool reconnected(Session& session, std::uint64_t received, bool again);

// --- Incoming letters

/// Notes that a letter has arrived. Returns false if the letter was received before.
bool receive(Session& session, std::uint64_t number, std::size_t bytes);

/// True if so much was received since the last acknowledgement that a frame of its own must
/// acknowledge it.
bool acknowledgement_due(const Session& session);

/// Notes that the other side has been told the last number received.
void told(Session& session);

// --- Calls that wait for this node's answer

void owe(Session& session, CallNumber call);

/// Removes the call from those that wait. False if it did not wait.
bool take_owed(Session& session, CallNumber call);

}  // namespace muster::host
