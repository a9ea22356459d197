#pragma once

#include "frames.hpp"
#include "words.hpp"

#include <muster/host/sessions.hpp>

#include <cstdint>
#include <vector>

/// The sessions of node 2 of three, told by hand what a driver can see.

namespace muster::host::test {

using namespace std::chrono_literals;

using muster::test::carried;
using muster::test::says;
using muster::test::Words;

inline constexpr Duration T = 100ms;

/// The store of a node that has met that life of node 3, of that instance where it knows it.
inline SafeState after_meeting(std::uint64_t life, std::uint64_t instance = 0) {
  SafeState safe;
  safe.seen = {{NodeId{3}, Incarnation{life}}};
  if (instance != 0) safe.instances = {{NodeId{3}, Instance{instance}}};
  return safe;
}

/// A Hello to node 2, of a life whose instance is its own.
struct StrangerFields {
  std::uint32_t from = 0;
  std::uint64_t life = 1;
  std::uint64_t number = 1;  ///< of the dials of that life
};

/// The same of a life that has met node 2's.
struct AcquaintedFields {
  std::uint32_t from = 0;
  std::uint64_t life = 1;
  std::uint64_t number = 1;
  std::uint64_t received = 0;  ///< letters of the session
};

/// A session that begins.
struct JoinFields {
  std::uint32_t node = 0;
  std::uint64_t connection = 1;
  std::uint64_t life = 1;  ///< of that node
};

/// A call to one life of a node.
struct CallFields {
  std::uint32_t to = 0;
  std::uint64_t life = 1;
  std::uint64_t call = 1;
};

class Sessions2 {
 public:
  explicit Sessions2(const SafeState& safe = {});

  /// What it is to do about the input, in words: "dial 3", "write #1 Hello", "write #1 1 Here",
  /// "close #1", "drain #1 listener", "came 3 Here", "unanswered 3:7", "over 3:1", "outlived 3:9".
  /// Wakes are in `wake`, warnings in `warnings`.
  Words give(SessionInput input);
  /// The same; Drains find nothing.
  Words give_all(const SessionInput& input);
  /// The time comes that was asked for.
  Words wake_up();

  Words came(std::uint64_t connection, Frame frame) {
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

  /// A dial to that node is out, and reaches it.
  Words reaches(std::uint32_t node, std::uint64_t connection);
  /// It reaches that node, which says Hello and refuses this life.
  Words refused_by(std::uint32_t node, std::uint64_t connection, const Refusal& refusal);
  /// What comes of that Hello on a new connection when nothing else is to be read.
  Words greeted(std::uint64_t connection, const Hello& hello);
  /// Dials that node, and is answered: the connection carries a session from then on.
  void join(const JoinFields& fields);

  /// The Hello of another node that has not met this life.
  [[nodiscard]] Hello stranger(const StrangerFields& fields) const;
  [[nodiscard]] Hello observer() const {
    Hello hello = stranger({});
    hello.role = Role::observer;
    return hello;
  }
  /// The one that comes before a refusal with a figure, and begins no session.
  [[nodiscard]] Hello refuser(std::uint32_t from) const;
  /// That of one that has met this life.
  [[nodiscard]] Hello acquainted(const AcquaintedFields& fields) const;

  SessionConfig config;
  Sessions sessions;
  Time now{};
  std::optional<Time> wake;
  Words warnings;
  std::vector<Frame> written;
};

/// With a session with node 3, over connection 1.
struct WithNode3 : Sessions2 {
  WithNode3() { join({.node = 3, .connection = 1}); }
};

}  // namespace muster::host::test
