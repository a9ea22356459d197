#include "node/status.hpp"

#include "base/clock.hpp"

#include <algorithm>
#include <utility>

namespace muster::net {

namespace {

std::map<NodeId, Duration> times_left(const HeldNodes& held) {
  std::map<NodeId, Duration> left;
  for (const auto& [node, hold] : held.by_node)
    left[node] = std::max<Duration>(hold.until - boottime_now(), {});
  return left;
}

}  // namespace

NodeStatus status_of(const NodeOptions& options, const Life* last, std::optional<Out> out,
                     std::string because, std::optional<Duration> certificate) {
  Life::Seen seen = last ? last->seen() : Life::Seen{};
  const View& view = seen.view;
  const bool is_member = view.coordinator && view.coordinator != options.config.self;
  NodeStatus status{
      .node = options.config.self,
      .status = view.status,
      .coordinator = view.coordinator,
      .group = view.group,
      .halted_by = view.halted_by,
      .up = view.up,
      .incarnation = last ? last->incarnation() : Incarnation{},
      .definition = view.definition,
      .protocol = options.config.protocol,
      .as_of = seen.as_of,
      .procedure = view.procedure,
      .application = view.application,
      .shown = std::move(seen.shown),
      .broken = std::move(seen.broken),
      .progress = std::move(seen.progress),
      .journal_dropped = seen.journal_dropped,
      .slow_saves = seen.slow_saves,
      .needed_T = seen.needed_T,
      .out = out,
      .differing = std::move(seen.differing),
      .wire = std::move(seen.wire),
      .held = times_left(view.held),
      .coordinator_heard_ns = {},
      .coordinator_bound_ns = {},
      .because = out ? std::string() : std::move(because),
      .halted_in_turn_by = std::move(seen.halted_in_turn_by),
      .certificate_ns = certificate,
      .counters = seen.counters,
  };
  if (seen.heard)
    status.coordinator_heard_ns = std::max<Duration>(monotonic_now() - *seen.heard, {});
  if (is_member) status.coordinator_bound_ns = longest_silence(options.config.timings);
  return status;
}

}  // namespace muster::net
