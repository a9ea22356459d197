#pragma once

#include <muster/values/types.hpp>

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <vector>

/// `muster replay`: each recorded event is given to `step` again, and what comes of it is compared.

namespace muster::apps {

struct ReplayOptions {
  std::vector<std::filesystem::path> journals;
  std::optional<std::uint64_t> until;       ///< stop after so many steps, and show the state
  std::optional<Duration> until_time = {};  ///< stop after so much time since the first line
  bool step = false;                        ///< show each step
  bool state = false;  ///< show the states of all nodes after the last step replayed
  bool json = false;
  /// Asked after each step shown, as a user at a terminal: an empty line goes on, a number as many
  /// steps, `s` shows all states, `q` or the end stops. Null: nobody is asked.
  std::istream* walk = nullptr;
};

/// Replays the journals together, in the order of their times; a report goes to `out`, a reason for
/// any exit code but 0 to `err`. Returns the exit code.
int replay(const ReplayOptions& options, std::ostream& out, std::ostream& err);

}  // namespace muster::apps
