#pragma once

#include <cstddef>

namespace muster::test {

/// The most bytes that were allocated at once since the last call; whatever the sanitizers keep
/// beside.
std::size_t most_bytes_allocated();

}  // namespace muster::test
