#include "turn.hpp"

#include <muster/values/ensure.hpp>

#include <algorithm>

/// What leaves the paper where it is asked for (docs/options.md).

namespace muster::bully {

namespace {

// Timers of options are armed with their length.
unsigned in_milliseconds(Duration duration) {
  using std::chrono::milliseconds;
  return static_cast<unsigned>(std::chrono::ceil<milliseconds>(duration).count());
}

}  // namespace

// Recovery(i) goes on with Election(i). With `settle` the first life waits for the others before
// it; where a higher node joins, every life waits to be found by a Normal coordinator's Check, and
// Timeout(i) calls Election(i) if none comes.
void Turn::begin() {
  const bool first_start = !state_.safe.assigned && config_.nodes.size() > 1;
  if (config_.options.settle > Duration::zero() && first_start) {
    Settling wait;
    for (NodeId j : config_.nodes) {
      if (j == config_.self) continue;
      wait.asked.emplace(call(j, AreYouThere{}, Bound::answer), j);
      wait.not_heard.insert(j);
    }
    state_.procedure = std::move(wait);
    actions_.emplace_back(Arm{Timer::settle, in_milliseconds(config_.options.settle)});
  } else if (!joins()) {
    election();
  }
}

void Turn::settled() {
  end_procedure();
  if (!joins()) election();
}

// All of the others are up: there is nobody to wait for.
void Turn::heard(NodeId node) {
  auto* wait = std::get_if<Settling>(&state_.procedure);
  if (!wait) return;
  wait->not_heard.erase(node);
  if (wait->not_heard.empty()) settled();
}

// Only a Normal coordinator asks AreYouNormal: there is a group, into which it takes this node.
void Turn::found(NodeId coordinator) {
  if (runs<Settling>()) settled();
  if (!joins() || works_in_group() || !runs<Idle>() || config_.self < coordinator) return;
  state_.aside.found_by = coordinator;
  rearm_coordinator_ = true;
}

// Whether this higher node leaves an election to the candidate that asks: the coordinator that
// takes it in, or has, as long as this node holds no election of its own, and nobody else halts it.
bool Turn::stands_back_for(NodeId candidate) const {
  return joins() && state_.aside.found_by == candidate && (runs<Idle>() || runs<Probing>());
}

// A higher node asks AreYouThere of its coordinator, and of its members. In the paper a coordinator
// that gave way did so to a node above all its members; here its members might be above it, and
// wait for it for ever.
bool Turn::is_wrongly_taken_for_coordinator_by(NodeId node) const {
  const bool is_member = state_.c && state_.c->candidate == node;
  return joins() && config_.self < node && !coordinates() && !is_member;
}

bool Turn::is_minority() const {
  return config_.options.quorum == Quorum::majority &&
         2 * (state_.up.size() + 1) <= config_.nodes.size();
}

// Too few nodes answered Halt: i and whom it halted stay stopped, in Election, and i tries again
// when `retry` expires, or a lower node asks that was not among them.
void Turn::await_majority() {
  const unsigned level = state_.retry_level;
  if (repairs_.back_off) state_.retry_level = std::min(level + 1, highest_level);
  end_procedure();
  state_.procedure = AwaitingMajority{};
  actions_.emplace_back(Arm{Timer::retry, level > 0 ? level - 1 : 0});
}

// With resume "all" the first Ready tells a task, and the second one starts it.
bool Turn::only_installs() const {
  return config_.options.resume == Resume::all && !state_.aside.installed;
}

void Turn::install() {
  MUSTER_ENSURE(state_.d && state_.g);
  Assigned assigned{*state_.d, *state_.g};
  if (state_.safe.assigned == assigned) return;
  state_.safe.assigned = std::move(assigned);
  save();
}

// Who has been a member of a lower node for long enough holds the election that it did not hold
// when it came.
void Turn::settle_preemption() {
  const bool wanted = config_.options.preempt == Preempt::after && !state_.leaving &&
                      state_.s == Status::Normal && state_.c->candidate < config_.self;
  bool& armed = state_.aside.preempt_armed;
  if (wanted && !armed)
    actions_.emplace_back(Arm{Timer::preempt, in_milliseconds(config_.options.preempt_after)});
  else if (!wanted && armed)
    actions_.emplace_back(Disarm{Timer::preempt});
  armed = wanted;
}

}  // namespace muster::bully
