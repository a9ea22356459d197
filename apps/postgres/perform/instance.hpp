#pragma once

#include "apps/postgres/perform/order_task.hpp"

#include <chrono>
#include <deque>

/// A real PostgreSQL that performs orders.

namespace muster::postgres {

/// Not thread-safe: use an instance on the thread of its executor. All callbacks run on this
/// thread. The thread blocks on the disk while an order makes something durable.
class Instance {
 public:
  using Hear = std::function<void(KeeperEvent)>;

  /// `died` is called with `Died` when the server has ended without an order and none of its
  /// processes is left. `log` is called with a sentence for the node's log.
  Instance(
      Executor executor, InstanceOptions options, Hear died,
      std::function<void(const std::string&)> log = [](const std::string&) {});
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;
  /// Shuts the server down at once, and waits until it has ended.
  ~Instance();

  /// Performs orders one after the other. When one fails, the later orders of the same round are
  /// dropped without an answer. `Abandon` takes effect at once: it ends the present order and drops
  /// all waiting orders. The server may still obey requests that it got before the `Abandon`.
  ///
  /// An order that would fail on a full disk waits for space. After a clone that did not stream,
  /// the next clone waits, too. This wait is longer each time. `hear` is never called from inside
  /// this function. A message to the node, such as `GiveReport`, is no order to an instance and
  /// fails.
  void perform(Order order, Hear hear);

  /// Reads the state with which a life of the node begins.
  [[nodiscard]] Expected<Loaded> load() const;

  [[nodiscard]] const InstanceOptions& options() const { return core_.options; }
  /// Why the server, a standby that is whole, admits no session of its node. Empty: it admits
  /// them, or no server runs.
  [[nodiscard]] const std::string& refused_because() const { return core_.refused_because; }
  /// The process id of the postmaster. None: no postmaster runs.
  [[nodiscard]] std::optional<pid_t> pid() const;

 private:
  struct Waiting {
    Order order;
    Hear hear;
  };

  void begin_next();
  [[nodiscard]] bool wants_room(const What& what) const;
  [[nodiscard]] bool may_begin(const What& what) const;
  void look_at_clones(const What& order, bool failed);
  void end_order(AnyEvent what);
  void see_end(const Failed& how);

  Core core_;
  Hear died_;
  Pause until_it_may_;  ///< delays the first waiting order
  Duration after_clone_{};
  std::chrono::steady_clock::time_point next_clone_;
  std::deque<Waiting> waiting_;  ///< the first order is being performed
  std::unique_ptr<OrderTask> task_;
  std::shared_ptr<bool> lives_ = std::make_shared<bool>();
  std::uint64_t abandoned_ = 0;
};

/// Creates the database of a new cluster on one of its nodes. The other nodes clone it later. The
/// first term belongs to a group before all others and names the first timeline. So a
/// node that was cloned before the first group can follow in the first group.
class Creation {
 public:
  Creation(Executor executor, InstanceOptions options, std::function<void(Expected<>)> created);

 private:
  void write_first_row();

  Executor executor_;
  InstanceOptions options_;
  std::function<void(Expected<>)> created_;
  Tool initdb_;
  std::optional<Tool> server_;
};

}  // namespace muster::postgres
