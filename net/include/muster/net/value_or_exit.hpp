#pragma once

#include <muster/values/failure.hpp>

#include <utility>

/// How a program that has a node ends where something could not be done: as `muster` does.

namespace MUSTER_EXPORT muster {
namespace net {

/// Ends the process at once: the sentence on standard error, and the exit code of the failure
/// (docs/operating.md). What was printed before is flushed; no destructor runs, as other threads
/// may be at work.
[[noreturn]] void exit_with(const Failure& failure);

/// The value, or the end of the process: `value_or_exit(storage::SqliteStorage::open(...))`.
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
