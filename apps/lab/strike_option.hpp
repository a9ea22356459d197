#pragma once

#include <muster/lab/bounds.hpp>
#include <muster/values/failure.hpp>

#include <string>

/// `--strike` of `muster check`.

namespace muster::apps {

/// Strikes the line of that name from the protocol, or turns the switch of that name off. A usage
/// error if neither is known.
Expected<> read_strike(std::string name, lab::Bounds& bounds);

}  // namespace muster::apps
