#pragma once

/// Signals that ask a command to end, for commands that first print their results so far.

namespace muster::apps {

/// From now on SIGINT, SIGTERM and SIGHUP are recorded instead of ending the process. The same
/// signal a second time ends the process at once.
void catch_signals();

/// The last recorded signal; 0 if there was none.
int caught_signal();

}  // namespace muster::apps
