#pragma once

#include "apps/postgres/server/options.hpp"

#include <muster/values/failure.hpp>

#include <string>
#include <vector>

/// PostgreSQL's programs.

namespace muster::postgres {

/// How a program of PostgreSQL is started.
apps::ProcessOptions program_of(const InstanceOptions& options, const std::string& name,
                                std::vector<std::string> arguments);

/// What the program says on its standard output. The failure says why by what it said of an error.
Expected<std::string> output_of(const InstanceOptions& options, const std::string& program,
                                std::vector<std::string> arguments);

/// The same of a server on the data directory of `options` that has one session, the superuser's,
/// and ends with it. `statements` are a line each; the first that fails is the failure.
Expected<std::string> in_single_user(const InstanceOptions& options, const std::string& statements,
                                     const std::vector<std::string>& more_arguments = {});

/// What reads as that text, from its beginning to its end.
Expected<apps::Descriptor> as_input(const std::string& text);

}  // namespace muster::postgres
