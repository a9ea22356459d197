#pragma once

#include <muster/values/failure.hpp>
#include <muster/values/types.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace MUSTER_EXPORT muster {

/// One change of an application's cells: all of it becomes durable, or nothing.
/// `CellBatch("balance", {"7"})`, or `CellBatch().write("balance", {"7"}).erase("lent")`.
struct CellBatch {
  struct Write {
    std::string key;
    std::optional<Bytes> value;  ///< none erases the cell
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

/// Cells of a node's own have keys that begin so: no application may write one, or is shown one.
inline constexpr std::string_view own_cells = "muster/";

/// The paper's safe storage (assumption 4): small cells that survive failures, each update atomic.
/// One store belongs to one node of one cluster. Not thread-safe: a host uses it from one thread.
///
/// The first operation that fails poisons the store: whoever gets the failure ends the process, and
/// the next life reads what is there. Nothing is ever tried again.
class SafeStorage {
 public:
  SafeStorage() = default;
  SafeStorage(const SafeStorage&) = delete;
  SafeStorage& operator=(const SafeStorage&) = delete;
  virtual ~SafeStorage() = default;

  /// What was saved last; a value-initialised SafeState in a new store.
  virtual Expected<SafeState> load() = 0;

  /// Makes `safe` durable: when this returns, no failure of the node or the power loses it.
  virtual Expected<> save(const SafeState& safe) = 0;

  /// Makes a batch of the application's cells durable, in one commit.
  virtual Expected<> write(const CellBatch& batch) = 0;

  /// The cell of that key; none if there is none. Keys are at most 512 bytes, values 1 MiB.
  virtual Expected<std::optional<Bytes>> read(std::string_view key) = 0;

  /// Calls `visit(key, value)` for each cell whose key begins with `prefix`, in the order of the
  /// keys.
  virtual Expected<> scan(std::string_view prefix,
                          const std::function<void(std::string_view, const Bytes&)>& visit) = 0;

  /// What need not keep anybody waiting, such as bringing a log back into its file: called when
  /// all that was asked for is answered. The next call tells where it fails.
  virtual void tend() {}
};

}  // namespace muster
