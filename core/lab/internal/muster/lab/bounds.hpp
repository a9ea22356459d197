#pragma once

#include <muster/claims/cuts.hpp>
#include <muster/protocol/config.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// In which world the checker looks, and how far.

namespace MUSTER_EXPORT muster {
namespace lab {

using muster::operator==;

/// What becomes of letters on their way (assumptions 6 to 8).
enum class Channels {
  session,      ///< what muster::net gives: in order, between one life and one life
  fifo,         ///< in the order sent, per pair of nodes, whichever life sent them
  incarnation,  ///< in the order sent within one life of the sender
  any,          ///< in any order
};
MUSTER_DESCRIBE_ENUM(Channels, session, fifo, incarnation, any)

/// How long the application's hooks take.
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
  Struck struck;                           ///< lines taken out of the protocol
  Options options;
  Channels channels = Channels::session;
  Hooks hooks = Hooks::prompt;
  std::optional<unsigned> failures = 2;        ///< none: unbounded
  std::optional<unsigned> wrong_timeouts = 0;  ///< of calls that may still be answered; none: any
  unsigned duplicates = 0;
  unsigned losses = 0;  ///< of letters between nodes that are up
  unsigned pauses = 0;
  unsigned leaves = 0;
  unsigned failed_hooks = 2;  ///< where hooks fail
  unsigned differences = 0;   ///< new lives with another configuration, or with the first again
  unsigned restores = 0;      ///< stores put back to what they were, but for the incarnation
  std::optional<unsigned> ticks = {};  ///< of a world with clocks, then time stands; none: any
  unsigned queue = 1;                  ///< letters on their way from one node to another, at most
  NodeSet start;                       ///< these begin Normal, in one group; the others down
  Cuts cuts;  ///< never hear each other, from where the search begins (against assumption 8)
  bool slow_restart = false;   ///< a life begins when nothing of the last one is under way
  bool split_actions = false;  ///< a node may also fail between two actions of one step
  bool canonical = true;       ///< off: numbers and dead fields stay as they are
  bool counters = false;       ///< group counters keep their order; then group-grows is checked
  bool liveness = false;       ///< also ask from where Assertion 2 cannot be reached
  std::vector<std::string> assertions;  ///< looked at; empty: all that the protocol claims
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
