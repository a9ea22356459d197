#include <muster/detail/protocol/calm.hpp>
#include <muster/protocol/config.hpp>

#include <algorithm>

namespace muster {

namespace {

constexpr unsigned most_times = 8;  // more losses do not make a hold longer

}  // namespace

Holds holds(const ProtocolConfig& config) {
  const Options& options = config.options;
  Holds holds{options.calm, 60 * options.calm};
  if (options.quorum != Quorum::majority) return holds;
  const Duration cost = std::chrono::ceil<std::chrono::milliseconds>(
      granted_for(config.timings) + ceases_within(config.timings, options.clock_drift));
  holds.shortest = std::clamp(4 * cost, holds.shortest, holds.longest);
  return holds;
}

Duration held_after(unsigned times, Holds holds) {
  if (times < 2) return Duration::zero();
  return std::min(holds.shortest * (1 << (std::min(times, most_times) - 2)), holds.longest);
}

void count_once_more(Unsteady& node, Moment now) {
  if (node.last + calm_memory <= now) node.times = 0;
  node.times = std::min(node.times + 1, most_times);
  node.last = now;
}

Duration stays_away(Unsteady& leaves, Moment now, Holds holds) {
  count_once_more(leaves, now);
  return held_after(leaves.times + 1, holds);
}

}  // namespace muster
