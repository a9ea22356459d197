#include <muster/detail/protocol/grants.hpp>

#include <algorithm>

namespace muster {

namespace {

constexpr std::int64_t million = 1'000'000;

// length * of / by, rounded down.
Duration times(Duration length, std::int64_t of, std::int64_t by) {
  return length / by * of + length % by * of / by;
}

}  // namespace

Duration granted_for(const Timings& timings) {
  return timings.check_every + timings.T + std::max(timings.check_every, timings.T);
}

Duration held_for(const Timings& timings, ClockDrift drift) {
  return times(granted_for(timings), million - drift.millionths, million + drift.millionths);
}

Duration ceases_within(const Timings& timings, ClockDrift drift) {
  if (drift.millionths == 0) return timings.stop_deadline;
  return times(timings.stop_deadline, million + drift.millionths, million - drift.millionths) +
         Duration(1);
}

}  // namespace muster
