#pragma once

/// The commands that stand in programs of their own, for their help and for that of `muster`.

namespace muster::apps::part_commands {

struct Command {
  const char* name;
  const char* what;
};

inline constexpr Command check{"check",
                               "Search every interleaving of a small cluster for what does not "
                               "hold"};
inline constexpr Command draw{"draw", "Draw journals as a space-time diagram"};
inline constexpr Command election{
    "election",
    "Messages and time of one election in simulated time, by protocol: the paper's text, the "
    "Bully as it ships, the textbooks' and the Invitation, best and worst case, each compared "
    "with its closed form (docs/figures.md); exit code 1 if one does not hold"};
inline constexpr Command postgres{"postgres", "PostgreSQL whose fail-over is a reorganization"};
inline constexpr Command replay{"replay", "Run `step` again on each recorded event and compare"};
inline constexpr Command simulate{
    "simulate", "Seeded runs with faults, in simulated time, each checked (docs/lab.md)"};
inline constexpr Command verify{"verify",
                                "Merge journals and check the assertions and the hook grammar"};

}  // namespace muster::apps::part_commands
