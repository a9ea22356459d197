#pragma once

#include <muster/services.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

namespace muster::net {

/// The permits of one life. `acquire` and what it gives may be used from any thread; all else
/// belongs to the protocol's strand.
class Permits {
 public:
  /// After `longest_gap` without a turn of the protocol's loop nothing is permitted: the process
  /// may have been paused, and others may have reorganized without it (assumption 9).
  explicit Permits(Duration longest_gap);

  /// The loop has turned.
  void turned(Duration boottime) { liveness_->last_turn.store(boottime.count()); }

  /// From now on permits of this group are given.
  void grant(GroupNumber group);

  /// No permit is valid from now on. `returned` is called once, from any thread or at once, when
  /// the last is back. Gives the group, or none where nothing was permitted: then `returned` is not
  /// called.
  std::optional<GroupNumber> revoke(std::function<void()> returned);

  std::optional<Permit> acquire();

 private:
  struct Liveness {
    Duration longest_gap;
    std::atomic<std::int64_t> last_turn;
    bool alive() const;
  };
  struct Epoch;
  class Held;

  std::shared_ptr<Liveness> liveness_;
  std::mutex mutex_;  // guards epoch_, the pointer
  std::shared_ptr<Epoch> epoch_;
};

}  // namespace muster::net
