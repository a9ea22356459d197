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

/// The frames of a connection between two nodes, as values. Drivers encode them
/// (muster/net/frame.hpp).

namespace MUSTER_EXPORT muster {
namespace host {

using muster::operator==;

/// The version of Hello and Refusal, which will never change by a byte. With these two frames any
/// two nodes find a version that both speak, or tell each other that there is none. All other
/// frames use the version that they found.
constexpr std::uint8_t wire_of_greetings = 2;

/// The newest version that both speak; none if there is no such version.
constexpr std::optional<std::uint8_t> common_wire(WireVersions one, WireVersions other) {
  const std::uint8_t newest = std::min(one.newest, other.newest);
  if (newest < std::max(one.oldest, other.oldest)) return std::nullopt;
  return newest;
}

/// The largest length of a frame after its length field, in bytes. The length is checked before the
/// frame is read.
constexpr std::size_t frame_limit = 64 * 1024;

/// True when a frame can carry a letter of this many bytes.
constexpr bool fits(std::size_t letter_bytes) {
  return letter_bytes + 22 <= frame_limit;
}

/// The role of a program that connects.
enum class Role {
  node,      ///< a node of the cluster
  observer,  ///< a program without an id, which may only ask for the status
  asker,     ///< a coordinator, on a connection for one question to a member
};
MUSTER_DESCRIBE_ENUM(Role, node, observer, asker)

/// The first frame of each side, before any letter.
struct Hello {
  std::uint8_t oldest_version = wire_oldest;
  std::uint8_t newest_version = wire_newest;
  Role role{};
  /// The cluster's canonical text, `key=value` lines. Nodes with different texts refuse each other.
  std::string cluster;
  NodeId from;  ///< 0 for an observer
  NodeId to;    ///< the node that the dialler wants to reach; 0 for an observer
  Incarnation incarnation;
  std::uint64_t instance{};  ///< random, of this process; a clone of the life has another
  std::uint64_t number{};    ///< counts the Hellos of a life: a delayed one has a lower number
  /// The instance of the other side's life that the sender knows; 0 if it knows none.
  std::uint64_t peer_instance{};
  /// Counts the sender's sessions between these two lives, from 1. By this number a session that
  /// continues differs from one that was given up. 0 means that there is no session. A Hello to a
  /// node in which `session` is 0 announces a Refusal with a figure.
  std::uint64_t session{};
  /// The other side's count of these sessions, as far as the sender knows; 0 if there is no session
  /// yet.
  std::uint64_t peer_session{};
  /// The number of the last letter that the sender has received in the session.
  std::uint64_t received{};
};
MUSTER_DESCRIBE(Hello, oldest_version, newest_version, role, cluster, from, to, incarnation,
                instance, number, peer_instance, session, peer_session, received);

constexpr WireVersions wire_of(const Hello& hello) {
  return {hello.oldest_version, hello.newest_version};
}

/// Why a Hello begins no session.
enum class RefusalReason {
  version,   ///< there is no common wire version
  cluster,   ///< the clusters' texts differ
  stranger,  ///< the cluster has no such node, or the dialler wants another node
  oneself,   ///< a node has dialled itself
  clone,     ///< another process claims to be this very life
  outlived,  ///< a higher incarnation of that node was seen: `figure`
  crossing,  ///< of two crossing connections, the one that the higher id dialled stays
  busy,      ///< too many connections
};
MUSTER_DESCRIBE_ENUM(RefusalReason, version, cluster, stranger, oneself, clone, outlived, crossing,
                     busy)

struct Refusal {
  RefusalReason reason{};
  std::string text;  ///< one sentence for a person
  /// The incarnation that was seen, for `outlived` and `clone`. The receiver believes the figure
  /// only after a Hello of the refusing node.
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

/// A letter with its number in its direction of the session. Numbers grow and may skip.
struct Carried {
  std::uint64_t number{};
  std::uint64_t acknowledged{};  ///< the number of the last letter received in the other direction
  Letter letter;
};
MUSTER_DESCRIBE(Carried, number, acknowledged, letter);

/// The sender of this frame has received every letter up to this number.
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

/// The coordinator of this group asks a question. The pieces of the question follow, and then the
/// pieces of the answer come back.
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

/// The question has no answer.
struct NoAnswer {
  std::string why;  ///< one sentence for a person
};
MUSTER_DESCRIBE(NoAnswer, why);

using Frame = std::variant<Hello, Refusal, Carried, Acknowledged, StatusQuestion, StatusAnswer,
                           Asks, Piece, NoAnswer>;

}  // namespace host
}  // namespace muster
