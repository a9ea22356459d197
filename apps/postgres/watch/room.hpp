#pragma once

#include "apps/postgres/server/children.hpp"
#include "apps/postgres/server/interview.hpp"
#include "apps/postgres/server/options.hpp"

/// Room on the disks that PostgreSQL writes to.

namespace muster::postgres {

/// Of the data, of what is beside it, and of the log, each of which may have a disk of its own: the
/// first that is full.
std::optional<std::filesystem::path> full_disk(const InstanceOptions& options);

/// Looks each second. A primary without room cannot write, and PostgreSQL does not end for it: so
/// another is to be primary, which holds as much.
class Room {
 public:
  /// `tell` is given a sentence when a disk is full, and when it has room again; `hand_over` is
  /// asked once between the two, where this is the primary and another node follows.
  Room(const Executor& executor, InstanceOptions options,
       std::function<void(const std::string&)> tell, std::function<void(NodeId)> hand_over);

  void begin() { look_later(); }
  void set_primary(bool primary) { primary_ = primary; }

 private:
  void look();
  void look_later();
  void find_heir();
  void take_heir(const std::vector<Row>& following);

  const Executor executor_;
  const InstanceOptions options_;
  std::function<void(const std::string&)> tell_;
  std::function<void(NodeId)> hand_over_;
  Pause pause_;
  std::optional<Interview> interview_;
  std::optional<NodeId> heir_;
  std::string full_;  ///< which disk is, as was told
  bool primary_ = false;
  bool handed_over_ = false;
};

}  // namespace muster::postgres
