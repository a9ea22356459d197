#pragma once

#include "apps/postgres/server/children.hpp"
#include "apps/postgres/server/options.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

/// PostgreSQL's programs.

namespace muster::postgres {

/// The options with which a program of PostgreSQL is started.
apps::ProcessOptions program_of(const InstanceOptions& options, const std::string& name,
                                std::vector<std::string> arguments);

/// A program that runs to its end. `then` is called once, with its standard output or the error
/// that it printed. Destroying this object kills the program.
class ToolOutput {
 public:
  ToolOutput(const Executor& executor, apps::ProcessOptions program,
             std::function<void(Expected<std::string>)> then);

 private:
  apps::Descriptor said_;
  std::function<void(Expected<std::string>)> then_;
  std::optional<Tool> tool_;
};

/// Does the same, and returns when the program has ended.
Expected<std::string> output_of(const InstanceOptions& options, const std::string& program,
                                std::vector<std::string> arguments);

/// Runs statements on the data directory of `options` with PostgreSQL in single-user mode, and
/// returns its output. Each statement is one line. If a statement fails, returns that statement's
/// error.
Expected<std::string> in_single_user(const InstanceOptions& options, const std::string& statements,
                                     const std::vector<std::string>& more_arguments = {});

/// Makes a file descriptor from which a program can read this text.
Expected<apps::Descriptor> as_input(const std::string& text);

}  // namespace muster::postgres
