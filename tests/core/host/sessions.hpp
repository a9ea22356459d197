#pragma once

#include "frames.hpp"
#include "words.hpp"

#include <muster/host/sessions.hpp>

#include <cstdint>
#include <vector>

/// The sessions of node 2 of three. The test gives them the inputs of a driver.

namespace muster::host::test {

using namespace std::chrono_literals;

using muster::test::carried;
using muster::test::says;
using muster::test::Words;

inline constexpr Duration T = 100ms;

/// The safe storage of a node that has met that life of node 3. If `instance` is not 0, it contains
/// the instance of that life too.
inline SafeState after_meeting(std::uint64_t life, std::uint64_t instance = 0) {
  SafeState safe;
  safe.seen = {{NodeId{3}, Incarnation{life}}};
  if (instance != 0) safe.instances = {{NodeId{3}, Instance{instance}}};
  return safe;
}

/// The fields of a Hello to node 2. Each life of a sender has a different instance.
struct NewcomerFields {
  std::uint32_t from = 0;
  std::uint64_t life = 1;
  std::uint64_t number = 1;  ///< the number of this dial in the sender's life
};

/// The fields of a Hello to node 2, for a sender that has met node 2's life.
struct AcquaintedFields {
  std::uint32_t from = 0;
  std::uint64_t life = 1;
  std::uint64_t number = 1;
  std::uint64_t received = 0;  ///< how many letters it has received in the session
};

/// The fields of a session that `join` begins.
struct JoinFields {
  std::uint32_t node = 0;
  std::uint64_t connection = 1;
  std::uint64_t life = 1;  ///< life of that node
};

/// The fields of a call to one life of a node.
struct CallFields {
  std::uint32_t to = 0;
  std::uint64_t life = 1;
  std::uint64_t call = 1;
};

class Sessions2 {
 public:
  explicit Sessions2(const SafeState& safe = {});

  /// Gives the input, and returns the sessions' instructions to the driver as words: "dial 3",
  /// "write #1 Hello", "write #1 1 Here", "close #1", "drain #1 listener", "came 3 Here",
  /// "unanswered 3:7", "over 3:1", "outlived 3:9". Wake-up times go to `wake`, and warnings to
  /// `warnings`.
  Words give(SessionInput input);
  /// Like `give`, but also answers each Drain: nothing is left to read.
  Words give_all(const SessionInput& input);
  /// The time of the requested wake-up comes.
  Words wake_up();

  Words received(std::uint64_t connection, Frame frame) {
    return give(Came{ConnectionId{connection}, std::move(frame), 100});
  }
  Words closed(std::uint64_t connection, ConnectionEnd end = ConnectionEnd::finished) {
    return give(Closed{ConnectionId{connection}, end, "it ended"});
  }
  Words accepted(std::uint64_t connection) { return give(Accepted{ConnectionId{connection}}); }
  Words dialled(std::uint32_t node, std::uint64_t connection) {
    return give(Dialled{NodeId{node}, ConnectionId{connection}});
  }
  Words failed(std::uint32_t node, DialEnd end) { return give(DialFailed{NodeId{node}, end}); }
  /// Asks AreYouThere: a call to the node.
  Words ask(std::uint32_t to, std::uint64_t call, std::optional<Duration> bound = std::nullopt);
  /// Makes a call to one life.
  Words announce(const CallFields& fields);
  Words answer(std::uint32_t to, std::uint64_t call);

  /// Makes this node dial that node and reach it.
  Words reaches(std::uint32_t node, std::uint64_t connection);
  /// Makes this node reach that node, which says Hello and refuses this life.
  Words refused_by(std::uint32_t node, std::uint64_t connection, const Refusal& refusal);
  /// Gives that Hello on a new connection and returns the instructions. Nothing else is left to
  /// read.
  Words greeted(std::uint64_t connection, const Hello& hello);
  /// Makes this node dial that node and get an answer. From then on the connection carries a
  /// session.
  void join(const JoinFields& fields);

  /// A Hello of another node that has not met this life.
  [[nodiscard]] Hello newcomer(const NewcomerFields& fields) const;
  [[nodiscard]] Hello observer() const {
    Hello hello = newcomer({});
    hello.role = Role::observer;
    return hello;
  }
  /// The Hello that a node sends before a refusal that tells a life's number. This Hello begins no
  /// session.
  [[nodiscard]] Hello refuser(std::uint32_t from) const;
  /// A Hello of a node that has met this life.
  [[nodiscard]] Hello acquainted(const AcquaintedFields& fields) const;

  SessionConfig config;
  Sessions sessions;
  Time now{};
  std::optional<Time> wake;
  Words warnings;
  std::vector<Frame> written;
};

/// Sessions that include one with node 3, over connection 1.
struct WithNode3 : Sessions2 {
  WithNode3() { join({.node = 3, .connection = 1}); }
};

}  // namespace muster::host::test
