#pragma once

#include "turn_of.hpp"

#include <muster/protocol/canonical.hpp>

/// The parts of canonical.cpp that each protocol has for itself.

namespace muster {

/// Replaces counters by the little that they decide. A Check that found nothing can always be
/// followed by enough further ones to reset the level of a timer, and that level only changes the
/// timer's length.
inline void forget_counts(bool back_off, unsigned& retry_level, unsigned& quiet_checks) {
  retry_level = back_off && retry_level > 0 ? 1 : 0;
  if (retry_level == 0) quiet_checks = 0;
  if (quiet_checks > 0) quiet_checks = quiet_enough;
}

namespace bully {
void forget_dead(const Config& config, const Surroundings& surroundings, State& state);
void forget_dead(const Config& config, const Surroundings& surroundings, SafeState& safe);
void forget_dead(const Config& config, const Surroundings& surroundings, Letter& letter);
void visit_numbers(NodeId self, State& state, NumberVisitor& visitor);
void let_pass(State& state, Duration time);  // of the Bully alone
}  // namespace bully

namespace invitation {
void forget_dead(const Config& config, const Surroundings& surroundings, State& state);
void forget_dead(const Config& config, const Surroundings& surroundings, Letter& letter);
void visit_numbers(NodeId self, State& state, NumberVisitor& visitor);
}  // namespace invitation

namespace textbook {
void forget_dead(const Config& config, const Surroundings& surroundings, State& state);
void visit_numbers(NodeId self, State& state, NumberVisitor& visitor);
}  // namespace textbook

}  // namespace muster
