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
  std::filesystem::path program = "/proc/self/exe";  ///< the muster that runs the nodes
  ClusterConfig cluster;                             ///< with the addresses of all nodes
  ApplicationConfig application{"shards", 20};
  bool certified = false;  ///< nodes prove who they are, by an authority made for this cluster
  std::map<NodeId, int> networks;  ///< the network namespace of each node; none: this one
  /// Change what a node is configured with, and how its process is made.
  std::function<void(NodeConfig&)> configure{};
  std::function<void(NodeId, ProcessOptions&)> launch{};
};

/// The nodes 1 to `count` on `ports` of 127.0.0.1.
std::map<NodeId, Address> addresses_on(const std::vector<std::uint16_t>& ports);

/// Real nodes, a process each, with all their files in one directory; the resource that their
/// records go to; and the journal of what is done to them. Used by one thread.
class Cluster {
 public:
  /// Is told what happens, in the order of its time.
  struct Listener {
    virtual ~Listener() = default;
    virtual void line(const journal::Line&) {}
    virtual void formed(const Formed&) {}
    /// Its process ended though it was not told to, or not in order when it was; as waitpid tells.
    virtual void ended_unasked(NodeId, int wait_status) { static_cast<void>(wait_status); }
  };

  /// Writes the configurations. Fails where a file cannot be written or the configuration is no
  /// good.
  static Expected<std::unique_ptr<Cluster>> make(ClusterOptions options);

  void listen(Listener* listener) { listener_ = listener; }

  Expected<> start(NodeId node);
  void kill(NodeId node);
  void pause(NodeId node);
  void resume(NodeId node);
  /// A line in the journal of faults: what is done otherwise, such as a broken connection.
  void note(journal::FaultKind kind, std::optional<NodeId> node = std::nullopt);

  /// Tells all to leave and waits until they have; false where one did not leave in order.
  bool terminate_all();

  /// Waits for news for at most `wait`, then takes in what there is.
  void turn(Duration wait);
  /// Takes turns until `time` has passed.
  void run(Duration time);
  /// Takes turns until `done` says so: true, or false when `within` has passed or a signal came.
  bool until(const std::function<bool()>& done, Duration within);
  /// Takes in everything that was written.
  void catch_up();

  /// Every node that runs and is not paused is Normal, in one group of just those.
  [[nodiscard]] bool normal() const;

  [[nodiscard]] NodeSet nodes() const { return options_.cluster.ids(); }
  [[nodiscard]] NodeSet live() const;  ///< their processes run and are not paused
  [[nodiscard]] NodeSet paused() const;
  [[nodiscard]] NodeSet down() const;
  [[nodiscard]] pid_t pid(NodeId node) const;

  [[nodiscard]] const Watch& watch() const { return watch_; }
  [[nodiscard]] const Resource& resource() const { return resource_; }
  [[nodiscard]] const ClusterOptions& options() const { return options_; }
  [[nodiscard]] std::filesystem::path data(NodeId node) const;
  [[nodiscard]] std::filesystem::path journal(NodeId node) const;
  [[nodiscard]] std::filesystem::path output(NodeId node) const;
  /// All journals, that of the faults first.
  [[nodiscard]] std::vector<std::filesystem::path> journals() const;
  /// Lines that could not be read: torn by kills.
  [[nodiscard]] std::uint64_t torn_lines() const;
  /// Kills, pauses, broken connections and cuts so far.
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
  std::map<NodeId, Duration> since_;  ///< what was seen of a node before does not count
  PipeEnds records_;
  PipeEnds death_;
  Descriptor fault_journal_;
  std::vector<journal::Line> waiting_;  ///< read, but others of that time may not be
  Duration read_at_{};
  Watch watch_;
  Resource resource_;
  Listener* listener_ = nullptr;
  bool terminating_ = false;
  std::uint64_t faults_ = 0;
};

}  // namespace muster::apps
