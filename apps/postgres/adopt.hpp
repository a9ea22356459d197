#pragma once

#include "apps/postgres/existing.hpp"

/// A database that exists becomes that of a new cluster's first node. It is moved, never copied, so
/// that there are never two that could be started; and whatever fails between any two steps, the
/// same steps go on from there.
///
///     data.adopted   has come from where it was, and is being made ready
///     data           is the node's

namespace muster::postgres {

std::filesystem::path adopted_path(const InstanceOptions& options);

/// Nothing runs on it. It keeps its owner and all that is in it.
Expected<> move_here(const InstanceOptions& options, const Whereabouts& from);

/// Its settings of its own come along, and who may connect where `options.hba` does not say it.
Expected<> bring_settings(const InstanceOptions& options, const Whereabouts& from);

/// Writes the first row of muster.term; then it is the node's database.
Expected<> begin_history(const InstanceOptions& options);

}  // namespace muster::postgres
