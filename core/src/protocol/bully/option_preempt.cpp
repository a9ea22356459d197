#include "option_preempt.hpp"

namespace muster::bully {

std::optional<Reply> PreemptOption::judge_reply(NodeId j) const {
  if (stands_back_for(j)) return Reply::stands_back;
  if (is_wrongly_taken_for_coordinator_by(j)) return Reply::does_not_coordinate;
  return std::nullopt;
}

// True if this higher node leaves the election to the candidate that asks. That candidate has found
// this node, or has taken it into its group. Since then this node has begun no election of its own,
// and no other node has halted it.
bool PreemptOption::stands_back_for(NodeId candidate) const {
  return found_by == candidate && (sight.runs<Idle>() || sight.runs<Probing>());
}

// A higher node asks AreYouThere only of its coordinator, or of members of its group. In the paper,
// a coordinator that gives way does so to a node above all its members, which then halts them. With
// this option, members may be above that node, and would wait for it for ever. So a node that does
// not coordinate refuses the question of a higher node.
bool PreemptOption::is_wrongly_taken_for_coordinator_by(NodeId j) const {
  const bool is_member = sight.node.c && sight.node.c->candidate == j;
  return sight.self() < j && !sight.coordinates() && !is_member;
}

// Only a Normal coordinator asks AreYouNormal. So there is a group, and its coordinator will take
// this node into it.
Found PreemptOption::judge_found(NodeId j) {
  if (sight.works_in_group() || !sight.runs<Idle>() || sight.self() < j) return Found::goes_on;
  found_by = j;
  return Found::waits;
}

std::optional<Membership> PreemptOption::judge_member(const Result* answer) const {
  if (answer && std::holds_alternative<Refused>(*answer)) return Membership::ignored;
  return std::nullopt;
}

// A lower coordinator that failed and came back answers AreYouThere, but with this option it waits
// until a coordinator finds it. It coordinates no more.
std::optional<Coordinator> PreemptOption::judge_coordinator(NodeId j) const {
  const auto& c = sight.node.c;
  if (c && c->incarnation < sight.seen(j)) return Coordinator::silent;
  return std::nullopt;
}

// A higher node that has been a member for `preempt_after` holds the election that it did not hold
// when it came.
Takeover PreemptOption::judge_takeover() const {
  const bool is_member_of_a_lower =
      sight.node.s == Status::Normal && sight.node.c->candidate < sight.self();
  const bool wanted = sight.config.options.preempt == Preempt::after && !sight.node.leaving;
  return wanted && is_member_of_a_lower ? Takeover::after_a_while : Takeover::never;
}

void PreemptOption::new_life_of(NodeId j) {
  if (found_by == j) found_by.reset();
}

void PreemptOption::halted_by(NodeId j) {
  if (found_by != j) found_by.reset();
}

void PreemptOption::joins(NodeId j) {
  if (j < sight.self()) found_by = j;
}

}  // namespace muster::bully
