#pragma once

#include <muster/claims/cuts.hpp>
#include <muster/protocol/config.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// The world that the checker searches, and the limits of the search.

namespace MUSTER_EXPORT muster {
namespace lab {

using muster::operator==;

/// The order in which letters arrive (assumptions 6 to 8).
enum class Channels {
  session,      ///< as with muster::net: in order, from one life to one life
  fifo,         ///< in the order sent, for each pair of nodes, across all lives
  incarnation,  ///< in the order sent within one life of the sender
  any,          ///< in any order
};
MUSTER_DESCRIBE_ENUM(Channels, session, fifo, incarnation, any)

/// How long the hooks of the application take.
enum class Hooks {
  prompt,   ///< no time
  slow,     ///< any time
  failing,  ///< any time, and some fail
};
MUSTER_DESCRIBE_ENUM(Hooks, prompt, slow, failing)

/// The world that is searched, and the limits of the search.
struct Bounds {
  std::uint32_t nodes = 3;  ///< 1 to 5
  ProtocolName protocol = ProtocolName::bully;
  Repairs repairs;                         ///< of the Bully
  invitation::Repairs invitation_repairs;  ///< of the Invitation
  Struck struck;                           ///< lines of the protocol that are struck
  Options options;
  Channels channels = Channels::session;
  Hooks hooks = Hooks::prompt;
  std::optional<unsigned> failures = 2;  ///< none: unbounded
  /// The number of timeouts of calls that may still be answered; none: unbounded.
  std::optional<unsigned> wrong_timeouts = 0;
  unsigned duplicates = 0;
  unsigned losses = 0;  ///< of letters between nodes that are up
  unsigned pauses = 0;
  unsigned leaves = 0;
  unsigned failed_hooks = 2;  ///< the number of failed hooks, with Hooks::failing
  unsigned differences = 0;   ///< new lives that change the node's configuration, to another one or
                              ///< back
  unsigned restores = 0;      ///< stores that are replaced by an older copy; the incarnation is
                              ///< kept
  /// The number of ticks in a world with clocks; after the last one no time passes. None:
  /// unbounded.
  std::optional<unsigned> ticks = {};
  unsigned queue = 1;  ///< the largest number of letters on their way from one node to another
  NodeSet start;       ///< these nodes begin Normal, in one group; the others begin down
  Cuts cuts;  ///< pairs that never hear each other, from the beginning of the search (against
              ///< assumption 8)
  bool slow_restart = false;  ///< a life begins only when no letter or call of the node's last life
                              ///< is under way
  bool split_actions = false;  ///< a node may also fail between two actions of one step
  bool canonical = true;       ///< false: numbers and dead fields stay as they are
  bool counters = false;       ///< group counters keep their order, and group-grows is checked
  bool liveness = false;       ///< also look for worlds from which Assertion 2 cannot be reached
  /// The assertions that are checked; empty: all that the protocol claims.
  std::vector<std::string> assertions;
  unsigned threads = 1;
  std::uint64_t limit_states = 0;  ///< 0: none
  std::uint64_t limit_memory = 0;  ///< bytes; 0: none
};
MUSTER_DESCRIBE(Bounds, nodes, protocol, repairs, invitation_repairs, struck, options, channels,
                hooks, failures, wrong_timeouts, duplicates, losses, pauses, leaves, failed_hooks,
                differences, restores, ticks, queue, start, cuts, slow_restart, split_actions,
                canonical, counters, liveness, assertions, threads, limit_states, limit_memory);

}  // namespace lab
}  // namespace muster
