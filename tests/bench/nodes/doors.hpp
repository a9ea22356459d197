#pragma once

#include "apps/cluster/cluster.hpp"
#include "bench/nodes/bench.hpp"
#include "bench/nodes/namespaces.hpp"
#include "bench/nodes/work.hpp"

#include <sys/resource.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// What comes in through a node's doors, one kind a row, and what it costs the others.

namespace muster::apps {

inline constexpr std::uint32_t door_nodes = 5;

class Doors;

/// One kind of fault, done to five nodes that work.
struct DoorsRow {
  const char* name;
  const char* what;
  NodeSet bad{};  ///< whose work is not asked for
  /// What is done in the second that begins, of the row; 0 is the first.
  std::function<Expected<>(Doors&, unsigned second)> act;

  Duration T = std::chrono::milliseconds(100);
  Duration stop_for{};      ///< how long the programs go on when they are told to stop
  bool from_start = false;  ///< the bad nodes never were in the group
  NodeSet disks{};          ///< whose disk can be made slow, or hang (slow_disk.cpp)
  NodeSet small_disks{};    ///< whose data are on a disk of 8 MB of their own
  NodeSet own_programs{};   ///< whose program has a name of its own, and can be removed
  bool unread = false;      ///< the nodes' standard output and error are pipes that are full
  bool as_nobody = false;   ///< root has no limit on processes
  std::function<void(NodeConfig&)> configure{};
};

/// All of them.
const std::vector<DoorsRow>& doors_rows();

/// Five real nodes in networks of their own, the programs that they run, and what can be done to
/// them.
class Doors final : Cluster::Listener {
 public:
  Doors(const DoorsOptions& options, const DoorsRow& row, std::filesystem::path directory);
  ~Doors() override;
  Doors(const Doors&) = delete;
  Doors& operator=(const Doors&) = delete;

  /// Everything, to the end of the nodes.
  Expected<> run();
  void print() const;

  [[nodiscard]] Hosts& hosts() { return *hosts_; }
  [[nodiscard]] Cluster& cluster() { return *cluster_; }
  [[nodiscard]] NodeSet all() const { return cluster_->nodes(); }

  /// Nothing passes between the two sides any more.
  Expected<> cut(const NodeSet& side, const NodeSet& other);
  /// What each sync of its disk takes more; below zero: it does not come back.
  Expected<> disk(NodeId node, std::chrono::milliseconds delay);
  Expected<> fill_disk(NodeId node);
  /// From now on its program cannot be started.
  Expected<> remove_program(NodeId node);
  /// Lets that much time pass.
  void go_on_for(Duration time);
  /// The node may have no more of that than it has.
  Expected<> limit(NodeId node, int resource);
  /// Takes a copy of its store; puts it back. It does not run meanwhile.
  Expected<> copy_store(NodeId node, bool back);
  Expected<> restart(NodeId node);
  /// Keeps something until the nodes have ended.
  void keep(std::shared_ptr<void> thing) { kept_.push_back(std::move(thing)); }

 private:
  Expected<> prepare();
  Expected<> form();
  void launch(NodeId node, ProcessOptions& process) const;
  bool turn_until(Duration end, const std::function<bool()>& done);
  [[nodiscard]] NodeSet others() const;
  [[nodiscard]] std::filesystem::path delay_file(NodeId node) const;
  [[nodiscard]] std::filesystem::path program_of(NodeId node) const;
  void ended_unasked(NodeId node, int wait_status) override;

  const DoorsOptions& options_;
  const DoorsRow& row_;
  const Duration call_bound_;
  std::filesystem::path directory_;
  std::unique_ptr<Hosts> hosts_;
  std::unique_ptr<Cluster> cluster_;
  Descriptor record_;
  WorkRecord work_;
  PipeEnds unread_;
  std::vector<std::shared_ptr<void>> kept_;
  Duration began_{};  ///< zero: the fault has not begun
  WorkShares shares_;
  std::uint64_t elections_ = 0;
  std::uint64_t pauses_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace muster::apps
