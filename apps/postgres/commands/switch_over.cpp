#include "apps/base/text.hpp"
#include "apps/postgres/commands/commands.hpp"
#include "apps/postgres/commands/databases.hpp"
#include "apps/postgres/decide/values.hpp"
#include "apps/postgres/server/conf.hpp"
#include "apps/postgres/server/rows.hpp"
#include "apps/postgres/server/standbys.hpp"
#include "apps/postgres/watch/hand_over_listener.hpp"

#include <muster/values/text.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iostream>
#include <set>
#include <thread>

namespace muster::postgres {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// In bytes of log. A standby that is further behind takes long to catch up, because the primary
/// keeps writing.
constexpr std::uint64_t most_behind = 64 << 20;
/// In bytes of log. Even a standby that keeps up can be so far behind. The standby gets the rest of
/// the log while the primary shuts down.
constexpr std::uint64_t small_lag = 256 << 10;
constexpr Duration patience_to_catch_up = 30s;
constexpr Duration patience_with_checkpoint = 600s;
constexpr Duration patience_with_node = 5s;
constexpr Duration patience_with_group = 30s;
constexpr auto between_looks = 5ms;

std::string in_size(std::uint64_t bytes) {
  return std::to_string((bytes + 1023) >> 10) + " kB";
}

Failure refused(std::string why) {
  return {ExitCode::temporary, std::move(why)};
}

class SwitchOver {
 public:
  SwitchOver(const InstanceOptions& options, NodeId heir)
      : options_(options), heir_(heir), databases_(options) {}

  Expected<> may_be() {
    if (!options_.nodes.contains(heir_))
      return Failure{ExitCode::usage,
                     "--to " + to_text(heir_) + ": expected a node of [cluster.postgres]"};
    if (::access(options_.sockets.c_str(), X_OK) != 0 && errno == EACCES)
      return refused(
          options_.sockets.string() +
          " is closed to this user: run this command as the database's owner, or as root");
    const auto [group, primary] = primary_now();
    if (!group)
      return Failure{ExitCode::no_coordinator,
                     "no node acknowledges commits now, so no primary can hand over; see muster "
                     "postgres status"};
    primary_ = primary;
    group_ = *group;
    if (primary_ == heir_) return refused(named(heir_) + " is the primary already");
    const auto alone = databases_.ask(primary_, shows_alone);
    if (alone && is_true(alone->rows.at(0), 0))
      return refused(named(primary_) +
                     " acknowledges commits of which no other node has a copy: wait until " +
                     named(heir_) + " has all of them");
    return {};
  }

  /// Waits until the standby has nearly all of the log. Makes a checkpoint first, so that the
  /// checkpoint of the shutdown has little to write.
  Expected<> catches_up() {
    if (const auto near_enough = how_near(); !near_enough) return near_enough.error();
    const auto checkpoint = databases_.ask(primary_, "CHECKPOINT", patience_with_checkpoint);
    if (!checkpoint)
      return refused("the primary could not make a checkpoint: " + checkpoint.error().what);
    const auto until = Clock::now() + patience_to_catch_up;
    while (true) {
      const auto behind = how_near();
      if (!behind) return behind.error();
      if (*behind <= small_lag) return {};
      if (Clock::now() > until)
        return refused(named(heir_) + " does not catch up: it is still " + in_size(*behind) +
                       " of WAL behind after " + muster::to_text(patience_to_catch_up));
      std::this_thread::sleep_for(between_looks);
    }
  }

  /// The session stays open until the primary has taken the request, since the primary checks which
  /// role sent it.
  Expected<> is_asked_for() {
    const auto listens = databases_.ask(
        primary_, std::string("SELECT FROM pg_stat_activity WHERE application_name = '") +
                      listener_name + "'");
    if (!listens) return refused("the primary does not answer: " + listens.error().what);
    if (listens->rows.empty())
      return refused("the node of the primary, " + named(primary_) +
                     ", does not listen for switch-overs yet: try again; if it never listens, its "
                     "muster-postgres is older than this one");
    const auto asked = databases_.ask(
        primary_, std::string("NOTIFY ") + hand_over_channel + ", '" + to_text(heir_) + "'");
    if (!asked) return refused("the primary did not accept the request: " + asked.error().what);
    return {};
  }

