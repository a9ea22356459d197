#pragma once

#include <muster/permits.hpp>
#include <muster/safe_storage.hpp>
#include <muster/values/types.hpp>

#include <functional>
#include <string>
#include <utility>

/// What a host gives to an application. The net host and the lab each have one, so that the same
/// application runs on real nodes and under the simulator.

namespace muster {

/// An application's door to its node. Every member may be called from any thread.
class Services {
 public:
  virtual ~Services() = default;

  [[nodiscard]] virtual NodeId self() const = 0;
  [[nodiscard]] virtual const NodeSet& nodes() const = 0;

  /// Its permits, of the groups of this life.
  [[nodiscard]] virtual const Permits& permits() const = 0;

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
