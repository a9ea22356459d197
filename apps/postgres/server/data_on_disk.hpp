#pragma once

#include "apps/postgres/decide/values.hpp"

#include <muster/values/failure.hpp>

#include <filesystem>
#include <string>

namespace muster::postgres {

/// The state of a standby once it has replayed all the log in its files.
struct DataOnDisk {
  std::uint64_t system{};  ///< the system identifier
  Lsn end;                 ///< the end of the log
  std::uint32_t timeline{};
  /// Why the data is not consistent at the end of the log. Empty: it is whole.
  std::string lacks;
};

/// Reads the database at `data` without its server. The server may be down, or it may be a standby.
/// Log that such a standby receives meanwhile may be missing at the end.
///
/// PostgreSQL syncs a file of the log before it writes the next one. So only the last two files are
/// read to their end, and of those before them only the beginnings. Fails if the files do not tell,
/// for example because they are damaged.
Expected<DataOnDisk> read_data_on_disk(const std::filesystem::path& data);

}  // namespace muster::postgres
