#pragma once

#include "record/node_log.hpp"

#include <muster/values/failure.hpp>
#include <muster/values/types.hpp>

#include <functional>

namespace muster::net {

/// Fail-stop (assumption 5). Writes one line to the log, calls `last_words`, and ends the process
/// with the exit code of the fault. No other node is told. The process ends after the time `within`
/// at the latest, even if the journal's disk hangs or no memory is left. From any thread.
[[noreturn]] void end_process(const Failure& fault, Duration within, NodeLog& log,
                              const std::function<void()>& last_words) noexcept;

}  // namespace muster::net
