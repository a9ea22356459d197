#pragma once

#include "apps/postgres/server/options.hpp"

/// Where a clone is made, and how it takes the place of what was there before: whatever fails
/// between any two steps, there is one whole database, and `finish_clone` goes on from there.
///
///     data.part    is being made
///     data.clone   is whole; takes the place of `data`
///     data.old     what was there, kept until the clone streams

namespace muster::postgres {

std::filesystem::path part_path(const InstanceOptions& options);
std::filesystem::path old_path(const InstanceOptions& options);
/// What is of no use any more.
std::filesystem::path rubbish_path(const InstanceOptions& options);

/// What has been made is whole.
Expected<> complete_clone(const InstanceOptions& options);

/// Where a whole clone stands, it takes its place. Nothing of PostgreSQL runs.
Expected<> finish_clone(const InstanceOptions& options);

}  // namespace muster::postgres
