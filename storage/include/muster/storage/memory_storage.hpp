#pragma once

#include <muster/safe_storage.hpp>

#include <map>
#include <memory>
#include <string>

namespace MUSTER_EXPORT muster {
namespace storage {

/// What a MemoryStorage keeps. It outlives the storage as a disk outlives a process, so that a node
/// in one process can fail and come back.
struct MemoryCells {
  SafeState safe;
  std::map<std::string, Bytes> cells;
};

/// Safe storage in memory: the same promises as long as the process lives.
class MemoryStorage final : public SafeStorage {
 public:
  MemoryStorage() : kept_(std::make_shared<MemoryCells>()) {}
  /// Opens what an earlier storage kept.
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
