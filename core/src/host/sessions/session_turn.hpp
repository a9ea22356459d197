#pragma once

#include "session.hpp"

#include <muster/host/sessions.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace muster::host {

/// One step of the sessions: takes one input of the driver, changes the sessions and appends
/// outputs. An object lives for one step; it has no lock, so the driver gives one input at a time.
///
/// The protocols assume that letters between two nodes arrive in order, and that an unanswered call
/// proves a failure (assumptions 5 to 8). TCP keeps order only within one connection, and a broken
/// connection proves nothing. So this life has one *session* with one life of each other node, over
/// as many connections as it takes.
/// - Letters are numbered, acknowledged, and sent again after a break. Each letter arrives once, in
///   order.
/// - A session ends only when the other node's life is proven to be over. The proofs are: a dial to
///   its address is refused; a next life answers there, or has sent its Hello after the last
///   connection ended; a node that differs answers there. A reset or silence is no proof, and the
///   peer is dialled again.
/// - Before each verdict, about an end or about silence, the driver reads all that has arrived
/// (`Drain`). So the last letters of a dying life are delivered, and an answer that arrived in time
/// is not taken for late.
/// - A call that names a life is unanswered when that life is over. Any other call goes to the
/// node's next life.
class SessionTurn {
 public:
  SessionTurn(const SessionConfig& config, Sessions& sessions, Time now, SessionOutputs& outputs)
      : config_(config), sessions_(sessions), now_(now), outputs_(outputs) {}

  void take(SessionInput input);

 private:
  // Inputs
  void on_input(Greet&);
  void on_input(SendLetter& input);
  void on_input(Dialled& input);
  void on_input(DialFailed& input);
  void on_input(Accepted& input);
  void on_input(Exhausted&);
  void on_input(Came& input);
  void on_input(Closed& input);
  void on_input(Writable& input);
  void on_input(Due&);
  void on_input(Drained&);

  // Verdicts (sessions.cpp)
  void judge(const Overdue& overdue);
  void judge(const Greeted& greeted);
  void judge(const NobodyListens& refused);
  void wait_for(Verdict verdict, Drain drain);
  void find_soonest();
  void set_wake();

  // Calls and letters (letters.cpp)
  void make_call(SendLetter& input, bool can_be_sent);
  void call_made(Peer& peer, CallNumber number);
  void unanswered(CallNumber number, Unheard how = Unheard::silence);
  template <class Predicate>
  void unanswered_where(const Predicate& predicate, Unheard how = Unheard::silence);
  void push(NodeId node, Session& session, CallNumber number, const Call& call);
  void answer(Peer& peer, SendLetter& input);
  void write_letters(Peer& peer);
  void on_letter(NodeId node, Peer& peer, Came& came);
  void on_frame_in_session(NodeId node, Peer& peer, Came& came);
  void on_frame_in_greeting(NodeId node, Peer& peer, Came& came);
  void begin_session(NodeId node, Peer& peer, const Hello& hello);
  void end_session(NodeId node, Peer& peer);

  // Hellos (hello.cpp)
  /// `at_its_address`: this node has dialled the other one and has got this Hello as the answer.
  [[nodiscard]] std::optional<Refusal> refuse_life(NodeId node, const Hello& hello,
                                                   bool at_its_address) const;
  [[nodiscard]] std::uint64_t session_of(const Hello& hello) const;
  [[nodiscard]] Hello hello_to(NodeId node);
  [[nodiscard]] Hello own_hello(NodeId node, Peer& peer);
  [[nodiscard]] Hello hello_before_figure(NodeId node, const Hello& refused);
  void answered_hello(NodeId node, Peer& peer, const Hello& hello, std::optional<NodeId> proven_by);
  void look_for_listener(NodeId node, Peer& peer);
  void take_life(NodeId node, Peer& peer, const Hello& hello);
  void establish(NodeId node, Peer& peer, ConnectionId connection, const Hello& hello,
                 bool accepted);
  void was_refused(NodeId node, Peer& peer, const Refusal& refusal, bool dialler_of);
  void has_refused_this_life(NodeId node, Peer& peer, Incarnation seen);
  void has_taken_this_life(NodeId node, Peer& peer);
  [[nodiscard]] bool plausible(Incarnation seen) const;

  // Dials (dials.cpp)
  [[nodiscard]] bool wanted(NodeId node, const Peer& peer) const;
  [[nodiscard]] bool letters_wait(NodeId node, const Peer& peer) const;
  [[nodiscard]] bool is_called(NodeId node) const;
  void dial(NodeId node, Peer& peer);
  void dial_after(NodeId node, Peer& peer, Duration delay);
  void dial_quickly(NodeId node, Peer& peer);
  void dial_slowly(NodeId node, Peer& peer);
  void now_in_touch(NodeId node, Peer& peer, const Touch& touch);
  void let_go(NodeId node, Peer& peer);
  void misbehaved(NodeId node, Peer& peer, ConnectionId connection, const std::string& what);
  void on_connection_ended(NodeId node, Peer& peer, ConnectionEnd end, const std::string& why);

  // Nodes that differ (differing.cpp)
  void met_one_that_differs(NodeId node, Peer& peer, const std::string& what);
  void differs(NodeId node, Peer& peer, const std::string& what);
  void no_longer_differs(NodeId node, Peer& peer);
  void meet_one_that_says_so(const Hello& hello);
  void tell_differing();

