#pragma once

#include <muster/types.hpp>

#include <optional>
#include <string>

/// Whether the bounds and periods of a cluster fit each other, before a node begins with them.

namespace muster {

/// One of Timings that does not fit the others.
struct Misfit {
  std::string timing;    ///< its name, as in Timings
  std::string expected;  ///< what it has to be, such as "at least T = 100 ms"
};

/// The first that does not fit; none where all do.
std::optional<Misfit> misfit(const Timings& timings);

}  // namespace muster
