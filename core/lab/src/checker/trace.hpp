#pragma once

#include "checked_world.hpp"

#include <muster/lab/checker.hpp>

namespace muster::lab::explored {

/// A way, and the violation at its end, if there is one.
struct Told {
  Trace story;
  std::optional<Wrong> wrong;
};

/// Makes the moves of a path with the true numbers and all fields, and writes them down as a
/// journal. A violation that exists only in the canonical form does not occur in this journal.
Told tell_story(const Bounds& bounds, const std::vector<Label>& path);

}  // namespace muster::lab::explored
