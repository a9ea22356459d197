#include "apps/draw/layout.hpp"

#include "apps/draw/pen.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace muster::apps::drawing {
namespace {

constexpr int head_height = 34;
constexpr int axis_width = 78;
constexpr int notes_width = 190;
constexpr int lanes_width = 780;
constexpr int narrowest_lane = 120;
constexpr int widest_lane = 190;
constexpr int break_height = 34;
constexpr int most_for_time = 14;
constexpr int between_ticks = 60;

/// The least distances that keep a moment readable.
struct Room {
  int below_any = 0;       ///< distance from the moment before
  int below_own_lane = 0;  ///< distance from the last moment of the same node
};

Room room_for(const Moment& moment) {
  if (std::holds_alternative<journal::Step>(moment.line)) return {5, 13};
  if (std::holds_alternative<journal::HookEdge>(moment.line)) return {2, 8};
  if (std::holds_alternative<journal::Performed>(moment.line)) return {1, 5};
  if (std::holds_alternative<journal::Permits>(moment.line)) return {2, 8};
  return {14, 18};
}

/// The median time of a letter on its way. A gap is long or short compared with it.
Duration usual_flight(const Chart& chart) {
  std::vector<Duration> flights;
  for (const Arrow& arrow : chart.arrows)
    if (arrow.sent && arrow.received) flights.push_back(arrow.received->t - arrow.sent->t);
  if (flights.empty()) {
    for (std::size_t i = 1; i < chart.moments.size(); ++i)
      flights.push_back(chart.moments[i].t - chart.moments[i - 1].t);
  }
  if (flights.empty()) return Duration(1);
  const auto middle = flights.begin() + static_cast<std::ptrdiff_t>(flights.size() / 2);
  std::nth_element(flights.begin(), middle, flights.end());
  return std::max(*middle, Duration(1));
}

/// A distance that grows with the logarithm of the gap.
int room_for_time(Duration gap, Duration flight) {
  const auto quarters = static_cast<std::uint64_t>(4 * std::max(gap, Duration{}) / flight);
  return std::min(2 * static_cast<int>(std::bit_width(quarters)), most_for_time);
}

void place_moments(const Chart& chart, Layout& layout) {
  const Duration flight = usual_flight(chart);
  const Duration longest_gap = 16 * flight;
  std::map<NodeId, int> last;
  int y = layout.top;
  for (std::size_t i = 0; i < chart.moments.size(); ++i) {
    const Moment& moment = chart.moments[i];
    const Room room = room_for(moment);
    const Duration gap = i == 0 ? Duration{} : moment.t - chart.moments[i - 1].t;
    if (gap > longest_gap) {
      layout.breaks.push_back({y + break_height / 2, gap});
      y += break_height;
    } else {
      y += std::max(room.below_any, room_for_time(gap, flight));
    }
    if (moment.node) {
      const auto before = last.find(*moment.node);
      if (before != last.end()) y = std::max(y, before->second + room.below_own_lane);
      last[*moment.node] = y;
    }
    layout.y.push_back(y);
  }
  layout.bottom = y + 30;
}

// Puts ticks on both sides of a break, and elsewhere at least `between_ticks` apart.
void place_ticks(const Chart& chart, Layout& layout) {
  auto next_break = layout.breaks.begin();
  int last = layout.head - between_ticks;
  for (std::size_t i = 0; i < layout.y.size(); ++i) {
    const int y = layout.y[i];
    bool after_break = false;
    while (next_break != layout.breaks.end() && next_break->y < y) {
      ++next_break;
      after_break = true;
    }
    if (y - last < between_ticks && !(after_break && y - last > 14)) continue;
    layout.ticks.push_back({y, chart.moments[i].t - chart.began});
    last = y;
  }
}

bool has_notes(const Chart& chart) {
  return !chart.violations.empty() || !chart.not_claimed.empty() ||
         std::any_of(chart.moments.begin(), chart.moments.end(), [](const Moment& moment) {
           const auto* fault = std::get_if<journal::Fault>(&moment.line);
           return fault && (fault->from || !fault->node);
         });
}

}  // namespace

int Layout::x_of(NodeId node) const {
  const auto& nodes = chart->nodes;
  const auto at = std::find(nodes.begin(), nodes.end(), node) - nodes.begin();
  return axis + lane / 2 + static_cast<int>(at) * lane;
}

int Layout::y_of(const Edge& edge) const {
  return edge.at ? y[*edge.at] : y_at(edge.t);
}

int Layout::y_at(Duration t) const {
  const auto& moments = chart->moments;
  const auto after = std::upper_bound(moments.begin(), moments.end(), t,
                                      [](Duration at, const Moment& m) { return at < m.t; });
  if (after == moments.begin()) return top - 8;
  if (after == moments.end()) return moments.empty() || moments.back().t < t ? bottom : y.back();
  const auto i = static_cast<std::size_t>(after - moments.begin());
  const auto gap = static_cast<double>((after->t - moments[i - 1].t).count());
  const auto part = static_cast<double>((t - moments[i - 1].t).count()) / gap;
  return y[i - 1] + static_cast<int>(part * (y[i] - y[i - 1]));
}

Layout lay_out(const Chart& chart) {
  Layout layout;
  layout.chart = &chart;
  const int lanes = std::max(static_cast<int>(chart.nodes.size()), 1);
  layout.lane = std::clamp(lanes_width / lanes, narrowest_lane, widest_lane);
  layout.axis = axis_width;
  layout.notes = layout.axis + lanes * layout.lane + 6;
  layout.width = layout.notes + (has_notes(chart) ? notes_width : 10);
  layout.head = head_height;
  layout.top = head_height + 22;
  place_moments(chart, layout);
  layout.height = std::max(layout.bottom, end_of_notes(layout)) + 12;
  place_ticks(chart, layout);
  return layout;
}

}  // namespace muster::apps::drawing
