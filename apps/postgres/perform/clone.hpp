#pragma once

#include "apps/postgres/server/options.hpp"

/// How a clone is made, and how it takes the place of the former data. If a failure comes between
/// two of the steps, one of these directories still contains a whole database, and `finish_clone`
/// does the remaining steps.
///
///     data.part    a clone that is being made
///     data.clone   a whole clone, about to take the place of `data`
///     data.old     the former data, kept until the clone streams

namespace muster::postgres {

std::filesystem::path part_path(const InstanceOptions& options);
std::filesystem::path old_path(const InstanceOptions& options);
/// The path to which data is moved that is no longer needed.
std::filesystem::path rubbish_path(const InstanceOptions& options);

/// Marks the clone as whole.
Expected<> complete_clone(const InstanceOptions& options);

/// If there is a whole clone, puts it in the place of the data. PostgreSQL must not run.
Expected<> finish_clone(const InstanceOptions& options);

}  // namespace muster::postgres
