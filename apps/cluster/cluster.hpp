#pragma once

#include "apps/base/process.hpp"
#include "apps/cluster/journal_tail.hpp"
#include "apps/cluster/ports.hpp"
#include "apps/cluster/resource.hpp"
#include "apps/cluster/watch.hpp"
#include "apps/muster/config/config.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace muster::apps {

struct ClusterOptions {
  std::filesystem::path directory;
  std::filesystem::path program = "/proc/self/exe";  ///< the muster program that runs the nodes
  ClusterConfig cluster;                             ///< includes the addresses of all nodes
  ApplicationConfig application{"shards", 20};
  bool certified = false;          ///< use TLS, with an authority made for this cluster
  std::map<NodeId, int> networks;  ///< each node's network namespace; none: ours
  /// Called to change a node's configuration, and the options with which its process is launched.
  std::function<void(NodeConfig&)> configure{};
  std::function<void(NodeId, ProcessOptions&)> launch{};
};

/// Nodes 1, 2 and so on, one for each port, at 127.0.0.1.
std::map<NodeId, Address> addresses_on(const std::vector<std::uint16_t>& ports);

/// Real nodes, each a process, with all their files in one directory. The class also has the
/// resource that receives the nodes' records, and the journal of the faults that are done to the
/// nodes. Use it from one thread only.
class Cluster {
 public:
  /// Receives the lines of all journals, in the order of their times.
  struct Listener {
    virtual ~Listener() = default;
    virtual void line(const journal::Line&) {}
    virtual void formed(const Formed&) {}
    /// The process of a node ended without an order, or did not end in order although it was told
    /// to leave. `wait_status` is that of waitpid(2).
    virtual void ended_unasked(NodeId, int wait_status) { static_cast<void>(wait_status); }
  };

  /// Makes a cluster and writes its configurations. Fails if a file cannot be written or a
  /// configuration is wrong.
  static Expected<std::unique_ptr<Cluster>> make(ClusterOptions options);

  void listen(Listener* listener) { listener_ = listener; }

  Expected<> start(NodeId node);
  void kill(NodeId node);
  void pause(NodeId node);
  void resume(NodeId node);
  /// Writes a line to the journal of faults, for a fault that is done elsewhere, such as a broken
  /// connection.
  void note(journal::FaultKind kind, std::optional<NodeId> node = std::nullopt);

  /// Tells all nodes to leave and waits until they have. Returns false if a node did not leave in
  /// order.
  bool terminate_all();

  /// Waits at most `wait` for new lines or records, then reads those that have arrived.
  void turn(Duration wait);
  /// Calls `turn` until `time` has passed.
  void run(Duration time);
  /// Calls `turn` until `done` returns true. Returns false if `within` passes or a signal comes
  /// before.
  bool until(const std::function<bool()>& done, Duration within);
  /// Reads all lines and records that the nodes have written.
  void catch_up();

  /// Whether all nodes that run and are not paused are Normal in one group, and are its only
  /// members.
  [[nodiscard]] bool normal() const;

  [[nodiscard]] NodeSet nodes() const { return options_.cluster.ids(); }
  [[nodiscard]] NodeSet live() const;  ///< nodes whose processes run and are not paused
  [[nodiscard]] NodeSet paused() const;
  [[nodiscard]] NodeSet down() const;
  [[nodiscard]] pid_t pid(NodeId node) const;

  [[nodiscard]] const Watch& watch() const { return watch_; }
  [[nodiscard]] const Resource& resource() const { return resource_; }
  [[nodiscard]] const ClusterOptions& options() const { return options_; }
  [[nodiscard]] std::filesystem::path data(NodeId node) const;
  [[nodiscard]] std::filesystem::path journal(NodeId node) const;
  [[nodiscard]] std::filesystem::path output(NodeId node) const;
  /// All journals. The journal of faults comes first.
  [[nodiscard]] std::vector<std::filesystem::path> journals() const;
  /// The number of lines that could not be read because a kill cut them off.
  [[nodiscard]] std::uint64_t torn_lines() const;
  /// The number of kills, pauses, broken connections and cuts so far.
  [[nodiscard]] std::uint64_t faults() const { return faults_; }

 private:
  struct Slot {
    explicit Slot(const std::filesystem::path& file) : tail(file) {}
    std::optional<Process> process;
    JournalTail tail;
    bool paused = false;
  };

  explicit Cluster(ClusterOptions options);
  Expected<> prepare();
  Expected<> certify() const;
  [[nodiscard]] NodeConfig config_of(NodeId node) const;
  [[nodiscard]] net::TlsOptions tls_of(NodeId node) const;
  [[nodiscard]] std::filesystem::path config_file(NodeId node) const;
  void read_records();
  void read_journals(Duration up_to);
  void reap();

  ClusterOptions options_;
  std::map<NodeId, Slot> slots_;
  std::map<NodeId, Duration> since_;  ///< ignore lines that a node wrote before this time
  PipeEnds records_;
  PipeEnds death_;
  Descriptor fault_journal_;
  /// Lines that were read, but that wait here because earlier lines of other nodes can follow.
  std::vector<journal::Line> waiting_;
  Duration read_at_{};
  Watch watch_;
  Resource resource_;
  Listener* listener_ = nullptr;
  bool terminating_ = false;
  std::uint64_t faults_ = 0;
};

}  // namespace muster::apps
