#pragma once

#include <muster/detail/host/wire_versions.hpp>
#include <muster/protocol/letter.hpp>
#include <muster/values/describe.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

/// What travels on a connection between two nodes, as values; its bytes are made by a driver
/// (muster/net/frame.hpp).

namespace MUSTER_EXPORT muster {
namespace host {

using muster::operator==;

/// Hello and Refusal are in this version for ever, to the byte: with them any two nodes find out
/// which version both speak, or tell each other that there is none. All other frames are in that.
constexpr std::uint8_t wire_of_greetings = 2;

/// The newest that both speak; none where they do not meet.
constexpr std::optional<std::uint8_t> common_wire(WireVersions one, WireVersions other) {
  const std::uint8_t newest = std::min(one.newest, other.newest);
  if (newest < std::max(one.oldest, other.oldest)) return std::nullopt;
  return newest;
}

/// The most that may follow the length of a frame; checked before reading on.
constexpr std::size_t frame_limit = 64 * 1024;

/// True when a letter of that many bytes can be carried.
constexpr bool fits(std::size_t letter_bytes) {
  return letter_bytes + 22 <= frame_limit;
}

/// As what somebody connects.
enum class Role {
  node,      ///< a node of the cluster
  observer,  ///< has no id and may only ask for the status
  asker,     ///< a coordinator, on a connection for one question to a member
};
MUSTER_DESCRIBE_ENUM(Role, node, observer, asker)

/// The first frame of either side, before any letter.
struct Hello {
  std::uint8_t oldest_version = wire_oldest;
  std::uint8_t newest_version = wire_newest;
  Role role{};
  /// The cluster's canonical text, `key=value` lines; nodes whose texts differ refuse each other.
  std::string cluster;
  NodeId from;  ///< 0 for an observer
  NodeId to;    ///< whom the dialler wants to reach; 0 for an observer
  Incarnation incarnation;
  std::uint64_t instance{};  ///< random, of this process life: tells a life from its clone
  std::uint64_t number{};    ///< counts the Hellos of a life: tells a late Hello from a new one
  /// The life of the other side that this one knows; 0 where it knows none.
  std::uint64_t peer_instance{};
  /// Counts the sessions of these two lives on this side, from 1: one that goes on from one that
  /// was given up. 0: there is none; to a node it says that a Refusal with a figure follows.
  std::uint64_t session{};
  /// The same count of the other side, as far as it is known; 0 where there is no session yet.
  std::uint64_t peer_session{};
  /// The last letter received in the session.
  std::uint64_t received{};
};
MUSTER_DESCRIBE(Hello, oldest_version, newest_version, role, cluster, from, to, incarnation,
                instance, number, peer_instance, session, peer_session, received);

constexpr WireVersions wire_of(const Hello& hello) {
  return {hello.oldest_version, hello.newest_version};
}

/// Why a Hello makes no session.
enum class RefusalReason {
  version,   ///< the ranges of wire versions do not meet
  cluster,   ///< the clusters' texts differ
  stranger,  ///< no node of the cluster has that id, or another node was wanted
  oneself,   ///< a node has dialled itself
  clone,     ///< another process says that it is this very life
  outlived,  ///< a higher incarnation of that node was seen: `figure`
  crossing,  ///< of two connections that cross, the one that the higher id dialled stays
  busy,      ///< too many connections
};
MUSTER_DESCRIBE_ENUM(RefusalReason, version, cluster, stranger, oneself, clone, outlived, crossing,
                     busy)

struct Refusal {
  RefusalReason reason{};
  std::string text;  ///< one sentence for a person
  /// The incarnation that was seen, where `outlived` or `clone`: after a Hello of who says so.
  std::uint64_t figure{};
};
MUSTER_DESCRIBE(Refusal, reason, text, figure);

}  // namespace host
}  // namespace muster

template <>
inline constexpr std::uint64_t muster::greatest_in<&muster::host::Refusal::figure> =
    muster::highest_number;

namespace MUSTER_EXPORT muster {
namespace host {

/// A letter, with its number in its direction of the session. Numbers grow and may skip.
struct Carried {
  std::uint64_t number{};
  std::uint64_t acknowledged{};  ///< the last letter received in the other direction
  Letter letter;
};
MUSTER_DESCRIBE(Carried, number, acknowledged, letter);

/// Every letter up to that number was received.
struct Acknowledged {
  std::uint64_t number{};
};
MUSTER_DESCRIBE(Acknowledged, number);

/// An observer asks for the status.
struct StatusQuestion {};
MUSTER_DESCRIBE(StatusQuestion);

struct StatusAnswer {
  std::string json;
};
MUSTER_DESCRIBE(StatusAnswer, json);

/// The coordinator of that group asks: the pieces of its question follow, then those of the answer
/// come back.
struct Asks {
  GroupNumber group;
  bool working{};  ///< as in Inquiry
};
MUSTER_DESCRIBE(Asks, group, working);

struct Piece {
  std::string bytes;
  bool last{};
};
MUSTER_DESCRIBE(Piece, bytes, last);

/// There is no answer.
struct NoAnswer {
  std::string why;  ///< one sentence for a person
};
MUSTER_DESCRIBE(NoAnswer, why);

using Frame = std::variant<Hello, Refusal, Carried, Acknowledged, StatusQuestion, StatusAnswer,
                           Asks, Piece, NoAnswer>;

}  // namespace host
}  // namespace muster
