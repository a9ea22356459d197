#pragma once

#include "../node_log.hpp"

#include <muster/values/failure.hpp>
#include <muster/values/types.hpp>

#include <functional>

namespace muster::net {

/// Fail-stop (assumption 5): one line in the log, `last_words`, and the process ends with the exit
/// code of that fault, with no goodbye to anybody. It ends within that time at any rate: the disk
/// of the journal may be what hangs, or memory be what is used up. From any thread.
[[noreturn]] void end_process(const Failure& fault, Duration within, NodeLog& log,
                              const std::function<void()>& last_words) noexcept;

}  // namespace muster::net
