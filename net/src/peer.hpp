#pragma once

#include "connection.hpp"
#include "context.hpp"
#include "dial.hpp"
#include "session.hpp"

#include <boost/asio/steady_timer.hpp>

#include <memory>
#include <optional>
#include <string>

namespace muster::net {

/// Another node, as this one sees it: the session with its present life, the one connection that
/// carries it, and the dial that is to bring the next.
///
/// Who accepts a connection decides, alone and before any letter, whether it stays: the dialler
/// says Hello first, and the other side answers with its own Hello or refuses. So both ends are of
/// one mind: of two that cross, the higher id refuses the one that it was dialled while its own
/// Hello is out, and the lower one gives its own up. A Hello's number tells a new Hello from one
/// that was long on its way.
class Peer final : public ConnectionOwner, public std::enable_shared_from_this<Peer> {
 public:
  Peer(std::shared_ptr<Context> context, NodeId id, std::string address, Incarnation seen);

  [[nodiscard]] NodeId id() const { return id_; }
  [[nodiscard]] const Session* session() const { return session_ ? &*session_ : nullptr; }
  void relocate(std::string address) { address_ = std::move(address); }

  /// A call to this node was added to the calls.
  void call_made(Call& call);
  /// An answer for the life that made the call, if it is the one that the session is with.
  void answer(CallNumber call, std::string bytes);
  /// A call of that life is given to the node now, and owed an answer.
  void asked(std::uint64_t instance, CallNumber call);
  void greet();

  /// Takes all that can be read at this moment.
  void read_now();

  /// Somebody who was accepted has said this Hello in the name of this node.
  void greeted(const std::shared_ptr<Connection>& connection, const Hello& hello);

  void break_connection();
  void close();

  void came(Connection& connection, Frame frame) override;
  void ended(Connection& connection, End end, const std::string& why) override;
  void writable(Connection& connection) override;
  void turn_ended() override { context_->deliver(); }

 private:
  // Hello (hello.cpp)
  [[nodiscard]] std::optional<Refusal> refuse_life(const Hello& hello) const;
  [[nodiscard]] bool stale(const Hello& hello) const;
  [[nodiscard]] std::uint64_t session_of(const Hello& hello) const;
  void take_life(const Hello& hello);
  void establish(const std::shared_ptr<Connection>& connection, const Hello& hello, bool accepted);
  Hello own_hello();
  void answered_hello(const std::shared_ptr<Connection>& connection, const Hello& hello);
  void refuse(const std::shared_ptr<Connection>& connection, const Refusal& refusal);
  void was_refused(const Refusal& refusal, bool by_whom_it_dialled);

  // The session (peer.cpp)
  void begin_session(const Hello& hello);
  void end_session();
  void push(Call& call);
  void came_letter(Connection& connection, Carried carried);
  void misbehaved(Connection& connection, const std::string& what);
  void flush_soon();
  void flush();

  // The dial (redial.cpp)
  [[nodiscard]] bool wanted() const;
  [[nodiscard]] bool dialling() const { return dial_ || greeting_; }
  void dial();
  void dial_ended(DialEnd end, Tcp::socket socket);
  void say_hello(Tcp::socket socket);
  void found_refused();
  void dial_after(Duration delay);
  void dial_quickly();
  void dial_slowly();
  void give_up_dial();

  [[nodiscard]] std::string name() const { return "node " + std::to_string(id_.value); }

  std::shared_ptr<Context> context_;
  NodeId id_;
  std::string address_;

  Incarnation seen_;              // the highest incarnation seen of this node
  std::uint64_t instance_ = 0;    // of that life; 0 where it was seen by an earlier life of ours
  std::uint64_t last_hello_ = 0;  // the number of the last Hello taken from that life

  std::optional<Session> session_;
  std::uint64_t session_count_ = 1;  // with that life: Hello::session
  Incarnation over_;                 // the last life that was found to be over
  bool heard_ = false;               // a letter came since it was
  std::shared_ptr<Connection> connection_;
  bool flush_posted_ = false;

  std::shared_ptr<Dial> dial_;            // connects
  std::shared_ptr<Connection> greeting_;  // dialled: our Hello is out, no session stands yet
  bool refusal_follows_ = false;          // theirs has come, and says so
  std::uint64_t dial_begun_ = 0;
  boost::asio::steady_timer timer_;  // until the next dial, or for the answer to our Hello
  bool waits_ = false;               // it is until the next dial
  bool greet_ = false;               // dial once although nothing needs it
  bool unwelcome_ = false;           // the last Hello was refused: calls do not hurry the next one
  unsigned quick_dials_ = 0;         // since a letter came
  unsigned slow_dials_ = 0;          // since a Hello came
};

}  // namespace muster::net
