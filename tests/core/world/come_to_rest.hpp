#pragma once

#include "script.hpp"

#include <optional>
#include <string>

namespace muster::test {

/// Failures cease: links heal, paused nodes go on, and nodes that are down begin a new life; all at
/// once, or one after the other, each when the others have come to rest. Returns what is wrong if
/// they do not come together within the settling bound each time; with `must_settle` off, nothing.
enum class Return { at_once, one_by_one };
std::optional<std::string> come_to_rest(World& world, bool must_settle,
                                        Return back = Return::one_by_one);

}  // namespace muster::test
