#pragma once

#include <muster/safe_storage.hpp>
#include <muster/values/types.hpp>

#include <cstdint>
#include <optional>
#include <string>

/// hold_down: if the previous life of a node was too short, the next life waits before it listens.
/// So a process in a crash loop does not make the others reorganize again and again.

namespace MUSTER_EXPORT muster {

/// The number of a node's lives in a row that were too short. Safe storage keeps it.
class HoldDown {
 public:
  /// A life that ends before this time, for whatever reason, is too short.
  static constexpr Duration short_life = std::chrono::seconds(1);
  /// The longest wait.
  static constexpr Duration longest = std::chrono::minutes(5);
  /// The key of the cell that contains the number. The cell is one of the node's own.
  static constexpr std::string_view cell = "muster/short_lives";

  /// `value` is the contents of the cell. Pass none if the store has no such cell.
  explicit HoldDown(const std::optional<Bytes>& value);

  [[nodiscard]] std::uint64_t short_lives() const { return short_lives_; }

  /// How long the next life waits before it listens: `shortest` after the first life that was too
  /// short, doubled with each further one, up to `longest`. Zero if `shortest` is zero, which turns
  /// hold_down off.
  [[nodiscard]] Duration wait(Duration shortest) const;

  /// This batch must be durable before a life listens: the life counts as too short until
  /// `has_lasted` is written.
  [[nodiscard]] CellBatch begins() const;
  /// This batch is written if the life could not listen. Such a life disturbed no other node, so it
  /// does not count as too short.
  [[nodiscard]] CellBatch as_before() const;
  /// This batch is written once a life has lasted for `short_life`.
  [[nodiscard]] static CellBatch has_lasted();

  /// The message of a wait, such as "node 1 waits 4 s before it listens: ...".
  [[nodiscard]] std::string sentence(NodeId node, Duration wait) const;

 private:
  std::uint64_t short_lives_ = 0;
};

}  // namespace muster
