#pragma once

#include "apps/postgres/children.hpp"
#include "apps/postgres/interview.hpp"
#include "apps/postgres/options.hpp"

/// Whether there is room on the disks that PostgreSQL writes to.

namespace muster::postgres {

/// Looks each second while the database works. A primary without room cannot write, and PostgreSQL
/// does not end for it: so another is to be primary, which holds as much.
class Room {
 public:
  /// `tell` is given a sentence when a disk is full, and when it has room again; `hand_over` is
  /// asked once between the two, where this is the primary and another node follows.
  Room(const Executor& executor, InstanceOptions options,
       std::function<void(const std::string&)> tell, std::function<void(NodeId)> hand_over);

  void begin(bool primary);
  /// At once: nothing of it goes on any more. What was said is still known.
  void stop();

 private:
  void look();
  void find_heir();
  void look_later();

  const Executor executor_;
  const InstanceOptions options_;
  std::function<void(const std::string&)> tell_;
  std::function<void(NodeId)> hand_over_;
  Pause pause_;
  std::optional<Interview> interview_;
  std::string full_;  ///< which disk was told of, last
  std::optional<NodeId> heir_;
  bool primary_ = false;
  bool handed_over_ = false;
};

}  // namespace muster::postgres
