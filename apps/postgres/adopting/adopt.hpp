#pragma once

#include "apps/postgres/adopting/existing.hpp"

/// A database that exists becomes that of a new cluster's first node. It is moved, never copied, so
/// that there are never two that could be started; and whatever fails between any two steps, the
/// same steps go on from there.
///
///     data.adopted   has come from where it was, and is being made ready
///     data.lost      the same, of a node of a cluster that is lost: needs more (survivor.hpp)
///     data           is the node's

namespace muster::postgres {

std::filesystem::path adopted_path(const InstanceOptions& options, bool lost);

/// Its settings of its own come along, and who may connect where `options.hba` does not say it.
Expected<> bring_settings(const InstanceOptions& options, const Whereabouts& from);

/// Writes the first row of muster.term into what is at `meanwhile`; then it is the node's database.
Expected<> begin_history(const InstanceOptions& options, const std::filesystem::path& meanwhile);

}  // namespace muster::postgres
