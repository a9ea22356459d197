#pragma once

/// Signals that ask a command to end, for commands that first say what is known so far.

namespace muster::apps {

/// From now on SIGINT, SIGTERM and SIGHUP are noted instead of ending the process. The same signal
/// a second time ends it at once.
void catch_signals();

/// The signal that came last; 0: none.
int caught_signal();

}  // namespace muster::apps
