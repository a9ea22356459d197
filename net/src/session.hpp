#pragma once

#include "calls.hpp"

#include <muster/net/sessions.hpp>

#include <deque>
#include <vector>

namespace muster::net {

/// What this life and one life of another node have told each other, over as many connections as it
/// takes: the letters that the other has not acknowledged, the number of the last one that came
/// from it, and the calls that it waits to have answered. Knows nothing of sockets.
class Session {
 public:
  /// `peer_session` is the other side's count of its sessions with this life (Hello::session).
  Session(Incarnation life, std::uint64_t instance, std::uint64_t peer_session)
      : life_(life), instance_(instance), peer_session_(peer_session) {}

  [[nodiscard]] Incarnation life() const { return life_; }
  [[nodiscard]] std::uint64_t instance() const { return instance_; }
  [[nodiscard]] std::uint64_t peer_session() const { return peer_session_; }

  // --- Letters that go out
  // -------------------------------------------------------------------------------

  /// Puts a letter in the queue; false when there is no room. The bytes of a call stay with the
  /// call.
  bool push_call(const Call& call, Calls& calls, const SessionLimits& limits);
  bool push_answer(std::string bytes, Calls& calls, const SessionLimits& limits);

  /// Appends the frames of letters not yet written to this connection to `out`, until it has
  /// `enough` bytes. Letters of calls that are decided or given up are left out.
  void write(std::string& out, std::size_t enough, Calls& calls, Counters& counters);
  [[nodiscard]] bool all_written() const { return written_ == queue_.size(); }

  /// The other side has every letter up to that number; false when it cannot know of that number.
  bool acknowledged(std::uint64_t number);

  /// A new connection: what the other side has not received goes again. False as above.
  bool reconnected(std::uint64_t received);

  // --- Letters that come in
  // ------------------------------------------------------------------------------

  /// Takes note of a letter that came; false when it was received before.
  bool take(std::uint64_t number, std::size_t bytes);
  [[nodiscard]] std::uint64_t received() const { return received_; }
  /// True when so much was received without an acknowledgement that it needs a frame of its own.
  [[nodiscard]] bool acknowledgement_due() const;
  /// The last number received has been told to the other side.
  void told() {
    told_ = received_;
    untold_bytes_ = 0;
  }

  // --- Calls that this node owes an answer
  // ---------------------------------------------------------------

  void owe(CallNumber call);
  /// True when that call of this life waits for its answer; it does no longer.
  bool settle(CallNumber call);

 private:
  struct Queued {
    std::uint64_t number;
    std::optional<CallNumber> call;  // its bytes stay with the call; none for an answer
    std::string bytes;
    std::size_t size;
  };
  bool push(Queued queued, Calls& calls, const SessionLimits& limits);
  void drop_dead(Calls& calls);

  Incarnation life_;
  std::uint64_t instance_;
  std::uint64_t peer_session_;

  std::deque<Queued> queue_;  // not acknowledged, in the order of their numbers
  std::size_t written_ = 0;   // so many of them were written to the present connection
  std::size_t queued_bytes_ = 0;
  std::uint64_t last_number_ = 0;
  std::uint64_t highest_written_ = 0;  // on any connection

  std::uint64_t received_ = 0;
  std::uint64_t told_ = 0;
  std::size_t untold_bytes_ = 0;
  std::vector<CallNumber> owed_;
};

}  // namespace muster::net
