#pragma once

#include "apps/postgres/perform/errand.hpp"

#include <chrono>
#include <deque>

/// A real PostgreSQL that performs orders.

namespace muster::postgres {

/// Used by one thread at a time, that of its executor, where all that it calls is called too. That
/// thread waits for the disk where an order makes something durable.
class Instance {
 public:
  using Hear = std::function<void(Happening)>;

  /// `died` hears `Died`: the server has ended, nobody had ordered it, and no process of it is
  /// left.
  Instance(Executor executor, InstanceOptions options, Hear died);
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;
  /// An immediate shutdown, and the wait for it.
  ~Instance();

  /// One after the other. When one fails, those behind it of the same round are not performed, and
  /// nothing is heard of them. `Abandon` is performed at once, and ends the one that goes on and
  /// all that wait; what the server was told to do it does all the same. What a full disk would
  /// let fail waits for room, and another clone after one that has not come to stream, longer each
  /// time. Never calls `hear` from within. What only a node performs, such as
  /// `GiveReport`, fails.
  void perform(Order order, Hear hear);

  /// What a life of the node begins with.
  [[nodiscard]] Expected<Loaded> load() const;

  [[nodiscard]] const InstanceOptions& options() const { return core_.options; }
  /// Of the postmaster; none: it does not run.
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
  void end_order(HasHappened what);
  void see_end(const Failed& how);

  Core core_;
  Hear died_;
  Pause until_it_may_;  ///< the first that waits
  Duration after_clone_{};
  std::chrono::steady_clock::time_point next_clone_;
  std::deque<Waiting> waiting_;  ///< the first is going on
  std::unique_ptr<Errand> errand_;
  std::shared_ptr<bool> lives_ = std::make_shared<bool>();
  std::uint64_t abandoned_ = 0;
};

/// Creates the database of a new cluster, on one of its nodes. No other has one then: theirs are
/// clones. Its first row of muster.term, of a group before all, says on which timeline all begin:
/// whoever was cloned before the first group follows in it.
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
