#pragma once

#include "answers.hpp"
#include "sight.hpp"

#include <vector>

namespace muster::bully {

/// Before and after all moments of any clock.
inline constexpr Moment never = Moment::min();
inline constexpr Moment always = Moment::max();

/// quorum = "majority" (docs/options/quorum.md). A member grants its coordinator, for a while, that
/// it coordinates; a coordinator that holds the grants of a majority grants each member, for a
/// while, that it works. Nobody works beyond that, and whoever reorganizes waits until nobody else
/// does.
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
  /// True when no grant at all is held any more: this coordinator may differ, and not the network.
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

  // Grants, given and heard of.
  [[nodiscard]] bool is_of_own_coordinator(const Letter& letter) const;
  void take_grant(const Letter& answer);
  void call_rides(const Letter& letter, ByQuorum& riding);
  void answer_rides(const Answer& answer, const Letter& letter, ByQuorum& riding);
  [[nodiscard]] bool grants_by(const Letter& answer) const;
  void has_granted(CallNumber call);
  [[nodiscard]] bool has_ceased_for(NodeId asker) const;

  // Until when others may work (option_quorum_rights.cpp).
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
