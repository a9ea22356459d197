#pragma once

#include <muster/values/failure.hpp>

#include <utility>

/// How a program with a node ends if an operation fails: in the same way as `muster`.

namespace MUSTER_EXPORT muster {
namespace net {

/// Ends the process at once. Prints the failure's sentence on standard error and uses its exit code
/// (docs/reference/exit-codes.md). Output that was printed before is flushed. No destructor runs,
/// because other threads may still be using the objects.
[[noreturn]] void exit_with(const Failure& failure);

/// Returns the value, or ends the process: `value_or_exit(storage::SqliteStorage::open(...))`.
template <class T>
T value_or_exit(Expected<T> result) {
  if (!result) exit_with(result.error());
  return *std::move(result);
}
inline void value_or_exit(const Expected<>& result) {
  if (!result) exit_with(result.error());
}

}  // namespace net
}  // namespace muster
