#pragma once

#include "attacker.hpp"

#include "apps/cluster/cluster.hpp"
#include "apps/cluster/ports.hpp"
#include "apps/demo/directory.hpp"

#include <muster/protocol/config.hpp>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// An attacker against real nodes: each a process of the command, with its store and its journal.

namespace muster::test {

struct CampaignOptions {
  std::filesystem::path program;  ///< the command `muster`
  ProtocolName protocol = ProtocolName::bully;
  std::uint64_t seed = 1;
  Duration time = std::chrono::seconds(20);
  std::optional<Attack> only{};           ///< none: all
  std::uint64_t most_resident = 1 << 28;  ///< bytes of memory of one node
};

struct CampaignReport {
  std::map<Attack, Tally> tallies;
  std::uint64_t elections{};  ///< that letters in a stolen session have begun
  std::uint64_t resident{};   ///< the most of one node, in bytes
  std::size_t descriptors{};  ///< the most of one node
  std::string wrong;  ///< the first that went wrong, and how to see it again; empty: nothing

  /// The kinds of attack that never came about.
  [[nodiscard]] std::vector<Attack> missing() const;
};

/// Real nodes with long deadlines, each with its limits; none of them runs yet.
struct AttackedCluster {
  AttackedCluster(const CampaignOptions& options, std::uint32_t nodes);
  apps::RunDirectory directory;
  apps::ReservedPorts ports;
  NodeSet initialise;  ///< begin with --initialise
  std::unique_ptr<apps::Cluster> cluster;
};

/// Three nodes of a cluster of four in a group, and burst after burst against them. After each: the
/// group is what it was, no election has begun, no process has ended, each answers who asks for its
/// status, and none has taken more memory than it may. When the attacker has gone the cluster
/// becomes whole again (Recovery), and all leave in order.
CampaignReport attack_trial(const CampaignOptions& options);

/// Three nodes of a cluster of five in a group. Somebody at the addresses of the other two ends
/// them (Voices), and goes; they are started as they are, and refuse each other. None of them takes
/// part then, and the cluster becomes whole again (Recovery). What is wrong; empty: nothing.
std::string voices_trial(const CampaignOptions& options);

}  // namespace muster::test
