#pragma once

/// The commands that are separate programs. Their own help and that of `muster` use these texts.

namespace muster::apps::part_commands {

struct Command {
  const char* name;
  const char* what;
};

inline constexpr Command check{
    "check", "Search every interleaving of a small cluster for violated assertions"};
inline constexpr Command draw{"draw", "Draw journals as a space-time diagram"};
inline constexpr Command election{
    "election",
    "Count the messages and the simulated time of one election, best and worst case, for the Bully "
    "by "
    "the paper's text, Muster's Bully, the textbooks' Bully and the Invitation. Compares each "
    "figure "
    "with its closed form (docs/figures.md); exit code 1 if one differs"};
inline constexpr Command postgres{"postgres", "Run PostgreSQL that fails over by reorganization"};
inline constexpr Command replay{"replay", "Run `step` again on each recorded event and compare"};
inline constexpr Command simulate{
    "simulate", "Simulate seeded runs with faults, and check each (docs/how-to/simulate.md)"};
inline constexpr Command verify{"verify",
                                "Merge journals and check the assertions and the hook grammar"};

}  // namespace muster::apps::part_commands
