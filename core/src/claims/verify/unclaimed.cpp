#include <muster/claims/verify.hpp>

#include <algorithm>

namespace muster::verify {

void Unclaimed::add(const NotClaimed& time) {
  const std::pair span(time.from, time.to);
  Of& its = of_[time.assertion];
  (time.of_some ? its.of_some : its.of_all).push_back(span);
  its.causes[time.cause].push_back(span);
}

Duration Unclaimed::together(Spans spans) {
  std::sort(spans.begin(), spans.end());
  Duration sum{};
  Duration end = Duration::min();
  for (const auto& [from, to] : spans) {
    if (to <= end) continue;
    sum += to - std::max(from, end);
    end = to;
  }
  return sum;
}

std::map<std::string, Unclaimed::Times> Unclaimed::times() const {
  std::map<std::string, Times> times;
  for (const auto& [assertion, its] : of_) {
    Times& sums = times[assertion];
    sums.of_all = together(its.of_all);
    Spans either = its.of_all;
    either.insert(either.end(), its.of_some.begin(), its.of_some.end());
    sums.of_some = together(std::move(either)) - sums.of_all;
    for (const auto& [cause, spans] : its.causes) sums.causes[cause] = together(spans);
  }
  return times;
}

void Unclaimed::Times::add(const Times& other) {
  of_all += other.of_all;
  of_some += other.of_some;
  for (const auto& [cause, time] : other.causes) causes[cause] += time;
}

}  // namespace muster::verify
