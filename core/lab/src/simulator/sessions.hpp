#pragma once

#include "network.hpp"

#include <functional>
#include <map>
#include <optional>
#include <vector>

/// What a host owes to assumptions 6 to 8: letters in order and nothing lost between two lives, the
/// proof that a life is over, and one end for each call. As muster::net has it, over connections of
/// the simulated network; it looks at no kind of letter.

namespace muster::lab::simulated {

/// A call that is neither answered nor unanswered yet.
struct Call {
  Letter letter;
  std::optional<Incarnation> life;  ///< the life that it names, if any
  std::uint64_t made{};             ///< when, in the order of calls and dials
  bool written = false;             ///< to the life that the session is with
};

/// What this life and one life of another node have told each other, over as many connections as
/// it takes.
struct Session {
  struct Queued {
    std::uint64_t number{};
    CallNumber call;               ///< its letter stays with the call
    std::optional<Letter> answer;  ///< the letter, where it is an answer
  };
  Incarnation life;
  std::uint64_t instance{};
  std::uint64_t peer_session{};  ///< the other side's count of its sessions with this life
  std::vector<Queued> queue;     ///< not acknowledged
  std::size_t written = 0;       ///< so many of them were sent over the present connection
  std::uint64_t last_number = 0;
  std::uint64_t received = 0;
  std::vector<CallNumber> owed{};  ///< calls of that life that wait to be answered

  void acknowledged(std::uint64_t number);
};

/// Another node, as this life knows it.
struct Peer {
  NodeId node;
  Incarnation seen;                    ///< the highest incarnation seen of it
  std::uint64_t instance = 0;          ///< of that life; 0 where an earlier life of ours saw it
  std::uint64_t last_hello = 0;        ///< of that life
  std::map<CallNumber, Call> calls{};  ///< to it: neither over nor, for all that is known, given up
  std::optional<Session> session{};
  std::uint64_t session_count = 1;  ///< with that life
  Incarnation over{};               ///< the last life that was found to be over
  bool heard = false;               ///< a letter came since
  ConnectionPtr connection{};
  std::size_t side = 0;  ///< which side of the connection, or of the greeting, is ours

  std::uint64_t dial = 0;    ///< the dial that is out; 0: none
  ConnectionPtr greeting{};  ///< dialled: our Hello is out, theirs has not come
  std::uint64_t dial_begun = 0;
  std::uint64_t wait = 0;  ///< which waiting for the next dial is the newest
  bool waits = false;
  bool greet = false;      ///< dial once although nothing needs it
  bool unwelcome = false;  ///< the last Hello was refused
  unsigned quick_dials = 0;
  unsigned slow_dials = 0;

  [[nodiscard]] bool dialling() const { return dial != 0 || greeting; }
};

class Sessions {
 public:
  /// The first four only take note; what comes of it begins with `told`.
  struct Handlers {
    std::function<void(Letter)> received;
    std::function<void(NodeId, CallNumber)> unanswered;
    std::function<void(NodeId, Incarnation)> failed;
    std::function<void(Incarnation)> outlived;
    std::function<void()> told;  ///< all that is to be told at present was told
    /// False once a call was given up; asked when it matters, for there may be many calls.
    std::function<bool(CallNumber)> awaited;
  };

  Sessions(Network& network, std::shared_ptr<Process> process, const Config& config,
           const SafeState& safe, Handlers handlers);

  void greet();
  void send(const Letter& letter, std::optional<Duration> bound);

  // --- What the network tells
  void dial_ended(NodeId to, std::uint64_t dial, DialEnd end, const ConnectionPtr& connection);
  void came(const ConnectionPtr& connection, std::size_t side, Frame& frame);

 private:
  Peer& peer(NodeId node) { return peers_.at(node); }
  /// The call, unless it is over or was given up.
  Call* pending(Peer& to, CallNumber number);
  void take(const ConnectionPtr& connection, std::size_t side, Frame& frame);
  void unanswered(Peer& by, CallNumber number);
  template <class F>
  void after(Duration delay, F work);
  template <class Predicate>
  void unanswered_to(Peer& to, Predicate predicate);
  void call_made(Peer& to, CallNumber number);

  void push_call(Peer& to, CallNumber number);
  void flush(Peer& to);
  void came_letter(Peer& from, Carried& carried);

  [[nodiscard]] bool wanted(const Peer& to) const;
  void dial(Peer& to);
  void dial_after(Peer& to, Duration delay);
  void dial_quickly(Peer& to);
  void dial_slowly(Peer& to);
  void give_up_dial(Peer& to);
  void found_refused(Peer& to);
  void connection_ended(Peer& with, const ConnectionPtr& connection);

  Hello own_hello(Peer& to);
  [[nodiscard]] bool refuses(const Peer& from, const Hello& hello) const;
  [[nodiscard]] bool stale(const Peer& from, const Hello& hello) const;
  [[nodiscard]] std::uint64_t session_of(const Hello& hello) const;
  void greeted(Peer& from, const ConnectionPtr& connection, std::size_t side, const Hello& hello);
  void answered_hello(Peer& from, const Hello& hello);
  void take_life(Peer& of, const Hello& hello);
  void establish(Peer& with, const ConnectionPtr& connection, std::size_t side, const Hello& hello,
                 bool accepted);
  void begin_session(Peer& with, const Hello& hello);
  void end_session(Peer& with);
  void was_refused(Peer& by, const Refusal& refusal);

  Network& network_;
  std::shared_ptr<Process> process_;
  const Config& config_;
  Incarnation incarnation_;
  std::uint64_t instance_;
  Handlers handlers_;
  std::map<NodeId, Peer> peers_;
  std::uint64_t clock_ = 0;   ///< the order of calls and dials
  std::uint64_t hellos_ = 0;  ///< said by this life
};

template <class F>
void Sessions::after(Duration delay, F work) {
  process_->after(delay, [this, work = std::move(work)] {
    work();
    handlers_.told();
  });
}

template <class Predicate>
void Sessions::unanswered_to(Peer& to, Predicate predicate) {
  std::vector<CallNumber> numbers;
  for (const auto& [number, call] : to.calls)
    if (predicate(call)) numbers.push_back(number);
  for (CallNumber number : numbers) unanswered(to, number);
}

}  // namespace muster::lab::simulated
