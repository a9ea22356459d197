#include "apps/draw/markup.hpp"
#include "apps/election/election.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

/// The plot: messages and round trips over the number of nodes, on logarithmic axes. Colour and
/// marker show the protocol; line and filling show the case.

namespace muster::apps::election {
namespace {

using drawing::Tag;

constexpr int width = 1000;
constexpr int height = 600;
constexpr int top = 70;
constexpr int bottom = 430;
constexpr int panel_width = 400;
constexpr std::array panel_left{70, 570};

constexpr const char* style = R"(
.plot { font: 13px "DejaVu Sans", "Segoe UI", Helvetica, Arial, sans-serif; fill: #1a1a1a; }
.paper { fill: #ffffff; }
.title { font-size: 16px; font-weight: bold; }
.name { font-size: 14px; text-anchor: middle; }
.tick { font-size: 12px; }
.frame { fill: none; stroke: #1a1a1a; }
.grid { stroke: #d8d8d8; }
.line { fill: none; stroke-width: 1.8; }
.mark { stroke-width: 1.8; }
.best .line { stroke-dasharray: 6 4; }
.best .mark { fill: #ffffff; }
.of-paper { stroke: #0072b2; fill: #0072b2; }
.of-shipped { stroke: #d55e00; fill: #d55e00; }
.of-textbook { stroke: #00785a; fill: #00785a; }
.of-invitation { stroke: #a8508c; fill: #a8508c; }
.line { fill: none !important; }
.best .mark { fill: #ffffff !important; }
)";

const char* plot_name(Kind kind) {
  constexpr std::array names{"Bully, the paper's text", "Bully as it ships", "textbooks' Bully",
                             "Invitation as it ships"};
  return names[static_cast<std::size_t>(kind)];
}

// In these formulas m = n - k. The time is the same in both cases, except for the textbook.
const char* formula(Kind kind, Case which) {
  const bool best = which == Case::best;
  switch (kind) {
    case Kind::paper:
      return best ? "1 + k + 6(m\u22121)" : "m + k + 8(m\u22121)";
    case Kind::shipped:
      return best ? "k + 6(m\u22121)" : "m + k\u22121 + 8(m\u22121)";
    case Kind::textbook:
      return best ? "k + m\u22121" : "km + (m+1)(m\u22121)";
    case Kind::invitation:
      break;
  }
  return best ? "m + k + 8(m\u22121)" : "m + km + 2(m+3)(m\u22121)";
}

const char* time_formula(Kind kind) {
  switch (kind) {
    case Kind::paper:
      return "(1+k) T + 3(m\u22121) RTT";
    case Kind::shipped:
      return "min(k, 3) T + (m+1) RTT";
    case Kind::textbook:
      return "2 T + \u00bd or 1 RTT";
    case Kind::invitation:
      break;
  }
  return "C + 2 T + 2 RTT";
}

double messages_of(const Row& row) {
  return static_cast<double>(row.measured.messages);
}

double trips_of(const Row& row) {
  return static_cast<double>(row.measured.half_trips) / 2;
}

/// A logarithmic axis, in pixels.
class Axis {
 public:
  Axis(double least, double most, int begin, int end)
      : low_(std::log10(least)), high_(std::log10(most)), begin_(begin), end_(end) {
    if (high_ - low_ < 0.3) high_ = low_ + 0.3;
  }
  [[nodiscard]] int at(double value) const {
    const double part = (std::log10(value) - low_) / (high_ - low_);
    return begin_ + static_cast<int>(std::lround(part * (end_ - begin_)));
  }
  /// The numbers 1, 2, 5, 10 and so on within the axis. Only powers of ten if the axis is long.
  [[nodiscard]] std::vector<double> ticks() const {
    std::vector<double> ticks;
    const bool many = high_ - low_ > 3.2;
    for (int decade = static_cast<int>(std::floor(low_)); decade <= high_; ++decade)
      for (const double digit : {1.0, 2.0, 5.0}) {
        const double value = digit * std::pow(10.0, decade);
        const double place = std::log10(value);
        if (place < low_ - 1e-9 || place > high_ + 1e-9 || (many && digit != 1.0)) continue;
        ticks.push_back(value);
      }
    return ticks;
  }

 private:
  double low_;
  double high_;
  int begin_;
  int end_;
};

std::string tick_text(double value) {
  if (value < 1) return "0." + std::to_string(std::lround(value * 10));
  std::string digits = std::to_string(std::llround(value));
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

void append_text(std::string& out, const char* of_class, int x, int y, const std::string& text,
                 const char* anchor = "start") {
  Tag(out, "text")
      .with("class", of_class)
      .with("x", x)
      .with("y", y)
      .with("text-anchor", anchor)
      .text(text);
}

void append_line(std::string& out, int x1, int y1, int x2, int y2) {
  Tag(out, "path")
      .with("class", "grid")
      .with("d", "M" + std::to_string(x1) + ' ' + std::to_string(y1) + 'L' + std::to_string(x2) +
                     ' ' + std::to_string(y2))
      .close();
}

// Circle, square, triangle or diamond. They differ in size, so marks at nearly the same point stay
// visible.
void append_mark(std::string& out, Kind kind, int x, int y, const std::string& title) {
  const std::string at = "M" + std::to_string(x) + ' ' + std::to_string(y);
  constexpr std::array shapes{
      "m-8 0a8 8 0 1 0 16 0a8 8 0 1 0 -16 0z",
      "m-5 -5h10v10h-10z",
      "m0 -7l7 12h-14z",
      "m0 -8l6 8l-6 8l-6 -8z",
  };
  Tag(out, "path")
      .with("class", "mark of-" + to_text(kind))
      .with("d", at + shapes[static_cast<std::size_t>(kind)])
      .title(title);
}

struct Panel {
  const char* of = "";    ///< name of the vertical axis
  const char* unit = "";  ///< the unit of a value
  int left = 0;
  double (*value)(const Row&) = nullptr;
};

void append_axes(std::string& out, const Panel& panel, const Axis& x, const Axis& y) {
  const int right = panel.left + panel_width;
  for (const double tick : y.ticks()) {
    append_line(out, panel.left, y.at(tick), right, y.at(tick));
    append_text(out, "tick", panel.left - 8, y.at(tick) + 4, tick_text(tick), "end");
  }
  for (const double tick : x.ticks()) {
    append_line(out, x.at(tick), top, x.at(tick), bottom);
    append_text(out, "tick", x.at(tick), bottom + 18, tick_text(tick), "middle");
  }
  Tag(out, "rect")
      .with("class", "frame")
      .with("x", panel.left)
      .with("y", top)
      .with("width", panel_width)
      .with("height", bottom - top)
      .close();
  append_text(out, "name", panel.left + panel_width / 2, bottom + 40, "nodes (n)", "middle");
  append_text(out, "name", panel.left + panel_width / 2, top - 12, panel.of, "middle");
}

void append_series(std::string& out, const Panel& panel, const std::vector<Row>& rows, Kind kind,
                   Case which, const Axis& x, const Axis& y) {
  std::string line;
  std::string marks;
  for (const Row& row : rows) {
    const double value = panel.value(row);
    if (row.kind != kind || row.which != which || value <= 0) continue;
    const int at_x = x.at(row.nodes);
    const int at_y = y.at(value);
    line += (line.empty() ? 'M' : 'L') + std::to_string(at_x) + ' ' + std::to_string(at_y);
    append_mark(marks, kind, at_x, at_y,
                std::string(plot_name(kind)) + ", " + to_text(which) + ", " +
                    std::to_string(row.nodes) + " nodes: " + tick_text(value) + ' ' + panel.unit);
  }
  out += "<g class=\"" + to_text(which) + "\">\n";
  Tag(out, "path").with("class", "line of-" + to_text(kind)).with("d", line).close();
  out += marks + "</g>\n";
}

void append_panel(std::string& out, const Panel& panel, const std::vector<Row>& rows) {
  double least = 1e300;
  double most = 0;
  for (const Row& row : rows) {
    const double value = panel.value(row);
    if (value > 0) least = std::min(least, value);
    most = std::max(most, value);
  }
  least = std::min(least, std::max(most, 1.0));
  const Axis x(rows.front().nodes * 0.9, rows.back().nodes * 1.1, panel.left,
               panel.left + panel_width);
  const Axis y(least * 0.8, std::max(most, least) * 1.25, bottom, top);
  append_axes(out, panel, x, y);
  for (Kind kind : kinds)
    for (Case which : {Case::best, Case::worst}) append_series(out, panel, rows, kind, which, x, y);
}

void append_legend(std::string& out) {
  constexpr std::array columns{70, 330, 520, 740};
  int y = bottom + 74;
  append_text(out, "tick", columns[1], y, "messages, best (- - open)");
  append_text(out, "tick", columns[2], y, "messages, worst (\u2014 filled)");
  append_text(out, "tick", columns[3], y, "time");
  for (Kind kind : kinds) {
    y += 22;
    out += "<g class=\"best\">\n";
    append_mark(out, kind, columns[0] + 8, y - 4, plot_name(kind));
    out += "</g>\n";
    append_mark(out, kind, columns[0] + 32, y - 4, plot_name(kind));
    append_text(out, "tick", columns[0] + 50, y, plot_name(kind));
    append_text(out, "tick", columns[1], y, formula(kind, Case::best));
    append_text(out, "tick", columns[2], y, formula(kind, Case::worst));
    append_text(out, "tick", columns[3], y, time_formula(kind));
  }
}

}  // namespace

std::string plot(const std::vector<Row>& rows, std::uint32_t down) {
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out += "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" role=\"img\" width=\"" +
         std::to_string(width) + "\" height=\"" + std::to_string(height) + "\" viewBox=\"0 0 " +
         std::to_string(width) + ' ' + std::to_string(height) + "\">\n";
  const std::string title = "One election after the k = " + std::to_string(down) +
                            " highest of n nodes stopped; m = n \u2212 k";
  out += "<title>" + title + "</title>\n<style>" + style + "</style>\n";
  Tag(out, "rect").with("class", "paper").with("width", width).with("height", height).close();
  append_text(out, "title", width / 2, 28, title, "middle");
  append_panel(out, {"messages", "messages", panel_left[0], messages_of}, rows);
  append_panel(out, {"round trips (RTT), beside C and T", "RTT", panel_left[1], trips_of}, rows);
  append_legend(out);
  out += "</svg>\n";
  return out;
}

}  // namespace muster::apps::election
