#pragma once

#include "apps/postgres/server/children.hpp"
#include "apps/postgres/server/interview.hpp"
#include "apps/postgres/server/options.hpp"

/// Space on the disks that PostgreSQL writes to.

namespace muster::postgres {

/// Looks at the disks of the data, of the files beside it, and of the log, which may all differ.
/// Returns the first one that is full.
std::optional<std::filesystem::path> full_disk(const InstanceOptions& options);

/// Looks at the disks once a second. PostgreSQL does not end on a full disk, but a primary without
/// space cannot write. So another node, which has the same data, should become primary.
class DiskSpace {
 public:
  /// `tell` is called with a sentence when a disk is full, and when that disk has space again. If
  /// this node is the primary and another node follows, `hand_over` is called once while the disk
  /// is full.
  DiskSpace(const Executor& executor, InstanceOptions options,
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
  std::string full_;  ///< the full disk that the log has mentioned
  bool primary_ = false;
  bool handed_over_ = false;
};

}  // namespace muster::postgres
