#pragma once

#include <cstddef>

namespace muster::test {

/// The largest number of bytes allocated at one time since the last call. The number does not
/// include memory that sanitizers use for themselves.
std::size_t most_bytes_allocated();

}  // namespace muster::test
