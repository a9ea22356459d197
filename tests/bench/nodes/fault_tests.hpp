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

/// Fault tests of nodes: each row does one kind of fault and measures its cost for the other nodes.

namespace muster::apps {

inline constexpr std::uint32_t fault_test_nodes = 5;

class FaultTest;

/// One kind of fault, and the five working nodes to which it is done.
struct FaultRow {
  const char* name;
  const char* what;
  NodeSet bad{};  ///< nodes that need not work
  /// Makes the fault. `run` calls it at the beginning of each second of the row, with the number of
  /// that second, from 0.
  std::function<Expected<>(FaultTest&, unsigned second)> act;

  Duration T = std::chrono::milliseconds(100);
  Duration stop_for{};      ///< how long the programs go on after they are told to stop
  bool from_start = false;  ///< the fault is there from the start; bad nodes never join
  NodeSet disks{};          ///< nodes whose disk can be made slow or hung (slow_disk.cpp)
  NodeSet small_disks{};    ///< nodes whose data are on a disk of their own of 8 MB
  NodeSet own_programs{};   ///< nodes whose program has a file of its own, which can be removed
  bool unread = false;  ///< the nodes' standard output and error are full pipes that nobody reads
  bool as_nobody = false;  ///< runs without root's rights, because no limit on processes binds root
  std::function<void(NodeConfig&)> configure{};
};

/// All rows.
const std::vector<FaultRow>& fault_rows();

/// Runs one row: five real nodes, each in a network namespace of its own, and their programs. Other
/// member functions make faults.
class FaultTest final : Cluster::Listener {
 public:
  FaultTest(const FaultTestOptions& options, const FaultRow& row, std::filesystem::path directory);
  ~FaultTest() override;
  FaultTest(const FaultTest&) = delete;
  FaultTest& operator=(const FaultTest&) = delete;

  /// Runs the row until all its nodes have ended.
  Expected<> run();
  void print() const;

  [[nodiscard]] Hosts& hosts() { return *hosts_; }
  [[nodiscard]] Cluster& cluster() { return *cluster_; }
  [[nodiscard]] NodeSet all() const { return cluster_->nodes(); }

  /// Cuts the network: from now on no packet passes between the nodes in `side` and those in
  /// `other`.
  Expected<> cut(const NodeSet& side, const NodeSet& other);
  /// Extra delay of each fsync of this node, in ms. Negative: fsync never returns.
  Expected<> disk(NodeId node, std::chrono::milliseconds delay);
  Expected<> fill_disk(NodeId node);
  /// From now on the node's program cannot be started.
  Expected<> remove_program(NodeId node);
  /// Lets that much time pass.
  void go_on_for(Duration time);
  /// Limits this resource (an RLIMIT_ constant) of the node to the amount that the node uses now.
  Expected<> limit(NodeId node, int resource);
  /// Copies the node's store, or restores the copy if `back`. The node must not be running.
  Expected<> copy_store(NodeId node, bool back);
  Expected<> restart(NodeId node);
  /// Keeps `thing` alive until the nodes have ended.
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

  const FaultTestOptions& options_;
  const FaultRow& row_;
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
