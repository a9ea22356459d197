#pragma once

#include "world.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// Seeded random runs of the world in which anything may happen: every step checked, and at the
/// end, when failures cease, all nodes must come together.

namespace muster::test::any {

/// How wild a run is; each figure bounds how often that may happen.
struct Wildness {
  std::uint32_t nodes = 3;
  Config config = {};
  unsigned steps = 200;
  unsigned failures = 4;
  unsigned losses = 6;
  unsigned silences = 6;  ///< calls that go unanswered at any time
  unsigned cuts = 3;
  unsigned pauses = 2;
  unsigned leaves = 0;
  unsigned failed_hooks = 0;
  unsigned expiries = 40;
  bool must_settle = true;
};

struct Command {
  std::string verb;
  std::uint32_t node = 0;
  std::uint32_t other = 0;
  Timer timer{};
};

std::string to_line(const Command& command);
/// False where it is not possible now.
bool run(World& world, const Command& command);

struct Finding {
  std::string what;
  std::vector<Command> script;  ///< what leads to it, from nodes that are all down
};

/// Links heal, who is paused goes on, who is down begins a new life. What is wrong, when the nodes
/// do not come together within the settling bound.
std::optional<std::string> come_to_rest(World& world, bool must_settle);

/// One run. None where everything held.
std::optional<Finding> explore(std::uint64_t seed, const Wildness& wildness);

/// A shorter script that finds something of the same kind.
Finding reduce(Finding finding, const Wildness& wildness);

/// The script, and the story that it makes.
std::string to_text(const Finding& finding, const Wildness& wildness);

}  // namespace muster::test::any
