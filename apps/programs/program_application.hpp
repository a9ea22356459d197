#pragma once

#include <muster/application.hpp>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

/// The application of `muster run`: runs a program while its node works.

namespace muster::apps {

/// The members of a group on which the program runs.
enum class Where { everywhere, coordinator };

struct ProgramOptions {
  std::vector<std::string> command;  ///< the program and its arguments
  Where where = Where::everywhere;
  bool inherit = false;             ///< all of the node's environment
  std::filesystem::path directory;  ///< gets the file `definition`: the node's data
  Duration stop_deadline{};         ///< the cluster's; SIGKILL comes 3/4 of it after SIGTERM
  Duration first_back_off = std::chrono::seconds(1);    ///< wait after the first exit code 75
  Duration longest_back_off = std::chrono::minutes(1);  ///< the wait doubles up to this
  /// Called when the program has ended although it should not have. The function has to let the
  /// node leave. The next `stop` will fail with the reason. Called from any thread.
  std::function<void()> give_up;
  /// Logs a sentence. Must not block. Called from any thread.
  std::function<void(const std::string& sentence)> say;
};

/// Makes the application of one life.
MakeApplication make_program(ProgramOptions options);

}  // namespace muster::apps
