#pragma once

#include "attacker.hpp"

#include <muster/protocol/config.hpp>

#include <filesystem>
#include <map>
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

/// Three nodes of a cluster of four in a group, and burst after burst against them. After each: the
/// group is what it was, no election has begun, no process has ended, each answers who asks for its
/// status, and none has taken more memory than it may. At the end all leave in order.
CampaignReport attack_trial(const CampaignOptions& options);

}  // namespace muster::test
