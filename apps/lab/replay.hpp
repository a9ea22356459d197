#pragma once

#include <muster/values/types.hpp>

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <vector>

/// `muster replay`: gives each recorded event to `step` again, and compares the results.

namespace muster::apps {

struct ReplayOptions {
  std::vector<std::filesystem::path> journals;
  std::optional<std::uint64_t> until;       ///< stop after this many steps, and show the state
  std::optional<Duration> until_time = {};  ///< stop at this time after the first line
  bool step = false;                        ///< show each step
  bool state = false;  ///< show the states of all nodes after the last step replayed
  bool json = false;
  /// The user's answers, read after each step that is shown. An empty line takes one step, a number
  /// takes that many steps, `s` shows all states, and `q` or the end of input ends the replay.
  /// Null: the user is not asked.
  std::istream* walk = nullptr;
};

/// Replays the journals together, in the order of their times. Prints a report to `out`, and to
/// `err` the reason of an exit code other than 0. Returns the exit code.
int replay(const ReplayOptions& options, std::ostream& out, std::ostream& err);

}  // namespace muster::apps
