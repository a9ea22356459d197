#pragma once

#include "script.hpp"

#include <memory>

namespace muster::test {

/// The script as a program at a node's socket plays it: on a thread of its own, told all by lines.
std::unique_ptr<Application> programmed(Script& script, Services& services);

}  // namespace muster::test
