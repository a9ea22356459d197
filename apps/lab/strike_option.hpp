#pragma once

#include <muster/lab/bounds.hpp>
#include <muster/values/failure.hpp>

#include <string>

/// `--strike` of `muster check`.

namespace muster::apps {

/// Takes the line of that name out of the protocol, or turns the switch of that name off; a usage
/// error where neither is known.
Expected<> read_strike(std::string name, lab::Bounds& bounds);

}  // namespace muster::apps
