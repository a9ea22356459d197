#include "metrics/metrics.hpp"

#include <muster/values/describe.hpp>

#include <algorithm>
#include <utility>
#include <variant>

namespace muster::net {

void add(Counters& to, const Counters& more) {
  boost::mp11::mp_for_each<FieldsOf<Counters>>(
      [&](auto field) { to.*field.pointer += more.*field.pointer; });
}

void Histogram::add(Duration time) {
  const auto* const at = std::find_if(bounds.begin(), bounds.end(),
                                      [time](const Bound& bound) { return time <= bound.most; });
  ++counts[static_cast<std::size_t>(at - bounds.begin())];
  sum += time;
}

void Metrics::reorganized(const history::Entry& entry) {
  ++reorganizations[static_cast<std::size_t>(entry.trigger)];
  whole.add(entry.took);
  auto at = phases.begin();
  for_each_field(entry.phases, [&at](const char*, Duration time) {
    if (time > Duration::zero()) at->add(time);
    ++at;
  });
}

void Metrics::stepped(const Event& event) {
  if (std::holds_alternative<Paused>(event)) ++pauses;
  const auto* received = std::get_if<Received>(&event);
  const auto* answer = received ? std::get_if<Answer>(&received->letter.message) : nullptr;
  if (answer && std::holds_alternative<Refused>(answer->result)) ++refused_calls;
}

// Measures the hooks. They never overlap.
void Metrics::hook(Duration t, Hook hook, journal::Edge edge, bool may_work) {
  const auto which = static_cast<std::size_t>(hook);
  if (edge == journal::Edge::begin) {
    hook_began_ = t;
    if (hook == Hook::start && may_work && idle_since_)
      gaps.add(t - *std::exchange(idle_since_, std::nullopt));
    return;
  }
  hooks[which].add(t - hook_began_);
  if (edge == journal::Edge::failed) ++failures[which];
}

void Metrics::ceased(Duration t) {
  if (!idle_since_) idle_since_ = t;
}

void Metrics::life_over(const Counters& of_life, const Traffic& its_traffic) {
  add(counters, of_life);
  traffic += its_traffic;
}

}  // namespace muster::net
