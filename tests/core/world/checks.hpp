#pragma once

#include "world.hpp"

/// The checks at each step of the test world, in addition to the hook grammar. Each function throws
/// a Violation that names the broken promise.

namespace muster::test {

/// "node 3"
std::string name(const TestNode& node);

/// Checks a step of a node: P6, P7, timers, bounds and calls.
void check_step(const TestNode& node, const Protocol& before, const Event& event,
                const Actions& actions);

// Checks before an action is performed: P1, P4, P5 and P8, and that the numbers in letters are
// durable.
void check_letter(const TestNode& node, const Letter& letter);
void check_save(const TestNode& node, const SafeState& safe);
void check_reorganize(const World& world, const TestNode& node, const Members& members);
void check_start(const TestNode& node, GroupNumber group);
void check_leave(const TestNode& node);

/// Checks a node that has finished its work: group numbers grow, each awaited event will come, and
/// timers are armed.
void check_node(const World& world, TestNode& node);

/// Checks the assertions that the protocol claims at all times: 1a, 1b and works-apart, or 3a and
/// 3b.
void check_world(const World& world);

/// Throws if the hook grammar reports a violation.
void demand_nothing_wrong(const TestNode& node, const HookGrammar::Wrong& wrong);

}  // namespace muster::test
