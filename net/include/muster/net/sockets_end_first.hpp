#pragma once

#include <muster/values/failure.hpp>

/// Closes the sockets of a dying process before its memory is freed, so that peers notice its end
/// sooner.

namespace MUSTER_EXPORT muster {
namespace net {

/// Makes the kernel close this process's sockets before it frees the process's memory.
///
/// Normally the kernel frees the memory of a dying process first and closes its sockets after that.
/// Freeing the memory takes milliseconds, and this time is added to a fail-over, because peers
/// notice the end only after it. This function starts a second process, named `muster-memory` in
/// `ps`, that shares the memory and ends when this one has ended. As the memory is still in use,
/// the kernel goes on to the sockets at once.
///
/// The second process runs no other code. It has none of this process's descriptors, signals,
/// working directory or terminal. It uses no memory of its own, because it shares the pages of this
/// process. After kill -9 it exists for 10 ms more, and the program's file stays in use for that
/// time. An orderly end by exit() ends it at once.
///
/// Call this at the beginning of a program. A second call does nothing. A failure says why the
/// second process could not be made. Peers then notice the end of this process no sooner than
/// without the call. The function needs Linux 5.9.
Expected<> let_sockets_end_first();

}  // namespace net
}  // namespace muster
