#include <muster/protocol/calm.hpp>

#include <algorithm>

namespace muster {

namespace {

constexpr unsigned most_times = 8;  // more make no difference

}  // namespace

Duration held_after(unsigned times, Duration calm) {
  if (times < 2) return Duration::zero();
  return std::min(calm * (1 << (std::min(times, most_times) - 2)), longest_hold(calm));
}

void count_once_more(Unsteady& node, Moment now) {
  if (node.last + calm_memory <= now) node.times = 0;
  node.times = std::min(node.times + 1, most_times);
  node.last = now;
}

Duration stays_away(Unsteady& leaves, Moment now, Duration calm) {
  count_once_more(leaves, now);
  return held_after(leaves.times + 1, calm);
}

}  // namespace muster
