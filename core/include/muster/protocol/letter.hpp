#pragma once

#include <muster/detail/protocol/grants.hpp>
#include <muster/detail/values/compiled_once.hpp>
#include <muster/values/types.hpp>

#include <variant>

/// The remote procedures of the paper, their answers, and the letter that carries one of them.
///
/// The paper writes the callee first: in Halt(i, j), node j calls node i.

namespace MUSTER_EXPORT muster {

/// AreYouThere(i): every node that is up answers (Section III).
struct AreYouThere {};
MUSTER_DESCRIBE(AreYouThere);

/// AreYouNormal(i, j): is i in Normal as a member of j's group? The question names the group:
/// otherwise a coordinator could take another group's member for its own
/// (docs/decisions/switches.md).
struct AreYouNormal {
  GroupNumber group;
};
MUSTER_DESCRIBE(AreYouNormal, group);

/// Halt(i, j): the candidate j halts node i.
struct Halt {
  ElectionId election;
};
MUSTER_DESCRIBE(Halt, election);

/// NewCoordinator(i, j): i accepts only if this election of j was the last to halt it.
struct NewCoordinator {
  ElectionId election;
  /// The life of the receiver that answered the Halt. The call is for this life alone.
  Incarnation receiver;
  GroupNumber group;
};
MUSTER_DESCRIBE(NewCoordinator, election, receiver, group);

/// Ready(i, j, x): i installs the definition x.
struct Ready {
  ElectionId election;
  Incarnation receiver;
  GroupNumber group;
  Definition definition;
};
MUSTER_DESCRIBE(Ready, election, receiver, group, definition);

/// AreYouFree(i): is i bound to a node above the caller, by a grant or by its answer to a Halt
/// (docs/explanation/options/quorum.md)?
struct AreYouFree {};
MUSTER_DESCRIBE(AreYouFree);

namespace in_group {

using muster::operator==;

/// AreYouThere(i, gn): is i in Reorganization or Normal in the group gn? A member asks its
/// coordinator this question, as in the Invitation algorithm (docs/decisions/left-behind.md).
struct AreYouThere {
  GroupNumber group;
};
MUSTER_DESCRIBE(AreYouThere, group);

}  // namespace in_group

namespace invitation {

using muster::operator==;

/// AreYouCoordinator(i): is i Normal and its own coordinator (Section IV)?
struct AreYouCoordinator {};
MUSTER_DESCRIBE(AreYouCoordinator);

/// AreYouThere(i, gn, j): is the caller j still a member of i's group gn?
struct AreYouThere {
  GroupNumber group;
  Status status{};  ///< S(j).s, which shows that a member is stuck in Reorganization
};
MUSTER_DESCRIBE(AreYouThere, group, status);

/// Invitation(i, j, gn): i is invited into the group gn of j, by j itself or by i's coordinator.
struct Invitation {
  GroupNumber group;
};
MUSTER_DESCRIBE(Invitation, group);

/// Accept(i, j, gn): j joins i's group gn. The application of j has stopped its work.
struct Accept {
  GroupNumber group;
  Holdings holdings;
  NodeSet forwarded;  ///< former members of j that j has invited and that will come too
};
MUSTER_DESCRIBE(Accept, group, holdings, forwarded);

/// Ready(i, j, gn, x): i installs the definition x.
struct Ready {
  GroupNumber group;
  /// The life of the receiver that accepted. None if the call is for the receiving node in any of
  /// its lives.
  std::optional<Incarnation> receiver;
  Definition definition;
};
MUSTER_DESCRIBE(Ready, group, receiver, definition);

/// The answer to AreYouCoordinator.
struct Coordinating {
  bool coordinator{};
  std::optional<GroupNumber> group;  ///< S(i).g, except in Down
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

/// Coordinator: the sender is coordinator from now on. There is no answer.
struct Coordinator {
  GroupNumber group;
  Definition definition;
};
MUSTER_DESCRIBE(Coordinator, group, definition);

}  // namespace textbook

/// The answer to AreYouThere. This answer tells only that the node is there. If the question named
/// a group, the answer means Yes.
struct Here {};
MUSTER_DESCRIBE(Here);

/// The answer No to AreYouThere with a group.
struct Elsewhere {
  std::optional<GroupNumber>
      group;  ///< the group in which the answerer is in Reorganization or Normal
};
MUSTER_DESCRIBE(Elsewhere, group);

/// The answer to AreYouNormal.
struct Normality {
  bool normal{};
};
MUSTER_DESCRIBE(Normality, normal);

/// Whether the application of a halted node had already stopped its work
/// (docs/explanation/options/calm.md).
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

/// The answer to an accepted NewCoordinator: the application has stopped its work and has these
/// holdings.
struct Joined {
  Holdings holdings;
};
MUSTER_DESCRIBE(Joined, holdings);

/// The answer to an accepted Ready: the definition is durable and the application has started.
struct Installed {};
MUSTER_DESCRIBE(Installed);

/// Whether the application of a node that was outvoted may still be at work
/// (docs/decisions/differing.md).
struct AtWork {
  bool yet = false;
  friend constexpr bool operator==(const AtWork&, const AtWork&) = default;
};
MUSTER_DESCRIBE(AtWork, yet);
template <>
inline constexpr bool left_out_by_default<AtWork> = true;

/// The call was refused, for the reason `why`.
struct Refused {
  std::string why;
  AtWork at_work = {};  ///< set by a node that was outvoted
};
MUSTER_DESCRIBE(Refused, why, at_work);

/// The answer to AreYouFree.
struct Free {
  Duration after{};  ///< for how long from now on the answerer is not free; 0: it is free
};
MUSTER_DESCRIBE(Free, after);

// The index of an alternative is its code in the wire format: add new ones only at the end.
using Result =
    std::variant<Here, Normality, Halted, Joined, Installed, Refused, invitation::Coordinating,
                 invitation::Membership, invitation::Invited, Free, Elsewhere>;

/// The answer to the call with the same number.
struct Answer {
  Result result;
};
MUSTER_DESCRIBE(Answer, result);

using Message =
    std::variant<AreYouThere, AreYouNormal, Halt, NewCoordinator, Ready, Answer,
                 invitation::AreYouCoordinator, invitation::AreYouThere, invitation::Invitation,
                 invitation::Accept, invitation::Ready, textbook::Election, textbook::Coordinator,
                 AreYouFree, in_group::AreYouThere>;

/// A call of a remote procedure or the answer to a call. Every letter names the life of its sender.
struct Letter {
  NodeId from;
  Incarnation incarnation;
  NodeId to;
  /// Chosen by the caller. An answer has the number of the call that it answers.
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

/// How a host knows that a call will never be answered.
enum class Unheard {
  silence,  ///< the bound has passed, or the called life is over
  refused,  ///< after the call was made, the called machine said that no process listens there
};
MUSTER_DESCRIBE_ENUM(Unheard, silence, refused)
template <>
inline constexpr bool left_out_by_default<Unheard> = true;

/// The life that this call is for. None if the call is for the node in any of its lives; for
/// example AreYouThere asks whether the node is there at all. Hosts use this function instead of
/// looking at the kind of a letter.
std::optional<Incarnation> life_called(const Letter& letter);

/// True when the letter answers a call, false when it makes one.
bool is_answer(const Letter& letter);

/// True when the sender and the receiver named inside the message are those of the letter. The
/// message may name the candidate of an election, with its life, or the coordinator of a group. A
/// receiver keeps these values after the connection has ended, so with a false value it would take
/// the words of one node for those of another.
bool repeats_its_envelope(const Letter& letter);

}  // namespace muster

MUSTER_COMPILED_ONCE(muster::Letter);
MUSTER_ARCHIVED_ONCE(muster::Letter);
