#pragma once

#include "answers.hpp"
#include "sight.hpp"

#include <vector>

namespace muster::bully {

/// Before and after each moment of any clock.
inline constexpr Moment never = Moment::min();
inline constexpr Moment always = Moment::max();

/// quorum = "majority": no two nodes work at the same time for different groups, even if the
/// network is cut, letters take any time, or processes pause. In the paper, assumptions 8 and 9
/// exclude cuts, late letters and pauses. The full description is in bully/quorum.md.
///
/// A right to work is a lease as in Gray and Cheriton, carried by questions that the paper asks
/// anyway. L is the length of a grant (`granted_for`), H the shorter time for which its holder
/// relies on it (`held_for`), and D the longest time in which a node ceases (`ceases_within`).
///
/// Grant. A member that answers NewCoordinator, Ready or AreYouNormal of its coordinator *grants*
/// it the right to coordinate. The member is bound for L from the moment of its answer. The
/// coordinator counts H from the moment of its question. The question came before the answer, and H
/// allows for the drift of both clocks. So the coordinator's time is over before the member's,
/// however long the letters took.
///
/// Rights. A coordinator works while it holds the grants of a majority, itself included. Each of
/// its questions names the last answer that it has received from that member. The member learns
/// from this that its grant arrived, and may work until H after it *sent* that answer.
///
/// Bounds. So a member that has granted knows that its coordinator works for at most L more. Until
/// then the coordinator may still ask other members, and each answer lets a member work for at most
/// another L. When a right ends, the application ceases within D, or the process ends itself.
///
/// Wait. A candidate has halted a majority before it reorganizes. The coordinator of any other
/// group needed a majority too, so a node of the candidate's majority is among those that granted
/// it. Each halted node reports in its Joined the bounds that it knows. The candidate waits until
/// all nodes outside S(i).Up have ceased by these bounds, except for those that have said, after
/// the election point, that they have ceased.
///
/// Asking first. A candidate without a majority could still halt nodes at work, again and again. So
/// a candidate asks first (AreYouFree), and halts only when a majority is not bound to a node above
/// the candidate.
class QuorumOption {
 public:
  QuorumOption(Sight sight, Grants& grants) : sight_(sight), grants_(grants) {}

  [[nodiscard]] std::optional<Higher> judge_higher() const;
  [[nodiscard]] Halting judge_halting() const;
  [[nodiscard]] std::optional<Group> judge_group() const;
  Phase judge_phase(Next next);
  [[nodiscard]] Membership judge_member(const Result* answer) const;
  [[nodiscard]] Readiness judge_ready() const;
  [[nodiscard]] std::optional<Finding> judge_normality(NodeId j, const Result* answer) const;
  [[nodiscard]] std::optional<Coordinator> judge_coordinator(const Result* answer) const;
  [[nodiscard]] bool coordinates() const { return sight_.coordinates(); }
  [[nodiscard]] bool right_is_over();
  /// True if no grant is held any more. In that case this coordinator may be at fault, and not the
  /// network.
  [[nodiscard]] bool nobody_grants() const;
  Outsider judge_outsider(NodeId j);

  [[nodiscard]] std::optional<ByQuorum> rides_with(const Letter& letter);
  [[nodiscard]] std::optional<Moment> right() const;
  [[nodiscard]] NodeSet others_to_ask() const;
  [[nodiscard]] Moment free_from(NodeId asker) const;
  [[nodiscard]] std::optional<Moment> majority_free_from(const AskingFree& wait) const;
  [[nodiscard]] std::optional<Moment> next_end() const;

  void step_ends();
  void letter_came();
  void life_begins();
  void election_begins() { grants_.proven = sight_.step.proof; }
  void left_out(NodeId j);
  void leaves_group();

 private:
  // Rights to work.
  [[nodiscard]] bool works_by_right() const;
  [[nodiscard]] Moment coordinators_right() const;

  // Grants that are given and received.
  [[nodiscard]] bool is_of_own_coordinator(const Letter& letter) const;
  void take_grant(const Letter& answer);
  void call_rides(const Letter& letter, ByQuorum& riding);
  void answer_rides(const Answer& answer, const Letter& letter, ByQuorum& riding);
  [[nodiscard]] bool grants_by(const Letter& answer) const;
  void has_granted(CallNumber call);
  [[nodiscard]] bool has_ceased_for(NodeId asker) const;

  // Bounds of other nodes' work (option_quorum_rights.cpp).
  [[nodiscard]] Rights own_word() const;
  void remember(Rights rights);
  void forget_what_is_over();
  [[nodiscard]] std::vector<Rights> to_tell() const;
  [[nodiscard]] std::vector<Rights> as_told(std::vector<Rights> told) const;
  [[nodiscard]] std::optional<Moment> may_work_until(NodeId node) const;
  [[nodiscard]] std::optional<Moment> others_cease() const;

  [[nodiscard]] std::size_t majority() const { return sight_.config.nodes.size() / 2 + 1; }

  Sight sight_;
  Grants& grants_;
};

}  // namespace muster::bully
