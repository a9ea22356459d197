#pragma once

#include "option_calm.hpp"
#include "option_preempt.hpp"
#include "option_quorum.hpp"
#include "option_resume.hpp"
#include "option_settle.hpp"

/// The points at which an option may leave the paper (docs/options.md). Each is a question that the
/// paper's text asks. It has the paper's answer unless an option has another. Only `BullyTurn`
/// acts. An option answers, and changes nothing but its own memory.

namespace muster::bully {

class OptionAnswers {
 public:
  OptionAnswers(const Config& config, State& state, const Context& step);
  OptionAnswers(const OptionAnswers&) = delete;
  OptionAnswers& operator=(const OptionAnswers&) = delete;

  // --- Questions

  /// Recovery(i) goes on: with what? `settled`: the wait for others is over.
  [[nodiscard]] Beginning judge_beginning(bool settled) const;
  /// AreYouThere of j: is this node there for it?
  [[nodiscard]] Reply judge_reply(NodeId j) const;
  /// Normal coordinator j has asked: does this node wait for its election?
  Found judge_found(NodeId j);
  /// A higher node has answered phase A: does that end Election(i)?
  [[nodiscard]] Higher judge_higher() const;
  /// This node is above a coordinator, or hears a higher node that leads others: what does it do?
  [[nodiscard]] LowerGroup judge_lower_group() const;
  /// Phase A is over: are the lower nodes halted at once?
  [[nodiscard]] Halting judge_halting() const;
  /// In which order?
  [[nodiscard]] HaltOrder judge_order() const;
  /// All are halted: do they become a group?
  Group judge_group();
  /// j has joined: does it become a member?
  [[nodiscard]] Joining judge_joining(NodeId j) const;
  /// May the coordinator go on with that phase?
  Phase judge_phase(Next next);
  /// Which question do members get while longer calls are out?
  [[nodiscard]] Asking judge_asking() const;
  /// A member has given this answer, or none: is it one still? `of_the_paper`: by the paper.
  [[nodiscard]] Membership judge_member(const Result* answer, Membership of_the_paper) const;
  /// Ready is accepted, or the own one: does the application start?
  [[nodiscard]] Readiness judge_ready() const;
  /// The group has lost j, which lives: does this coordinator back off for it?
  Losing judge_loss(NodeId j, Lost how);
  /// j has answered AreYouNormal, or has not; `of_the_paper` is what the paper makes of that.
  Finding judge_normality(NodeId j, const Result* answer, Finding of_the_paper);
  /// The coordinator j has given this answer: is it one still?
  [[nodiscard]] Coordinator judge_coordinator(NodeId j, const Result* answer) const;
  /// Does a member of a lower coordinator hold an election of its own?
  [[nodiscard]] Takeover judge_takeover() const;
  /// This coordinator has paused: does it leave?
  Pausing judge_pause();
  /// May this node work on?
  RightToWork judge_right();
  /// j is outside S(i).Up and was asked: may it still be at work?
  Outsider judge_outsider(NodeId j);

  // --- Values

  /// The rider of a letter that this step sends.
  [[nodiscard]] std::optional<ByQuorum> rides_with(const Letter& letter);
  /// Until when this node may work; none: it does not, or nothing ends it.
  [[nodiscard]] std::optional<Moment> right() const;
  /// Which of the halted nodes stay out of the group. They are forgotten as such.
  NodeSet take_held_out();
  /// Which nodes outside S(i).Up are to be asked whether they work.
  [[nodiscard]] NodeSet others_to_ask() const;
  /// From when on this node is free to follow `asker`; none: that is nobody's question.
  [[nodiscard]] std::optional<Moment> free_from(NodeId asker) const;
  /// From when on a majority is free; none: too few have answered.
  [[nodiscard]] std::optional<Moment> majority_free_from(const AskingFree& wait) const;
  /// The moment that the timer `right` waits for.
  [[nodiscard]] std::optional<Moment> next_end() const;
  /// The level of `retry` from before a failed `start` that costs its own node alone.
  [[nodiscard]] std::optional<unsigned> level_given_back() const;

  // --- Facts

  void step_begins();  ///< with the event, after a right may have ended
  void step_ends();    ///< all letters of it are written
  void letter_came();  ///< before any test of it
  void has_died(NodeId j);
  void new_life_of(NodeId j);
  void life_begins();
  void election_begins();
  void halting_begins();
  void halted_by(NodeId j);
  void has_halted(NodeId j, const Halted* answer);
  void joins(NodeId j);  ///< this node joins the group of j
  void told_task();      ///< this member, or all of this coordinator's, know the definition
  void left_out(NodeId j);
  void leaves_group();  ///< before the group is forgotten
  void has_failed();    ///< what Down means of a node
  void call_returned(NodeId by, CallNumber call, const Result* result);

 private:
  std::optional<QuorumOption> quorum_;
  std::optional<SettleOption> settle_;
  std::optional<PreemptOption> preempt_;
  std::optional<ResumeOption> resume_;
  std::optional<CalmOption> calm_;
};

}  // namespace muster::bully
