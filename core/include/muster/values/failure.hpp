#pragma once

#include <muster/detail/values/export.hpp>

#include <boost/system/result.hpp>

#include <stdexcept>
#include <string>

/// Failures as values: an exit code for the process, and one clear sentence.

namespace MUSTER_EXPORT muster {

/// The exit codes of every Muster program (docs/reference/exit-codes.md).
enum class ExitCode : int {
  ok = 0,
  does_not_hold = 1,  ///< the checked claim does not hold
  usage = 2,
  not_normal = 3,
  no_coordinator = 4,
  unreachable = 5,
  fewer_copies = 6,  ///< writes are possible, but not all nodes of the list copy them
  timed_out = 7,
  disagreement = 8,
  bad_configuration = 64,
  storage_refused = 65,  ///< the store is corrupt, newer, or of another program or node
  impossible_state = 70,
  io_error = 74,     ///< an I/O error stopped the node
  temporary = 75,    ///< the address is in use, or the store is locked
  hook_failed = 76,  ///< a hook failed or exceeded its deadline
};

/// One sentence about the event, its place (file, peer or hook) and the remedy, with the exit code
/// that it leads to.
struct Failure {
  ExitCode code{};
  std::string what;
};

/// A result or a Failure. `value()` throws std::runtime_error with the sentence if there is no
/// result.
template <class T = void>
using Expected = boost::system::result<T, Failure>;

/// Called by `result.value()` if the result is a failure.
[[noreturn]] inline void throw_exception_from_error(const Failure& failure,
                                                    const boost::source_location&) {
  throw std::runtime_error(failure.what);
}

}  // namespace muster
