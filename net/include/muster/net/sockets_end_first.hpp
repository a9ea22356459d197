#pragma once

#include <muster/values/failure.hpp>

/// How soon others notice that a process has ended.

namespace muster::net {

/// A process that dies gives back its memory, and closes its sockets after it: the others notice
/// the end later by what the memory takes, milliseconds of a fail-over. After this call another
/// process, named `muster-memory` in `ps`, shares the memory and is ended by this one's end; so
/// the sockets are closed first. It runs nothing else, has no descriptors, signals or terminal of
/// this one, and its memory is the same pages, which are there once.
///
/// To be called once, at the begin of a program. A failure says why it is not so; the end is then
/// noticed as late as any process's. Linux 5.9.
Expected<> let_sockets_end_first();

}  // namespace muster::net
