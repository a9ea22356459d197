#include "option_answers.hpp"

/// The order in which options answer: the first one that has an answer decides. Allowed
/// combinations (muster/protocol/misfit.hpp) are quorum with calm, and any of settle, preempt,
/// resume and calm.

namespace muster::bully {

OptionAnswers::OptionAnswers(const Config& config, State& state, const Context& step) {
  const Sight sight{config, state, step};
  const Options& chosen = config.options;
  ByOptions& memory = state.by_options;
  if (chosen.calm > Duration::zero()) calm_.emplace(sight, memory.calm);
  if (chosen.quorum == Quorum::majority) {
    quorum_.emplace(sight, memory.grants);
    return;
  }
  if (chosen.settle > Duration::zero()) settle_.emplace(SettleOption{sight});
  if (chosen.preempt != Preempt::paper) preempt_.emplace(PreemptOption{sight, memory.found_by});
  if (chosen.resume == Resume::all) resume_.emplace(ResumeOption{memory.installed});
}

// --- Questions

Beginning OptionAnswers::judge_beginning(bool settled) const {
  const Beginning then = preempt_ ? preempt_->judge_beginning() : Beginning::elect;
  return settle_ ? settle_->judge_beginning(settled).value_or(then) : then;
}

Reply OptionAnswers::judge_reply(NodeId j) const {
  return preempt_ ? preempt_->judge_reply(j).value_or(Reply::here) : Reply::here;
}

Found OptionAnswers::judge_found(NodeId j) {
  return preempt_ ? preempt_->judge_found(j) : Found::goes_on;
}

Higher OptionAnswers::judge_higher() const {
  return quorum_ ? quorum_->judge_higher().value_or(Higher::there) : Higher::there;
}

LowerGroup OptionAnswers::judge_lower_group() const {
  if (quorum_) return LowerGroup::ends_by_right;
  return preempt_ ? preempt_->judge_lower_group() : LowerGroup::halts;
}

Halting OptionAnswers::judge_halting() const {
  return quorum_ ? quorum_->judge_halting() : Halting::at_once;
}

HaltOrder OptionAnswers::judge_order() const {
  return preempt_ ? preempt_->judge_order() : HaltOrder::descending;
}

// Calm judges a loss only if enough nodes for a group are left.
Group OptionAnswers::judge_group() {
  if (quorum_)
    if (const auto own = quorum_->judge_group()) return *own;
  return calm_ ? calm_->judge_group() : Group::forms;
}

Joining OptionAnswers::judge_joining(NodeId j) const {
  return calm_ ? calm_->judge_joining(j) : Joining::member;
}

Phase OptionAnswers::judge_phase(Next next) {
  return quorum_ ? quorum_->judge_phase(next) : Phase::now;
}

Asking OptionAnswers::judge_asking() const {
  return quorum_ ? Asking::are_you_normal : Asking::are_you_there;
}

Membership OptionAnswers::judge_member(const Result* answer, Membership of_the_paper) const {
  if (quorum_) return quorum_->judge_member(answer);
  return preempt_ ? preempt_->judge_member(answer).value_or(of_the_paper) : of_the_paper;
}

Readiness OptionAnswers::judge_ready() const {
  if (quorum_) return quorum_->judge_ready();
  return resume_ ? resume_->judge_ready().value_or(Readiness::start) : Readiness::start;
}

Losing OptionAnswers::judge_loss(NodeId j, Lost how) {
  return calm_ ? calm_->judge_loss(j, how) : Losing::backs_off;
}

Finding OptionAnswers::judge_normality(NodeId j, const Result* answer, Finding of_the_paper) {
  if (quorum_)
    if (const auto own = quorum_->judge_normality(j, answer)) return *own;
  return calm_ ? calm_->judge_normality(j, answer).value_or(of_the_paper) : of_the_paper;
}

Coordinator OptionAnswers::judge_coordinator(NodeId j, const Result* answer) const {
  if (quorum_) return quorum_->judge_coordinator(answer).value_or(Coordinator::there);
  return preempt_ ? preempt_->judge_coordinator(j).value_or(Coordinator::there)
                  : Coordinator::there;
}

Takeover OptionAnswers::judge_takeover() const {
  return preempt_ ? preempt_->judge_takeover() : Takeover::never;
}

Pausing OptionAnswers::judge_pause() {
  return calm_ ? calm_->judge_pause() : Pausing::goes_on;
}

// If some members still grant, the fault may be in the network and not in this node.
RightToWork OptionAnswers::judge_right() {
  if (!quorum_ || !quorum_->right_is_over()) return RightToWork::lasts;
  const bool differs = quorum_->coordinates() && quorum_->nobody_grants();
  return differs && calm_ && calm_->is_lost_by_all() ? RightToWork::leave : RightToWork::over;
}

Outsider OptionAnswers::judge_outsider(NodeId j) {
  return quorum_ ? quorum_->judge_outsider(j) : Outsider::may_work;
}

// --- Values

std::optional<ByQuorum> OptionAnswers::rides_with(const Letter& letter) {
  return quorum_ ? quorum_->rides_with(letter) : std::nullopt;
}

std::optional<Moment> OptionAnswers::right() const {
  return quorum_ ? quorum_->right() : std::nullopt;
}

NodeSet OptionAnswers::take_held_out() {
  return calm_ ? calm_->take_held_out() : NodeSet{};
}

NodeSet OptionAnswers::others_to_ask() const {
  return quorum_ ? quorum_->others_to_ask() : NodeSet{};
}

std::optional<Moment> OptionAnswers::free_from(NodeId asker) const {
  return quorum_ ? std::optional(quorum_->free_from(asker)) : std::nullopt;
}

std::optional<Moment> OptionAnswers::majority_free_from(const AskingFree& wait) const {
  return quorum_ ? quorum_->majority_free_from(wait) : std::nullopt;
}

std::optional<Moment> OptionAnswers::next_end() const {
  return quorum_ ? quorum_->next_end() : std::nullopt;
}

std::optional<unsigned> OptionAnswers::level_given_back() const {
  return calm_ ? calm_->level_given_back() : std::nullopt;
}

// --- Facts

void OptionAnswers::step_begins() {
  if (calm_) calm_->step_begins();
}

void OptionAnswers::step_ends() {
  if (calm_) calm_->step_ends();
  if (quorum_) quorum_->step_ends();
}

void OptionAnswers::letter_came() {
  if (quorum_) quorum_->letter_came();
}

void OptionAnswers::has_died(NodeId j) {
  if (calm_) calm_->has_died(j);
}

void OptionAnswers::new_life_of(NodeId j) {
  if (calm_) calm_->new_life_of(j);
  if (preempt_) preempt_->new_life_of(j);
}

void OptionAnswers::life_begins() {
  if (quorum_) quorum_->life_begins();
}

void OptionAnswers::election_begins() {
  if (quorum_) quorum_->election_begins();
  if (preempt_) preempt_->election_begins();
}

void OptionAnswers::halting_begins() {
  if (calm_) calm_->halting_begins();
}

void OptionAnswers::halted_by(NodeId j) {
  if (preempt_) preempt_->halted_by(j);
}

void OptionAnswers::has_halted(NodeId j, const Halted* answer) {
  if (calm_) calm_->has_halted(j, answer);
}

void OptionAnswers::joins(NodeId j) {
  if (preempt_) preempt_->joins(j);
}

void OptionAnswers::told_task() {
  if (resume_) resume_->told_task();
}

void OptionAnswers::left_out(NodeId j) {
  if (quorum_) quorum_->left_out(j);
}

void OptionAnswers::leaves_group() {
  if (quorum_) quorum_->leaves_group();
  if (resume_) resume_->leaves_group();
}

void OptionAnswers::has_failed() {
  if (preempt_) preempt_->has_failed();
}

void OptionAnswers::call_returned(NodeId by, CallNumber call, const Result* result) {
  if (calm_) calm_->call_returned(by, call, result);
}

}  // namespace muster::bully
