#include "bully_turn.hpp"

#include <algorithm>

/// The waits of the options, which the paper does not have, and the actions that `BullyTurn` takes
/// for them (docs/explanation/options.md).

namespace muster::bully {

// --- settle: the first life waits for the others

void BullyTurn::settle() {
  Settling wait;
  for (NodeId j : config_.nodes) {
    if (j == config_.self) continue;
    wait.asked.emplace(call(j, AreYouThere{}, Bound::answer), j);
    wait.not_heard.insert(j);
  }
  state_.procedure = std::move(wait);
  arm(Timer::settle, config_.options.settle);
}

void BullyTurn::settled() {
  end_procedure();
  begin(true);
}

// A coordinator has asked whether this node is Normal, so there is a group already, and the wait is
// over.
void BullyTurn::end_settling() {
  if (runs<Settling>()) settled();
}

// Any letter counts. Once all other nodes have been heard, there is no node left to wait for.
void BullyTurn::heard(NodeId node) {
  auto* wait = std::get_if<Settling>(&state_.procedure);
  if (!wait) return;
  wait->not_heard.erase(node);
  if (wait->not_heard.empty()) settled();
}

// --- quorum: asking before halting

void BullyTurn::called(const Letter& letter, const AreYouFree&) {
  if (const auto from = options_.free_from(letter.from))
    answer(letter.from, letter.call, Free{*from - context_.now});
}

// Asks every node that this candidate would halt when the node will be free. The question halts
// nobody, so a candidate that cannot get a majority does not disturb nodes at work.
void BullyTurn::ask_free() {
  state_.answered_by.reset();
  AskingFree wait;
  wait.free_from[config_.self] = *options_.free_from(config_.self);
  for (NodeId j : config_.nodes)
    if (halts(j)) wait.asked.emplace(call(j, AreYouFree{}, Bound::answer), j);
  state_.procedure = std::move(wait);
  halt_when_enough_are_free();
}

// Halts when a majority, this node included, is free now. If all nodes have answered and too few
// are free, this candidate awaits a majority.
void BullyTurn::halt_when_enough_are_free() {
  const auto& wait = std::get<AskingFree>(state_.procedure);
  const auto free_from = options_.majority_free_from(wait);
  if (free_from && *free_from <= context_.now) return halt_lower();
  if (!wait.asked.empty()) return;
  NodeSet answered;
  for (const auto& [node, from] : wait.free_from) answered.insert(node);
  await_majority(std::move(answered), free_from);
}

// --- quorum: awaiting a majority

// Too few nodes answered, or are free. The nodes that were halted stay stopped, in Election. This
// node leaves its group, unless its right still lets it work there. It refuses the calls that wait
// at it, and forgets its halter, so that no older Halt can take it into a group. The other nodes
// now take this node for down, although it answers.
//
// If the answers say when enough nodes will be free, the timer `right` ends the wait; otherwise
// `retry` does.
void BullyTurn::await_majority(NodeSet answered, std::optional<Moment> free_from) {
  end_procedure();
  if (!options_.right()) {
    if (works_in_group()) state_.s = Status::Election;
    state_.h.reset();
    refuse_waiting_calls();
    forget_group();
  }
  state_.procedure = AwaitingMajority{std::move(answered), free_from};
  if (free_from) return;
  const unsigned level = state_.retry_level;
  if (repairs_.back_off) state_.retry_level = std::min(level + 1, highest_level);
  actions_.emplace_back(Arm{Timer::retry, level > 0 ? level - 1 : 0});
}

bool BullyTurn::awaits_majority() const {
  return runs<AwaitingMajority>();
}

// A lower node that had not answered before is up. With this node there may be enough nodes for a
// majority.
void BullyTurn::elect_for_a_new_one(NodeId asker) {
  const auto* wait = std::get_if<AwaitingMajority>(&state_.procedure);
  if (wait && asker < config_.self && !wait->answered.contains(asker)) election();
}

// --- quorum: nodes outside S(i).Up, which may still be at work

// Asks each node outside S(i).Up whether it is there. Such a node may still work in an older group,
// and `reorganize` waits until the node must have ceased or has said that it has.
void BullyTurn::ask_others() {
  for (NodeId j : options_.others_to_ask())
    state_.by_options.grants.questions.emplace(call(j, AreYouThere{}, Bound::answer), j);
}

// True if the call was such a question.
bool BullyTurn::take_outsider(NodeId by, CallNumber call) {
  if (!take_out(state_.by_options.grants.questions, by, call)) return false;
  if (options_.judge_outsider(by) == Outsider::has_ceased) reorganize_when_all_stopped();
  return true;
}

// --- quorum: the end of a right to work

// If the right is over by now, its end is handled before the event, whatever the event is.
void BullyTurn::end_right(const Event& event) {
  const RightToWork right = options_.judge_right();
  if (right == RightToWork::lasts) return;
  lose_right();
  if (right == RightToWork::leave) leave(LeaveCause::unsteady);
  if (state_.left || state_.leaving || std::holds_alternative<Paused>(event)) return;
  election();
}

// The permits are void since the end of the right. STOP is due since then, too. So the deadline of
// STOP counts from the end of the right, even if the machine slept since.
void BullyTurn::lose_right() {
  const Moment deadline = *options_.right() + config_.timings.stop_deadline;
  state_.s = Status::Election;
  state_.h.reset();
  state_.answered_by.reset();
  forget_group();
  stop({StopReason::right_over, std::nullopt});
  for (Action& action : actions_)
    if (auto* stop = std::get_if<Stop>(&action)) stop->by.at = deadline;
}

// Riders are written when the step has ended, because they describe the node at that point. `Right`
// tells the host until when permits are valid. `Right` goes before `Start`, so that the application
// never starts without a right.
void BullyTurn::write_riders(std::optional<Moment> right_before) {
  bool starts = false;
  for (Action& action : actions_) {
    if (auto* send = std::get_if<Send>(&action))
      if (auto riding = options_.rides_with(send->letter))
        send->letter.by_quorum = std::move(riding);
    starts = starts || std::holds_alternative<Start>(action);
  }
  const auto right = options_.right();
  if (right && (starts || right != right_before)) actions_.insert(actions_.begin(), Right{*right});
}

// --- calm: nodes that a coordinator keeps out

// Calm leaves j out of this group.
void BullyTurn::leave_out(NodeId j) {
  options_.left_out(j);
  std::erase_if(state_.up, [&](const Member& member) { return member.node == j; });
}

// A suspended node may have made a group of its own while it was cut off. The suspended node gets a
// Halt of a new election, and the group goes on without that node. No procedure waits for the
// answer.
void BullyTurn::halt_alone(NodeId j) {
  ++state_.elections;
  call(j, Halt{own_election()}, Bound::answer);
}

// --- How their calls return, and their timers

void BullyTurn::wait_of_option_returned(NodeId by, CallNumber call, const Result* result) {
  if (auto* settling = std::get_if<Settling>(&state_.procedure))
    take_out(settling->asked, by, call);
  auto* asking = std::get_if<AskingFree>(&state_.procedure);
  if (!asking || !take_out(asking->asked, by, call)) return;
  if (const auto* free = as<Free>(result))
    asking->free_from[by] = context_.now + std::min(free->after, granted_for(config_.timings));
  halt_when_enough_are_free();
}

void BullyTurn::end_wait_of_option() {
  const auto* awaiting = std::get_if<AwaitingMajority>(&state_.procedure);
  if (runs<Settling>()) actions_.emplace_back(Disarm{Timer::settle});
  if (awaiting && !awaiting->free_from) actions_.emplace_back(Disarm{Timer::retry});
}

void BullyTurn::expired(Timer timer) {
  ByOptions& memory = state_.by_options;
  const auto* awaiting = std::get_if<AwaitingMajority>(&state_.procedure);
  if (timer == Timer::preempt) {
    memory.preempt_armed = false;
    if (state_.s == Status::Normal && (runs<Idle>() || runs<Probing>())) election();
  } else if (timer == Timer::settle && runs<Settling>()) {
    state_.procedure = Idle{};
    settled();
  } else if (timer == Timer::right) {
    memory.grants.armed.reset();
    if (awaiting && awaiting->free_from && *awaiting->free_from <= context_.now) return election();
    reorganize_when_all_stopped();
  }
}

void BullyTurn::set_timers_of_options() {
  ByOptions& memory = state_.by_options;
  const bool takes_over = options_.judge_takeover() == Takeover::after_a_while;
  if (takes_over && !memory.preempt_armed)
    arm(Timer::preempt, config_.options.preempt_after);
  else if (!takes_over && memory.preempt_armed)
    actions_.emplace_back(Disarm{Timer::preempt});
  memory.preempt_armed = takes_over;

  const auto end = options_.next_end();
  std::optional<Moment>& armed = memory.grants.armed;
  if (state_.left || !end || (armed && *armed <= *end)) return;
  armed = end;
  arm(Timer::right, *end - context_.now);
}

}  // namespace muster::bully
