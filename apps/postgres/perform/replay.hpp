#pragma once

#include "apps/postgres/perform/order_task.hpp"

/// The end of a standby's replay.

namespace muster::postgres {

/// An order that waits until a sealed standby has replayed all log that it has.
class ReplayEndTask : public OrderTask {
 public:
  using OrderTask::OrderTask;

 protected:
  /// Call this once muster.conf names no node to follow and the server has been told to read it. It
  /// is no matter if the server has not read the file yet, or if its startup process still replays
  /// earlier log.
  void finish_replay(std::function<void()> then);
  /// Called again and again while the replay is paused.
  virtual void is_paused() {}

 private:
  void look();
  void look_at_processes();
  bool has_looked_again(pid_t startup, bool waits, const std::optional<std::uint64_t>& slept);
  void end_readers();

  std::function<void()> then_;
  pid_t startup_ = 0;
  std::optional<std::uint64_t>
      slept_;  ///< how often the startup process had slept when it was first seen to wait for log
};

}  // namespace muster::postgres
