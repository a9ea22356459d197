#pragma once

#include <CLI/CLI.hpp>
#include <muster/lab/checker.hpp>

#include <string>
#include <vector>

namespace muster::apps {

/// Adds `--assertion`, whose values are of `known`. `to` has to live as long as the command.
inline void add_assertions(CLI::App& command, std::vector<std::string>& to,
                           const std::string& description,
                           const std::vector<std::string>& known = lab::assertions_about_runs()) {
  command.add_option("--assertion", to, description)
      ->allow_extra_args(false)
      ->check(CLI::IsMember(known));
}

}  // namespace muster::apps
