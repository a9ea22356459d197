#pragma once

#include <muster/safe_storage.hpp>

#include <map>
#include <memory>
#include <string>

namespace MUSTER_EXPORT muster {
namespace storage {

/// The contents of a MemoryStorage. These contents outlive the storage, as a disk outlives a
/// process. So a node can fail and come back within one process.
struct MemoryCells {
  SafeState safe;
  std::map<std::string, Bytes> cells;
};

/// Safe storage in memory. This storage keeps the promises of SafeStorage only as long as the
/// process lives.
class MemoryStorage final : public SafeStorage {
 public:
  MemoryStorage() : kept_(std::make_shared<MemoryCells>()) {}
  /// Opens the contents that an earlier storage left.
  explicit MemoryStorage(std::shared_ptr<MemoryCells> kept) : kept_(std::move(kept)) {}

  Expected<SafeState> load() override;
  Expected<> save(const SafeState& safe) override;
  Expected<> write(const CellBatch& batch) override;
  Expected<std::optional<Bytes>> read(std::string_view key) override;
  Expected<> scan(std::string_view prefix,
                  const std::function<void(std::string_view, const Bytes&)>& visit) override;

 private:
  std::shared_ptr<MemoryCells> kept_;
};

}  // namespace storage
}  // namespace muster
