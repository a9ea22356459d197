#include "../canonical_of.hpp"
#include "../number_walk.hpp"

/// The parts of canonical.cpp that the Invitation has for itself.

namespace muster::invitation {

void forget_dead(const Config& config, const Surroundings&, State& state) {
  for (Member& member : state.up) member.holdings = {};
  forget_counts(config.invitation_repairs.back_off, state.retry_level, state.quiet_checks);
}

void forget_dead(const Config&, const Surroundings& surroundings, Letter& letter) {
  if (auto* accept = std::get_if<Accept>(&letter.message)) accept->holdings = {};
  auto* answer = std::get_if<Answer>(&letter.message);
  if (!answer || !surroundings.ranks_only) return;
  if (auto* result = std::get_if<Coordinating>(&answer->result)) result->counter = 0;
  if (auto* result = std::get_if<Invited>(&answer->result)) result->counter = 0;
}

namespace {

class Walk : public NumberWalk<Walk> {
 public:
  using NumberWalk::NumberWalk;
  using NumberWalk::operator();

  void operator()(Owed& owed) { visit_.call(owed.to, owed.call); }
  void operator()(Accepting& wait) { visit_.call(self_, wait.call); }
  void operator()(Probing& wait) {
    visit_.call(self_, wait.call);
    (*this)(wait.group);
  }
};

}  // namespace

void visit_numbers(NodeId self, State& state, NumberVisitor& visitor) {
  Walk(self, visitor).state(state);
}

}  // namespace muster::invitation
