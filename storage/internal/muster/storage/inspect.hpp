#pragma once

#include <muster/storage/sqlite_storage.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

namespace MUSTER_EXPORT muster {
namespace storage {

/// What a store holds besides the application's cells.
struct Inspection {
  Identity identity;
  std::uint32_t format{};
  SafeState safe;
};

/// Reads the store in a directory and changes nothing there. All that `SqliteStorage::open` looks
/// at is looked at, every page, checksum and cell included, and refused with the same failures;
/// whose the store is does not matter. `visit` is called with each cell, in the order of the keys.
/// A store that a node has open cannot be read: `temporary`, with the node's pid.
Expected<Inspection> inspect(const std::filesystem::path& directory,
                             const std::function<void(std::string_view, const Bytes&)>& visit,
                             const OpenOptions& options = {});

/// The same, and fails wherever `SqliteStorage::open` would: also where the store is not of
/// `wanted`, which is null where it may be anybody's, and where its disk has too little room for a
/// node.
Expected<Inspection> verify(const std::filesystem::path& directory,
                            const std::function<void(std::string_view, const Bytes&)>& visit,
                            const Identity* wanted, const OpenOptions& options = {});

}  // namespace storage
}  // namespace muster
