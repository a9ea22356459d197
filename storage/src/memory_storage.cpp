#include <muster/storage/limits.hpp>
#include <muster/storage/memory_storage.hpp>

namespace muster::storage {

Expected<> check_limits(const CellBatch& batch) {
  for (const CellBatch::Write& write : batch.writes) {
    if (write.key.size() > longest_key)
      return Failure{ExitCode::hook_failed, "the application wrote a cell whose key has " +
                                                std::to_string(write.key.size()) +
                                                " bytes; at most " + std::to_string(longest_key) +
                                                " can be kept: shorten the key"};
    if (write.value && write.value->data.size() > largest_value)
      return Failure{ExitCode::hook_failed, "the application wrote a cell of " +
                                                std::to_string(write.value->data.size()) +
                                                " bytes; at most " + std::to_string(largest_value) +
                                                " can be kept: split it over several cells"};
  }
  return {};
}

Expected<SafeState> MemoryStorage::load() {
  return kept_->safe;
}

Expected<> MemoryStorage::save(const SafeState& safe) {
  kept_->safe = safe;
  return {};
}

Expected<> MemoryStorage::write(const CellBatch& batch) {
  if (auto fits = check_limits(batch); !fits) return fits.error();
  for (const CellBatch::Write& write : batch.writes) {
    if (write.value) {
      kept_->cells.insert_or_assign(write.key, *write.value);
    } else {
      kept_->cells.erase(write.key);
    }
  }
  return {};
}

Expected<std::optional<Bytes>> MemoryStorage::read(std::string_view key) {
  const auto cell = kept_->cells.find(std::string(key));
  if (cell == kept_->cells.end()) return std::optional<Bytes>();
  return std::optional<Bytes>(cell->second);
}

Expected<> MemoryStorage::scan(std::string_view prefix,
                               const std::function<void(std::string_view, const Bytes&)>& visit) {
  for (auto cell = kept_->cells.lower_bound(std::string(prefix));
       cell != kept_->cells.end() && cell->first.starts_with(prefix); ++cell)
    visit(cell->first, cell->second);
  return {};
}

}  // namespace muster::storage
