#pragma once

#include "apps/postgres/adopting/existing.hpp"

/// Turns an existing database into the database of the first node of a new cluster. The database is
/// moved and never copied, so there are never two copies that could be started. If a step fails,
/// running the command again continues with that step.
///
///     data.adopted   the moved database, which is being made ready
///     data.lost      the same for a database of a lost cluster, which needs more (survivor.hpp)
///     data           the node's database

namespace muster::postgres {

std::filesystem::path adopted_path(const InstanceOptions& options, bool lost);

/// Takes over the own settings of the database. If `options.hba` is empty, also takes over the
/// database's pg_hba.conf.
Expected<> bring_settings(const InstanceOptions& options, const Whereabouts& from);

/// Writes the first row of muster.term into the database at `meanwhile`, and then moves the
/// database to the node's data directory.
Expected<> begin_history(const InstanceOptions& options, const std::filesystem::path& meanwhile);

}  // namespace muster::postgres
