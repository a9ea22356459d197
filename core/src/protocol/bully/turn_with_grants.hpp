#pragma once

#include "turn_with_calm.hpp"

#include <vector>

namespace muster::bully {

/// Before and after all moments of any clock.
inline constexpr Moment never = Moment::min();
inline constexpr Moment always = Moment::max();

/// One step with quorum = "majority" (docs/options/quorum.md). A member grants its coordinator, for
/// a while, that it coordinates; a coordinator that holds the grants of a majority grants each
/// member, for a while, that it works. Nobody works beyond that, and whoever reorganizes waits
/// until nobody else does.
class TurnWithGrants final : public TurnWithCalm {
 public:
  TurnWithGrants(const Config& config, State& state, Moment now)
      : TurnWithCalm(config, state, now), grants_(state.by_options.grants) {}

  Actions take(const Event& event) override;

 private:
  using Turn::called;
  using Turn::happened;

  // Rights to work, and their end.
  [[nodiscard]] bool works_by_right() const;
  [[nodiscard]] Moment coordinators_right() const;
  void lose_right();

  // Grants, given and heard of.
  void take_in(const Letter& letter);
  void take_grant(const Letter& answer);
  void let_ride(Letter& letter);
  void call_rides(const Letter& letter, ByQuorum& riding);
  void answer_rides(const Answer& answer, const Letter& letter, ByQuorum& riding);
  void has_granted(CallNumber call);

  // Until when others may work.
  [[nodiscard]] Rights own_word() const;
  void remember(Rights rights);
  void forget_what_is_over();
  [[nodiscard]] std::vector<Rights> to_tell() const;
  [[nodiscard]] std::vector<Rights> as_told(std::vector<Rights> told) const;
  [[nodiscard]] std::optional<Moment> may_work_until(NodeId node) const;
  [[nodiscard]] bool others_have_ceased() override;
  [[nodiscard]] std::optional<Moment> others_cease() const;

  // Asking before halting, and awaiting.
  void halt_lower() override;
  void halt_when_enough_are_free();
  [[nodiscard]] Moment free_from(NodeId asker) const;
  void await_majority(NodeSet answered, std::optional<Moment> free_from);
  [[nodiscard]] bool awaits(const Result* result) const;
  void ask_others();
  [[nodiscard]] bool has_ceased_for(NodeId asker) const;
  [[nodiscard]] std::size_t majority() const { return config_.nodes.size() / 2 + 1; }

  // Where the paper's procedures go another way.
  void begin() override;
  void election(NodeSet asked_in_vain) override;
  void election_left_to_higher() override {}  // the end of its right ends its work
  [[nodiscard]] bool is_about_to_halt(NodeId) const override { return false; }
  void election_point() override;
  void leave_out(NodeId j) override;
  void ask_members() override;
  void make_ready() override;
  void ready(NodeId coordinator, CallNumber call) override;
  [[nodiscard]] Message question() const override { return AreYouNormal{*state_.g}; }
  void called(const Letter& letter, const AreYouThere& call) override;
  void called(const Letter& letter, const AreYouNormal& call) override;
  void called(const Letter& letter, const AreYouFree& call) override;
  void returned(NodeId by, CallNumber call, const Result* result) override;
  void higher_returned(NodeId by, const Result* result) override;
  void question_returned(NodeId by, const Result* result) override;
  void normal_returned(NodeId by, const Result* result) override;
  void probe_returned(NodeId by, const Result* result) override;
  void happened(const Received& event) override;
  void happened(const Expired& event) override;
  void end_procedure() override;
  void forget_group() override;
  void set_timers() override;
  [[nodiscard]] std::optional<Moment> next_end() const;

  Grants& grants_;
  bool new_life_ = false;        // it is Recovered
  bool says_it_awaits_ = false;  // who answers now
  bool says_it_grants_ = false;
  bool says_it_ceased_ = false;
  std::optional<CallNumber> granted_;  // the question of the own coordinator, about the own group
};

}  // namespace muster::bully
