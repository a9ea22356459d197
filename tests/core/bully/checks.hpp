#pragma once

#include "world.hpp"

/// What is checked at every step of the test world; each throws a Violation that names what does
/// not hold.

namespace muster::test {

/// What a step may do to a node: P6, P7, timers and calls given as they must be.
void check_step(const TestNode& node, const bully::State& before, const Event& event,
                const Actions& actions);

/// Before an action is performed: P1, P2, P4, P5 and P8, and that numbers in letters are durable.
void check_action(const World& world, const TestNode& node, const Action& action);

/// After all actions of a step: groups grow, what the node waits for will come, timers are armed.
void check_node(const TestNode& node, const bully::State& before);

/// After every step: Assertions 1a and 1b, and works-apart.
void check_world(const World& world);

}  // namespace muster::test