  Expected<> becomes_primary() {
    const auto began = Clock::now();
    const auto until = began + patience_with_group;
    while (Clock::now() < until) {
      const auto [group, primary] = primary_now();
      if (group == group_ && Clock::now() > began + patience_with_node)
        return Failure{ExitCode::timed_out, named(primary_) + " is still the primary " +
                                                muster::to_text(patience_with_node) +
                                                " after the request: see its log for the reason"};
      if (group && *group > group_ && primary == heir_) return {};
      if (group && *group > group_)
        return Failure{
            ExitCode::does_not_hold,
            named(primary) + (primary == primary_ ? " became primary again" : " became primary") +
                ", and not " + named(heir_) + ": either " + named(heir_) +
                " had less data in the election, or another switch-over came first, or " +
                named(primary_) +
                " could not ask for it, because it is suspended (calm) or its PostgreSQL did not "
                "shut down cleanly; no commit is lost; see muster history"};
      std::this_thread::sleep_for(between_looks);
    }
    return Failure{ExitCode::timed_out, "no node acknowledges commits " +
                                            muster::to_text(patience_with_group) +
                                            " after the request; see muster postgres status"};
  }

 private:
  /// The open primary of the latest group.
  std::pair<std::optional<GroupNumber>, NodeId> primary_now() {
    std::pair<std::optional<GroupNumber>, NodeId> latest;
    for (const auto& [node, address] : options_.nodes)
      latest = std::max(latest, std::pair(databases_.is_open_for(node), node));
    return latest;
  }

  /// How many bytes of log `heir_` is behind.
  Expected<std::uint64_t> how_near() {
    const auto answer = databases_.ask(
        primary_,
        "SELECT application_name, state, pg_wal_lsn_diff(pg_current_wal_flush_lsn(), flush_lsn)"
        " FROM pg_stat_replication WHERE flush_lsn IS NOT NULL");
    if (!answer) return refused("the primary does not report its standbys: " + answer.error().what);
    std::set<std::string> streaming;
    std::optional<std::uint64_t> behind;
    for (const Row& row : answer->rows) {
      const std::string name = text_in(row, 0);
      if (name == name_of(heir_, false))
        return refused(named(heir_) +
                       " does not count as a copy yet: it is being rewound or cloned, or has only "
                       "begun to follow; try again when it follows");
      if (text_in(row, 1) != "streaming") continue;
      streaming.insert(name);
      if (name == name_of(heir_)) behind = number_in(row, 2);
    }
    if (!behind)
      return refused(named(heir_) + " does not follow " + named(primary_) +
                     ": muster postgres status says what it does");
    if (*behind > most_behind)
      return refused(named(heir_) + " is " + in_size(*behind) +
                     " of WAL behind: wait until it has caught up");
    const auto with_data = static_cast<std::size_t>(
        std::count_if(options_.nodes.begin(), options_.nodes.end(), [&](const auto& node) {
          return node.first == primary_ || streaming.contains(name_of(node.first));
        }));
    const Copies copies = options_.copies();
    const std::size_t needed = std::max<std::size_t>(copies.of_commit, copies.to_promote());
    if (with_data < needed)
      return refused("only " + std::to_string(with_data) + " of the " + std::to_string(needed) +
                     " nodes that are needed have the WAL, so no commit could be acknowledged "
                     "afterwards: start the other nodes first");
    return *behind;
  }

  const InstanceOptions& options_;
  const NodeId heir_;
  NodeId primary_;
  GroupNumber group_;  ///< the group for which `primary_` is primary
  Databases databases_;
};

}  // namespace

int switch_over(const Flags& flags) {
  const auto config = flags.node.load();
  if (!config) return apps::failed(config.error());
  const auto options = options_of(*config);
  if (!options) return apps::failed(options.error());
  const NodeId heir{flags.to};
  SwitchOver switching(*options, heir);
  if (const auto possible = switching.may_be(); !possible) return apps::failed(possible.error());
  if (const auto near = switching.catches_up(); !near) return apps::failed(near.error());
  const auto began = Clock::now();
  if (const auto asked = switching.is_asked_for(); !asked) return apps::failed(asked.error());
  if (const auto done = switching.becomes_primary(); !done) return apps::failed(done.error());
  std::cout << named(heir) << " is the primary now; writing stopped for "
            << apps::format_ms(Clock::now() - began) << " ms\n";
  return 0;
}

}  // namespace muster::postgres
