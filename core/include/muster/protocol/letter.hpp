#pragma once

#include <muster/detail/protocol/grants.hpp>
#include <muster/detail/values/compiled_once.hpp>
#include <muster/values/types.hpp>

#include <variant>

/// The remote procedures of the paper, their answers, and the letter that carries one of them.

namespace MUSTER_EXPORT muster {

/// AreYouThere(i): answered by any node that is up (section 3.1).
struct AreYouThere {};
MUSTER_DESCRIBE(AreYouThere);

/// AreYouNormal(i, j): is i in Normal, as a member of j's group (6.12)?
struct AreYouNormal {
  GroupNumber group;
};
MUSTER_DESCRIBE(AreYouNormal, group);

/// Halt(i, j): the candidate j halts node i.
struct Halt {
  ElectionId election;
};
MUSTER_DESCRIBE(Halt, election);

/// NewCoordinator(i, j): accepted iff i was last halted by this very election of j.
struct NewCoordinator {
  ElectionId election;
  /// The life of the receiver that answered the Halt; the call is to that life alone.
  Incarnation receiver;
  GroupNumber group;
};
MUSTER_DESCRIBE(NewCoordinator, election, receiver, group);

/// Ready(i, j, x): the definition x is to be installed.
struct Ready {
  ElectionId election;
  Incarnation receiver;
  GroupNumber group;
  Definition definition;
};
MUSTER_DESCRIBE(Ready, election, receiver, group, definition);

/// AreYouFree(i): has a node above the caller i's grant, or its answer to a Halt
/// (docs/options/quorum.md)?
struct AreYouFree {};
MUSTER_DESCRIBE(AreYouFree);

namespace in_group {

using muster::operator==;

/// AreYouThere(i, gn): is i still in Reorganization or Normal in the group gn? A member's question
/// to its coordinator (docs/decisions/left-behind.md), as in the Invitation algorithm.
struct AreYouThere {
  GroupNumber group;
};
MUSTER_DESCRIBE(AreYouThere, group);

}  // namespace in_group

namespace invitation {

using muster::operator==;

/// AreYouCoordinator(i): is i Normal, and its own coordinator (section 4.1)?
struct AreYouCoordinator {};
MUSTER_DESCRIBE(AreYouCoordinator);

/// AreYouThere(i, gn, j): is j, who asks, still a member of i's group gn?
struct AreYouThere {
  GroupNumber group;
  Status status{};  ///< S(j).s: "I am still in Reorganization" (6.16)
};
MUSTER_DESCRIBE(AreYouThere, group, status);

/// Invitation(i, j, gn): i is invited into the group gn of j, by j or by i's coordinator.
struct Invitation {
  GroupNumber group;
};
MUSTER_DESCRIBE(Invitation, group);

/// Accept(i, j, gn): j joins i's group gn; its application has ceased.
struct Accept {
  GroupNumber group;
  Holdings holdings;
  NodeSet forwarded;  ///< the old members of j that it has invited, and that are coming
};
MUSTER_DESCRIBE(Accept, group, holdings, forwarded);

/// Ready(i, j, gn, x): the definition x is to be installed.
struct Ready {
  GroupNumber group;
  /// The life of the receiver that has accepted; none where the call is to the node.
  std::optional<Incarnation> receiver;
  Definition definition;
};
MUSTER_DESCRIBE(Ready, group, receiver, definition);

/// The answer to AreYouCoordinator.
struct Coordinating {
  bool coordinator{};
  std::optional<GroupNumber> group;  ///< S(i).g, in every status but Down
  std::uint64_t counter{};           ///< the highest group counter that i has seen
};
MUSTER_DESCRIBE(Coordinating, coordinator, group, counter);

/// The answer to AreYouThere.
struct Membership {
  bool member{};
};
MUSTER_DESCRIBE(Membership, member);

/// The answer to Invitation: whether an Accept will follow.
struct Invited {
  bool coming{};
  std::uint64_t counter{};  ///< the highest group counter that i has seen
};
MUSTER_DESCRIBE(Invited, coming, counter);

}  // namespace invitation

namespace textbook {

using muster::operator==;

/// Election: a less important node has begun an election.
struct Election {};
MUSTER_DESCRIBE(Election);

/// Coordinator: the sender is coordinator from now on. Nobody answers it.
struct Coordinator {
  GroupNumber group;
  Definition definition;
};
MUSTER_DESCRIBE(Coordinator, group, definition);

}  // namespace textbook

/// The answer to AreYouThere: only the fact of an answer. Where a group was named: Yes.
struct Here {};
MUSTER_DESCRIBE(Here);

/// The answer to AreYouThere with a group: No.
struct Elsewhere {
  std::optional<GroupNumber> group;  ///< in which the answerer is in Reorganization or Normal
};
MUSTER_DESCRIBE(Elsewhere, group);

/// The answer to AreYouNormal.
struct Normality {
  bool normal{};
};
MUSTER_DESCRIBE(Normality, normal);

/// Whether the application of a halted node has ceased already (docs/options/calm.md).
struct HasCeased {
  bool already = false;
  friend constexpr bool operator==(const HasCeased&, const HasCeased&) = default;
};
MUSTER_DESCRIBE(HasCeased, already);
template <>
inline constexpr bool left_out_by_default<HasCeased> = true;

/// The answer to Halt, with the highest group counter that the halted node has seen.
struct Halted {
  std::uint64_t counter{};
  HasCeased ceased = {};
};
MUSTER_DESCRIBE(Halted, counter, ceased);

/// NewCoordinator was accepted and the application has ceased: what this member holds.
struct Joined {
  Holdings holdings;
};
MUSTER_DESCRIBE(Joined, holdings);

/// Ready was accepted, the definition is durable and the application has started.
struct Installed {};
MUSTER_DESCRIBE(Installed);

/// Whether the application of a node that takes no part may be at work yet
/// (docs/decisions/differing.md).
struct AtWork {
  bool yet = false;
  friend constexpr bool operator==(const AtWork&, const AtWork&) = default;
};
MUSTER_DESCRIBE(AtWork, yet);
template <>
inline constexpr bool left_out_by_default<AtWork> = true;

/// A call was refused, and why.
struct Refused {
  std::string why;
  AtWork at_work = {};
};
MUSTER_DESCRIBE(Refused, why, at_work);

/// The answer to AreYouFree.
struct Free {
  Duration after{};  ///< so long from now on it is not
};
MUSTER_DESCRIBE(Free, after);

// What a letter is on a wire is its place here: whatever comes anew comes last.
using Result =
    std::variant<Here, Normality, Halted, Joined, Installed, Refused, invitation::Coordinating,
                 invitation::Membership, invitation::Invited, Free, Elsewhere>;

/// The answer to the call of the same number.
struct Answer {
  Result result;
};
MUSTER_DESCRIBE(Answer, result);

using Message =
    std::variant<AreYouThere, AreYouNormal, Halt, NewCoordinator, Ready, Answer,
                 invitation::AreYouCoordinator, invitation::AreYouThere, invitation::Invitation,
                 invitation::Accept, invitation::Ready, textbook::Election, textbook::Coordinator,
                 AreYouFree, in_group::AreYouThere>;

/// A remote procedure is called, or a call is answered. Every letter names the life of its sender.
struct Letter {
  NodeId from;
  Incarnation incarnation;
  NodeId to;
  /// Chosen by the caller; an answer carries the number of the call that it answers.
  CallNumber call;
  Message message;
  std::optional<ByQuorum> by_quorum = {};
};
MUSTER_DESCRIBE(Letter, from, incarnation, to, call, message, by_quorum);

template <>
inline constexpr std::uint64_t greatest_in<&Halted::counter> = highest_number;
template <>
inline constexpr std::uint64_t greatest_in<&invitation::Coordinating::counter> = highest_number;
template <>
inline constexpr std::uint64_t greatest_in<&invitation::Invited::counter> = highest_number;

template <>
inline constexpr std::string_view json_tag<Message> = "message";
template <>
inline constexpr std::string_view json_tag<Result> = "answer";
template <>
inline constexpr bool json_among_fields<Letter> = true;
template <>
inline constexpr bool json_among_fields<Message> = true;
template <>
inline constexpr bool json_among_fields<Result> = true;

/// How one knows that a call will never be answered.
enum class Unheard {
  silence,  ///< for its bound, or the life that it was to is over
  refused,  ///< since the call was made its machine has said that no life is there
};
MUSTER_DESCRIBE_ENUM(Unheard, silence, refused)
template <>
inline constexpr bool left_out_by_default<Unheard> = true;

/// The life of the addressee that this call is to; none where it is a call to the node, whichever
/// life it meets (6.21). Hosts ask this instead of looking at the kind of a letter.
std::optional<Incarnation> life_called(const Letter& letter);

/// True when the letter answers a call rather than making one.
bool is_answer(const Letter& letter);

/// True when the message names the sender and the receiver that the letter itself names: the
/// candidate of an election, with its life, and the coordinator of a group. A receiver keeps these
/// for longer than the connection lasts, so a false one would be believed of another node.
bool repeats_its_envelope(const Letter& letter);

}  // namespace muster

MUSTER_COMPILED_ONCE(muster::Letter);
MUSTER_ARCHIVED_ONCE(muster::Letter);
