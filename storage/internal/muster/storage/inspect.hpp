#pragma once

#include <muster/storage/sqlite_storage.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

namespace MUSTER_EXPORT muster {
namespace storage {

/// The contents of a store, except the application's cells.
struct Inspection {
  Identity identity;
  std::uint32_t format{};
  SafeState safe;
};

/// Reads the store in a directory without changing anything there. Makes the same checks as
/// `SqliteStorage::open`, including every page, checksum and cell, and fails with the same
/// failures. Only the owner of the store is not checked. It calls `visit` for each cell, in the
/// order of the keys. If a node has the store open, it fails with `temporary` and the node's pid.
Expected<Inspection> inspect(const std::filesystem::path& directory,
                             const std::function<void(std::string_view, const Bytes&)>& visit,
                             const OpenOptions& options = {});

/// Reads the store in the same way, and also makes the two other checks of `SqliteStorage::open`.
/// It fails if the store does not belong to `wanted`, or if the disk has too little free space for
/// a node. A null `wanted` accepts every owner.
Expected<Inspection> verify(const std::filesystem::path& directory,
                            const std::function<void(std::string_view, const Bytes&)>& visit,
                            const Identity* wanted, const OpenOptions& options = {});

}  // namespace storage
}  // namespace muster
