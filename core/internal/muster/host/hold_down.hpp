#pragma once

#include <muster/safe_storage.hpp>
#include <muster/values/types.hpp>

#include <cstdint>
#include <optional>
#include <string>

/// hold_down: a life whose predecessor was too short waits before it listens, so that a process in
/// a crash loop does not make the others reorganize again and again.

namespace MUSTER_EXPORT muster {

/// How many lives of a node were too short, one after the other: what it has in safe storage.
class HoldDown {
 public:
  /// A life that lasts for less, whatever ends it, is too short.
  static constexpr Duration short_life = std::chrono::seconds(1);
  /// The longest wait.
  static constexpr Duration longest = std::chrono::minutes(5);
  /// Its cell, one of the node's own.
  static constexpr std::string_view cell = "muster/short_lives";

  /// As the cell has it; none: no life was too short.
  explicit HoldDown(const std::optional<Bytes>& value);

  [[nodiscard]] std::uint64_t short_lives() const { return short_lives_; }

  /// What the next life waits before it listens: `shortest` after the first life that was too
  /// short, doubled with each one more, up to `longest`. Nothing where `shortest` is zero: off.
  [[nodiscard]] Duration wait(Duration shortest) const;

  /// To be durable before a life listens: it counts as too short until it has lasted.
  [[nodiscard]] CellBatch begins() const;
  /// To be written where it could not listen: such a life disturbs nobody, and counts nothing.
  [[nodiscard]] CellBatch as_before() const;
  /// To be written when a life has lasted for `short_life`.
  [[nodiscard]] static CellBatch has_lasted();

  /// What a host says of a wait: "node 1 waits 4 s before it listens: ...".
  [[nodiscard]] std::string sentence(NodeId node, Duration wait) const;

 private:
  std::uint64_t short_lives_ = 0;
};

}  // namespace muster
