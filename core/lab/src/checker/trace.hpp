#pragma once

#include "checked_world.hpp"

#include <muster/lab/checker.hpp>

namespace muster::lab::explored {

/// A way, and what does not hold where it ends.
struct Told {
  Trace story;
  std::optional<Wrong> wrong;
};

/// What happens along that path, told with the true numbers and all fields: what the canonical form
/// invented would not happen there.
Told tell_story(const Bounds& bounds, const std::vector<Label>& path);

}  // namespace muster::lab::explored
