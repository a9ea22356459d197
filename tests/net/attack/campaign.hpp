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

/// An attacker against real nodes. Each node is a process of the command, with its own store and
/// journal.

namespace muster::test {

struct CampaignOptions {
  std::filesystem::path program;  ///< the command `muster`
  ProtocolName protocol = ProtocolName::bully;
  std::uint64_t seed = 1;
  Duration time = std::chrono::seconds(20);
  std::optional<Attack> only{};  ///< the only kind of attack to make; without a value, all kinds
  std::uint64_t most_resident = 1 << 28;  ///< limit for one node's memory, in bytes
};

struct CampaignReport {
  std::map<Attack, Tally> tallies;
  std::uint64_t elections{};  ///< elections begun by letters in a stolen session
  std::uint64_t resident{};   ///< the largest memory of a node, in bytes
  std::size_t descriptors{};  ///< the largest number of descriptors that one node had open
  std::string wrong;  ///< the first error and the way to repeat it; empty if there was no error

  /// The kinds of attack that never took place.
  [[nodiscard]] std::vector<Attack> missing() const;
};

/// Real nodes that an attacker is to attack, with long deadlines and with their own limits. The
/// constructor starts none of them.
struct AttackedCluster {
  AttackedCluster(const CampaignOptions& options, std::uint32_t nodes);
  apps::RunDirectory directory;
  apps::ReservedPorts ports;
  NodeSet initialise;  ///< nodes that begin with --initialise
  std::unique_ptr<apps::Cluster> cluster;
};

/// Attacks three nodes of a cluster of four, which form a group, with burst after burst. After each
/// burst the test checks five things: the group is the same, no election has begun, no process has
/// ended, each node answers a status question, and no node uses too much memory. When the attacker
/// has stopped, the cluster must become whole again (Recovery), and all nodes must leave in order.
CampaignReport attack_trial(const CampaignOptions& options);

/// Three nodes of a cluster of five form a group. An attacker at the addresses of the other two
/// makes the three end (LifeClaims), and stops. Started again without a change, the three nodes
/// refuse each other and take no part. Then the cluster must become whole again (Recovery). Returns
/// the first error; empty: none.
std::string life_claims_trial(const CampaignOptions& options);

}  // namespace muster::test
