#pragma once

#include <muster/detail/values/export.hpp>

#include <boost/system/result.hpp>

#include <stdexcept>
#include <string>

/// Why something could not be done: an exit code for the process, and one clear sentence.

namespace MUSTER_EXPORT muster {

/// The exit codes of every Muster program (docs/operating.md).
enum class ExitCode : int {
  ok = 0,
  does_not_hold = 1,  ///< the thing checked does not hold
  usage = 2,
  not_normal = 3,
  no_coordinator = 4,
  unreachable = 5,
  timed_out = 7,
  disagreement = 8,
  bad_configuration = 64,
  storage_refused = 65,  ///< corrupt, foreign, newer, another identity
  impossible_state = 70,
  io_error = 74,     ///< an I/O error stopped the node
  temporary = 75,    ///< address in use, store locked
  hook_failed = 76,  ///< a hook failed or overran
};

/// What, where (file, peer, hook) and what to do, in one sentence, with the exit code it leads to.
struct Failure {
  ExitCode code{};
  std::string what;
};

template <class T = void>
using Expected = boost::system::result<T, Failure>;

/// Lets `result.value()` throw where a failure was not looked at.
[[noreturn]] inline void throw_exception_from_error(const Failure& failure,
                                                    const boost::source_location&) {
  throw std::runtime_error(failure.what);
}

}  // namespace muster
