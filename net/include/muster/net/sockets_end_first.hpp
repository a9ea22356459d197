#pragma once

#include <muster/values/failure.hpp>

/// How soon others notice that a process has ended.

namespace MUSTER_EXPORT muster {
namespace net {

/// A process that dies gives back its memory, and closes its sockets after it: the others notice
/// the end later by what the memory takes, milliseconds of a fail-over. After this call another
/// process, named `muster-memory` in `ps`, shares the memory and is ended by this one's end; so
/// the sockets are closed first. It runs nothing else, has no descriptors, signals, directory or
/// terminal of this one, and its memory is the same pages, which are there once. After kill -9 it
/// is there for 10 ms more, and with it the program's file is in use; who ends by exit() ends it.
///
/// To be called at the begin of a program; once more does nothing. A failure says why it is not so;
/// the end is then noticed as late as any process's. Linux 5.9.
Expected<> let_sockets_end_first();

}  // namespace net
}  // namespace muster
