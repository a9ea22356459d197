#pragma once

#include <muster/lab/simulator.hpp>

namespace muster::lab::simulated {

/// The trial of one seed; without an application where none is under test. One that cannot be made
/// makes applications that say so.
Trial trial_of(const Simulation& simulation);

/// The run is over: what the check of the trial finds stands in the journal.
void ask(const Trial& trial, World& world);

/// Adds what an application under test is judged by, before all else: "application" and "hooks".
void judge(const Trial& trial, const World& world, verify::Outcome& outcome);

}  // namespace muster::lab::simulated
