#pragma once

#include "script.hpp"

#include <optional>
#include <string>

namespace muster::test {

/// Ends all failures: it heals links, lets paused nodes go on, and lets nodes that are down begin a
/// new life. It repairs all nodes at once, or one node after the other. In the second case it waits
/// before each node until the earlier ones have settled. Each time the nodes must form one group
/// within the settling bound. Otherwise it returns an error, if `must_settle` is true.
enum class Return { at_once, one_by_one };
std::optional<std::string> come_to_rest(World& world, bool must_settle,
                                        Return back = Return::one_by_one);

}  // namespace muster::test
