#pragma once

#include <muster/safe_storage.hpp>
#include <muster/types.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

/// What a host gives to an application. The net host and the lab each have one, so that the same
/// application runs on real nodes and under the simulator.

namespace muster {

/// The right to work for one group, held while the work is done. Halting revokes permits and waits
/// until all are returned. Movable; returned when destroyed.
class Permit {
 public:
  /// The host's side of a permit; destroyed when the permit is returned, from any thread.
  struct Grant {
    virtual ~Grant() = default;
    virtual bool valid() const = 0;
  };

  Permit(GroupNumber group, std::shared_ptr<const Grant> grant)
      : group_(group), grant_(std::move(grant)) {}

  /// The number to send along with every effect that leaves the node.
  [[nodiscard]] GroupNumber group() const { return group_; }

  /// False once the node was halted, began an election, or paused for too long.
  [[nodiscard]] bool valid() const { return grant_ && grant_->valid(); }

 private:
  GroupNumber group_;
  std::shared_ptr<const Grant> grant_;
};

/// An application's door to its node. Every member may be called from any thread.
class Services {
 public:
  virtual ~Services() = default;

  [[nodiscard]] virtual NodeId self() const = 0;
  [[nodiscard]] virtual const NodeSet& nodes() const = 0;

  /// A permit of the present group, from the beginning of `start` to the next Halt or own election;
  /// none outside. Every permit held delays the end of STOP: return it as soon as the work is done.
  virtual std::optional<Permit> acquire() = 0;

  /// Makes cells durable and then calls `durable` on the application's executor. Order is kept. An
  /// I/O error ends the process instead, and so does a key that begins with `own_cells`. A host may
  /// keep the caller waiting while a thousand others are not durable yet.
  virtual void write(CellBatch batch, std::function<void()> durable) = 0;

  /// Gives `done` all cells whose key begins with `prefix`, in the order of the keys, on the
  /// application's executor, after all writes asked for before.
  virtual void scan(std::string prefix,
                    std::function<void(std::vector<std::pair<std::string, Bytes>>)> done) = 0;

  /// Runs `work` on the application's executor, later, one at a time with the hooks.
  virtual void post(std::function<void()> work) = 0;

  /// Runs `work` there after `delay`.
  virtual void post_after(Duration delay, std::function<void()> work) = 0;
};

}  // namespace muster
