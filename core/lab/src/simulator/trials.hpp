#pragma once

#include <muster/lab/simulator.hpp>

namespace muster::lab::simulated {

/// The trial of one seed. The trial has no application if none is under test. If the trial cannot
/// be made, its applications fail with the reason.
Trial trial_of(const Simulation& simulation);

/// Runs the trial's check after the run, and writes its finding to the journal.
void ask(const Trial& trial, World& world);

/// Adds the verdicts on an application under test, before all others: "application" and "hooks".
void judge(const Trial& trial, const World& world, verify::Outcome& outcome);

}  // namespace muster::lab::simulated
