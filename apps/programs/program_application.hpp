#pragma once

#include <muster/application.hpp>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

/// The application of `muster run`: a program that runs while its node works.

namespace muster::apps {

/// On which members of a group the program runs.
enum class Where { everywhere, coordinator };

struct ProgramOptions {
  std::vector<std::string> command;  ///< the program and its arguments
  Where where = Where::everywhere;
  bool inherit = false;             ///< the node's whole environment
  std::filesystem::path directory;  ///< where the definition is written: the node's data
  Duration stop_deadline{};         ///< of the cluster: SIGTERM at once, SIGKILL after 3/4 of it
  Duration first_back_off = std::chrono::seconds(1);    ///< after exit code 75; then twice that,
  Duration longest_back_off = std::chrono::minutes(1);  ///< and so on up to this
  /// The program ended when it should not have, and the next `stop` will fail with the reason: let
  /// the node leave. Called from any thread.
  std::function<void()> give_up;
  /// Takes a sentence for people, without waiting. Called from any thread.
  std::function<void(const std::string& sentence)> say;
};

/// Makes the application of one life.
MakeApplication make_program(ProgramOptions options);

}  // namespace muster::apps
