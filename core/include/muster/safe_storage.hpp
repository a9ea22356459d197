#pragma once

#include <muster/values/failure.hpp>
#include <muster/values/types.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace MUSTER_EXPORT muster {

/// One atomic change of an application's cells: either all of it becomes durable or nothing.
/// Examples: `CellBatch("balance", {"7"})` and `CellBatch().write("balance", {"7"}).erase("lent")`.
struct CellBatch {
  struct Write {
    std::string key;
    std::optional<Bytes> value;  ///< none: the cell is erased
  };

  CellBatch() = default;
  CellBatch(std::string key, Bytes value) { write(std::move(key), std::move(value)); }

  CellBatch& write(std::string key, Bytes value) & {
    writes.push_back({std::move(key), std::move(value)});
    return *this;
  }
  CellBatch& erase(std::string key) & {
    writes.push_back({std::move(key), std::nullopt});
    return *this;
  }
  CellBatch&& write(std::string key, Bytes value) && {
    return std::move(write(std::move(key), std::move(value)));
  }
  CellBatch&& erase(std::string key) && { return std::move(erase(std::move(key))); }

  std::vector<Write> writes;
};

/// The prefix of the node's own cells. No application can write or see a cell with such a key.
inline constexpr std::string_view own_cells = "muster/";

/// The paper's safe storage (assumption 4): small cells that survive failures. Each update is
/// atomic. One store belongs to one node of one cluster.
///
/// @par Thread safety
/// None: the host uses a store from one thread at a time.
/// @par Errors
/// The first operation that fails makes the store unusable. The caller then ends the process, and
/// the next life reads the store again. A failed operation is never tried again.
class SafeStorage {
 public:
  SafeStorage() = default;
  SafeStorage(const SafeStorage&) = delete;
  SafeStorage& operator=(const SafeStorage&) = delete;
  virtual ~SafeStorage() = default;

  /// Reads the state that was saved last. If the store is new, returns a value-initialized
  /// SafeState.
  virtual Expected<SafeState> load() = 0;

  /// Makes `safe` durable. After the call returns, neither a crash nor a power failure loses the
  /// state.
  virtual Expected<> save(const SafeState& safe) = 0;

  /// Makes a batch of the application's cells durable, in one commit.
  virtual Expected<> write(const CellBatch& batch) = 0;

  /// Reads the cell with this key; none if there is no such cell. A key has at most 512 bytes, a
  /// value at most 1 MiB.
  virtual Expected<std::optional<Bytes>> read(std::string_view key) = 0;

  /// Calls `visit(key, value)` for each cell with a key that begins with `prefix`, in the order of
  /// the keys.
  virtual Expected<> scan(std::string_view prefix,
                          const std::function<void(std::string_view, const Bytes&)>& visit) = 0;

  /// Does maintenance that no caller waits for, such as merging a log into its file. The host calls
  /// it after every request was answered. If it fails, the next operation reports the failure.
  virtual void tend() {}
};

}  // namespace muster
