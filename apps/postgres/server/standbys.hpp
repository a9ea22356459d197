#pragma once

#include "apps/postgres/decide/check.hpp"
#include "apps/postgres/server/conf.hpp"
#include "apps/postgres/server/interview.hpp"

#include <optional>
#include <string>
#include <vector>

/// Asks the server of a primary which clients acknowledge commits, and which of them are nodes.

namespace muster::postgres {

/// An SQL condition on a row of pg_stat_replication: this standby has the slot of the node whose
/// name it bears.
inline constexpr const char* has_its_slot =
    "EXISTS (SELECT FROM pg_replication_slots AS slot WHERE slot.active_pid ="
    " pg_stat_replication.pid AND slot_name ~ ('^muster_[0-9]+_[0-9]+_' || application_name ||"
    " '$'))";

/// An SQL query whose result is true on a primary whose commits wait for no other node.
inline constexpr const char* shows_alone =
    "SELECT EXISTS (SELECT FROM pg_stat_replication WHERE application_name = 'muster_alone')";

/// Asks a primary for the clients that bear the name of a standby and are not that standby. The
/// acknowledger has no slot either, but it is on the primary's own machine.
void ask_for_impostors(Interview& interview, const Copies& copies,
                       std::vector<Impostor>& impostors);

/// Asks a server for its standby names if they are not from Muster's command line.
void ask_for_foreign_names(Interview& interview, std::optional<std::string>& names);

}  // namespace muster::postgres
