#pragma once

#include "world.hpp"

/// What is checked at every step of the test world, beside the hook grammar; each throws a
/// Violation that names what does not hold.

namespace muster::test {

/// "node 3"
std::string name(const TestNode& node);

/// What a step may do to a node: P6, P7, timers, bounds and calls given as they must be.
void check_step(const TestNode& node, const Protocol& before, const Event& event,
                const Actions& actions);

// Before an action is performed: P1, P4, P5 and P8, and that numbers in letters are durable.
void check_letter(const TestNode& node, const Letter& letter);
void check_save(const TestNode& node, const SafeState& safe);
void check_reorganize(const World& world, const TestNode& node, const Members& members);
void check_start(const TestNode& node, GroupNumber group);
void check_leave(const TestNode& node);

/// When nothing is left to do: groups grow, what the node waits for will come, timers are armed.
void check_node(const World& world, TestNode& node);

/// What the protocol asserts of all nodes at any time: 1a, 1b and works-apart, or 3a and 3b.
void check_world(const World& world);

/// Throws when something is wrong, in the words of the hook grammar.
void demand_nothing_wrong(const TestNode& node, const HookGrammar::Wrong& wrong);

}  // namespace muster::test
