#pragma once

#include <muster/types.hpp>

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <vector>

/// `muster replay`: each recorded event is given to `step` again, and what comes of it is compared.

namespace muster::apps {

struct ReplayOptions {
  std::vector<std::filesystem::path> journals;
  std::optional<std::uint64_t> until;  ///< stop after so many steps, and show the state
  bool step = false;                   ///< show each step
  bool json = false;
  bool state = false;  ///< show the states of all nodes after the last step replayed
  std::optional<Duration> until_time = {};  ///< stop after so much time since the first line
};

/// Replays the journals one after the other; a report goes to `out`, a reason for any exit code but
/// 0 to `err`. Returns the exit code.
int replay(const ReplayOptions& options, std::ostream& out, std::ostream& err);

}  // namespace muster::apps
