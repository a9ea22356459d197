#pragma once

#include "apps/postgres/decide/values.hpp"

#include <muster/values/failure.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace muster::postgres {

/// The control file of a database (global/pg_control), in which PostgreSQL 15 records the state of
/// the data.
struct ControlFile {
  std::uint64_t system{};       ///< the system identifier
  bool is_shut_down_primary{};  ///< a primary was shut down here in order
  Lsn checkpoint;               ///< the record of the last checkpoint
  Lsn redo;                     ///< recovery begins here
  std::uint32_t timeline{};     ///< of the last checkpoint
  Lsn consistent_at;            ///< a standby's data is consistent from here on; zero: a primary's
  std::uint32_t consistent_on{};  ///< the timeline of `consistent_at`
  bool is_backup{};  ///< recovery has not yet reached the end of the backup that this copy is
  std::uint64_t size_of_log_file{};
  /// The values of `settings_of_primary` at the primary whose log is replayed here.
  std::map<std::string, std::uint64_t> of_primary;
};

/// Reads the control file of the database at `data`. The server may run.
Expected<ControlFile> read_control_file(const std::filesystem::path& data);

}  // namespace muster::postgres
