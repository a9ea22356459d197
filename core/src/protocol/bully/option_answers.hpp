#pragma once

#include "option_calm.hpp"
#include "option_preempt.hpp"
#include "option_quorum.hpp"
#include "option_resume.hpp"
#include "option_settle.hpp"

/// The points at which an option can depart from the paper (docs/explanation/options.md).
///
/// Each `judge_` function is a question that the paper's text asks at one point. Its answer is the
/// paper's unless an option has another one. Only `BullyTurn` acts on the answers. An option
/// changes nothing but its own memory (`ByOptions`).

namespace muster::bully {

class OptionAnswers {
 public:
  OptionAnswers(const Config& config, State& state, const Context& step);
  OptionAnswers(const OptionAnswers&) = delete;
  OptionAnswers& operator=(const OptionAnswers&) = delete;

  // --- Questions

  /// Does Recovery(i) go on with an election, or with a wait? `settled`: the wait for other nodes
  /// is over.
  [[nodiscard]] Beginning judge_beginning(bool settled) const;
  /// Node j has asked AreYouThere. Is this node there for j?
  [[nodiscard]] Reply judge_reply(NodeId j) const;
  /// The Normal coordinator j has asked AreYouNormal. Does this node wait for the election of j?
  Found judge_found(NodeId j);
  /// A higher node has answered phase A. Does its answer end Election(i)?
  [[nodiscard]] Higher judge_higher() const;
  /// A higher node has met the group of a lower coordinator. How does that group end?
  [[nodiscard]] LowerGroup judge_lower_group() const;
  /// Phase A is over. Are the lower nodes halted at once, or asked first?
  [[nodiscard]] Halting judge_halting() const;
  /// The order of the Halts.
  [[nodiscard]] HaltOrder judge_order() const;
  /// All Halts have returned. Do the halted nodes become a group?
  Group judge_group();
  /// Node j has joined. Does it become a member?
  [[nodiscard]] Joining judge_joining(NodeId j) const;
  /// May the coordinator begin that phase now?
  Phase judge_phase(Next next);
  /// The question that members get while longer calls have no answer yet.
  [[nodiscard]] Asking judge_asking() const;
  /// A member has given this answer, or null for none. Is it still a member? `of_the_paper` is the
  /// paper's reaction to this answer.
  [[nodiscard]] Membership judge_member(const Result* answer, Membership of_the_paper) const;
  /// Ready is accepted, or the coordinator has come to its own start. Does the application start?
  [[nodiscard]] Readiness judge_ready() const;
  /// The group has lost j, which is alive. Does this coordinator back off before its next election?
  Losing judge_loss(NodeId j, Lost how);
  /// Node j has answered AreYouNormal, or has not. `of_the_paper` is the paper's conclusion from
  /// this result.
  Finding judge_normality(NodeId j, const Result* answer, Finding of_the_paper);
  /// The coordinator j has given this answer to Timeout(i). Is j still the coordinator?
  [[nodiscard]] Coordinator judge_coordinator(NodeId j, const Result* answer) const;
  /// Does a member under a lower coordinator hold an election of its own after a while?
  [[nodiscard]] Takeover judge_takeover() const;
  /// This coordinator has paused. Does it leave?
  Pausing judge_pause();
  /// May this node work on?
  RightToWork judge_right();
  /// Node j is outside S(i).Up and has answered, or has not. May it still be at work?
  Outsider judge_outsider(NodeId j);

  // --- Values

  /// The rider of a letter that this step sends, or none.
  [[nodiscard]] std::optional<ByQuorum> rides_with(const Letter& letter);
  /// The moment until which this node may work. None: this node does not work, or its work has no
  /// limit.
  [[nodiscard]] std::optional<Moment> right() const;
  /// The halted nodes that stay out of the group. Each is returned once.
  NodeSet take_held_out();
  /// The nodes outside S(i).Up that are to be asked whether they still work.
  [[nodiscard]] NodeSet others_to_ask() const;
  /// The moment from which this node is free to be halted by `asker`. None: there is no quorum, and
  /// the question has no meaning.
  [[nodiscard]] std::optional<Moment> free_from(NodeId asker) const;
  /// The moment from which a majority is free. None: too few nodes have answered.
  [[nodiscard]] std::optional<Moment> majority_free_from(const AskingFree& wait) const;
  /// The moment for which the timer `right` is set.
  [[nodiscard]] std::optional<Moment> next_end() const;
  /// The level of `retry` before a failed `start`, if only the node of that `start` is to blame;
  /// otherwise none.
  [[nodiscard]] std::optional<unsigned> level_given_back() const;

  // --- Facts

  void step_begins();  ///< once an ended right has been dealt with
  void step_ends();    ///< all its letters are written
  void letter_came();  ///< before any test of the letter
  void has_died(NodeId j);
  void new_life_of(NodeId j);
  void life_begins();
  void election_begins();
  void halting_begins();
  void halted_by(NodeId j);
  void has_halted(NodeId j, const Halted* answer);
  void joins(NodeId j);  ///< this node joins the group of j
  void told_task();  ///< this member knows its task, or all members of this coordinator know theirs
  void left_out(NodeId j);
  void leaves_group();  ///< before the group is forgotten
  void has_failed();    ///< this node is Down now
  void call_returned(NodeId by, CallNumber call, const Result* result);

 private:
  std::optional<QuorumOption> quorum_;
  std::optional<SettleOption> settle_;
  std::optional<PreemptOption> preempt_;
  std::optional<ResumeOption> resume_;
  std::optional<CalmOption> calm_;
};

}  // namespace muster::bully
