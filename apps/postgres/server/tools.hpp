#pragma once

#include "apps/postgres/server/options.hpp"

#include <muster/values/failure.hpp>

#include <string>
#include <vector>

/// PostgreSQL's programs.

namespace muster::postgres {

/// The options with which a program of PostgreSQL is started.
apps::ProcessOptions program_of(const InstanceOptions& options, const std::string& name,
                                std::vector<std::string> arguments);

/// Runs a program and returns its standard output, or the error that it printed.
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
