#include "option_preempt.hpp"

namespace muster::bully {

std::optional<Reply> PreemptOption::judge_reply(NodeId j) const {
  if (stands_back_for(j)) return Reply::stands_back;
  if (is_wrongly_taken_for_coordinator_by(j)) return Reply::does_not_coordinate;
  return std::nullopt;
}

// Whether this higher node leaves an election to the candidate that asks: the coordinator that
// takes it in, or has, as long as this node holds no election of its own, and nobody else halts it.
bool PreemptOption::stands_back_for(NodeId candidate) const {
  return found_by == candidate && (sight.runs<Idle>() || sight.runs<Probing>());
}

// A higher node asks AreYouThere of its coordinator, and of its members. In the paper a coordinator
// that gave way did so to a node above all its members; here its members might be above it, and
// wait for it for ever.
bool PreemptOption::is_wrongly_taken_for_coordinator_by(NodeId j) const {
  const bool is_member = sight.node.c && sight.node.c->candidate == j;
  return sight.self() < j && !sight.coordinates() && !is_member;
}

// Only a Normal coordinator asks AreYouNormal: there is a group, into which it takes this node.
Found PreemptOption::judge_found(NodeId j) {
  if (sight.works_in_group() || !sight.runs<Idle>() || sight.self() < j) return Found::goes_on;
  found_by = j;
  return Found::waits;
}

std::optional<Membership> PreemptOption::judge_member(const Result* answer) const {
  if (answer && std::holds_alternative<Refused>(*answer)) return Membership::ignored;
  return std::nullopt;
}

// A lower coordinator that failed and recovered answers, and gives way: it is none any more.
std::optional<Coordinator> PreemptOption::judge_coordinator(NodeId j) const {
  const auto& c = sight.node.c;
  if (c && c->incarnation < sight.seen(j)) return Coordinator::silent;
  return std::nullopt;
}

// A higher node that has been a member for long enough holds the election that it did not hold when
// it came.
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