  // Unknown peers (unknown_peers.cpp)
  using UnknownPeers = std::vector<UnknownPeer>;
  [[nodiscard]] UnknownPeers::iterator unknown_peer_at(ConnectionId connection);
  [[nodiscard]] bool has_said_hello(ConnectionId connection) const;
  void on_frame_of_unknown_peer(UnknownPeers::iterator unknown_peer, const Came& came);
  void heard(ConnectionId connection, const Hello& hello, std::optional<NodeId> proven_by);
  void make_room(bool observers, std::size_t most);
  [[nodiscard]] bool is_machine_of_a_node(std::string_view machine) const;
  void drop(UnknownPeers::iterator unknown_peer);
  void tell_difference(const Hello& hello);
  [[nodiscard]] std::optional<Refusal> refuse_namesake(const Hello& hello) const;
  void refuse_unknown_peer(ConnectionId connection, const Refusal& refusal, NodeId who);

  // Lines that the lab can strike (lines.cpp)
  [[nodiscard]] bool stands(SessionLine line) const;
  [[nodiscard]] bool is_outlived(const Peer& peer, const Hello& hello) const;
  [[nodiscard]] bool is_clone(const Peer& peer, const Hello& hello) const;
  [[nodiscard]] bool is_stale(const Peer& peer, const Hello& hello) const;
  [[nodiscard]] bool is_crossed(NodeId node, Peer& peer) const;
  [[nodiscard]] bool is_of_next_life(const Peer& peer, const Hello& hello) const;
  [[nodiscard]] bool is_to_be_heard_at_home(const Peer& peer, const Hello& hello) const;
  [[nodiscard]] bool reads_before_new_life() const;
  [[nodiscard]] bool reads_before_silence() const;
  [[nodiscard]] bool reads_hellos_before_refusal() const;
  [[nodiscard]] bool is_refused_by(const Call& call, NodeId node) const;
  [[nodiscard]] bool is_refusal(DialEnd end) const;
  [[nodiscard]] bool keeps_dialling(const Peer& peer) const;
  [[nodiscard]] bool sends_again() const;
  [[nodiscard]] bool takes_once() const;
  [[nodiscard]] bool is_to_another_life(const Call& call, Incarnation life) const;
  [[nodiscard]] bool is_to_life_until(const Call& call, Incarnation last) const;
  [[nodiscard]] bool is_owed(Session& session, CallNumber call) const;
  [[nodiscard]] bool is_awaited(NodeId node, CallNumber number) const;
  [[nodiscard]] bool is_end_to_tell(const Peer& peer) const;

  // Helpers
  template <class Output>
  void put(Output output) {
    outputs_.emplace_back(std::move(output));
  }
  void due_by(Time at) { sessions_.soonest = std::min(sessions_.soonest.value_or(at), at); }
  void write(ConnectionId connection, Frame frame) { put(Write{connection, std::move(frame)}); }
  void close(ConnectionId connection) { put(Close{connection}); }
  /// Warns, unless the last warning on the same topic had the same text or came within a second.
  /// The text is made only if the warning may be given.
  template <class MakeText>
  void warn_of(const std::string& matter, const MakeText& make_text);
  void warn(const std::string& matter, std::string text) {
    warn_of(matter, [&] { return std::move(text); });
  }
  void calm(const std::string& matter) {
    if (!sessions_.warned.empty()) sessions_.warned.erase(matter);
  }
  [[nodiscard]] const Self& self() const { return config_.self; }
  [[nodiscard]] Duration hello_deadline() const {
    return config_.limits.hello_deadline > Duration::zero() ? config_.limits.hello_deadline
                                                            : 2 * config_.T;
  }

  const SessionConfig& config_;
  Sessions& sessions_;
  const Time now_;
  SessionOutputs& outputs_;
};

/// True if a peer that refuses for this reason cannot be spoken with by this life at all.
bool is_difference(RefusalReason reason);

template <class MakeText>
void SessionTurn::warn_of(const std::string& matter, const MakeText& make_text) {
  constexpr Duration quiet = std::chrono::seconds(1);
  Warned& last = sessions_.warned[matter];
  if (!last.text.empty() && now_ - last.at < quiet) return;
  std::string text = make_text();
  if (last.text == text) return;
  last = {text, now_};
  put(Warning{std::move(text)});
}

template <class Predicate>
void SessionTurn::unanswered_where(const Predicate& predicate, Unheard how) {
  std::vector<CallNumber> numbers;
  for (const auto& [number, call] : sessions_.calls)
    if (predicate(call)) numbers.push_back(number);
  for (CallNumber number : numbers) unanswered(number, how);
}

inline std::string name_of(NodeId node) {
  return "node " + std::to_string(node.value);
}

/// The connection of the session, or the one that it may get soon.
inline std::optional<ConnectionId> connection_of(const Touch& touch) {
  if (const auto* greeting = std::get_if<Greeting>(&touch)) return greeting->connection;
  if (const auto* connected = std::get_if<Connected>(&touch)) return connected->connection;
  return std::nullopt;
}

/// True if there is a connection to the peer, or one is being made.
inline bool in_touch(const Peer& peer) {
  return !std::holds_alternative<Apart>(peer.touch) && !std::holds_alternative<Waiting>(peer.touch);
}

}  // namespace muster::host
