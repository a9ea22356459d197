#pragma once

#include <muster/safe_storage.hpp>

#include <cstddef>

namespace MUSTER_EXPORT muster {
namespace storage {

/// The longest key of a cell, in bytes.
inline constexpr std::size_t longest_key = 512;
/// The largest value of a cell, in bytes.
inline constexpr std::size_t largest_value = 1024 * 1024;
/// The largest encoded SafeState, in bytes.
inline constexpr std::size_t largest_record = 1024 * 1024;

/// Refuses a batch with a key or a value that is too large. The failure is `hook_failed`, as the
/// application is at fault. Nothing of the batch is written, and the store can still be used.
Expected<> check_limits(const CellBatch& batch);

}  // namespace storage
}  // namespace muster
