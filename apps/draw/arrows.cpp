#include "apps/draw/pen.hpp"
#include "apps/draw/words.hpp"

#include <muster/values/text.hpp>

#include <cmath>
#include <numbers>

namespace muster::apps::drawing {
namespace {

constexpr int into_the_air = 9;     ///< vertical length of an arrow of a lost letter
constexpr int steepest_label = 50;  ///< in degrees; labels of steeper arrows are not turned
constexpr std::size_t longest_title = 400;

struct Point {
  int x{};
  int y{};
};

/// The ends of an arrow in the drawing.
struct Line {
  Point from;
  Point to;
  [[nodiscard]] int direction() const { return from.x <= to.x ? 1 : -1; }
  [[nodiscard]] int degrees() const {
    const double slope = std::atan2(direction() * (to.y - from.y), std::abs(to.x - from.x));
    return static_cast<int>(std::lround(slope * 180 / std::numbers::pi));
  }
  [[nodiscard]] Point at(double part) const {
    return {from.x + static_cast<int>(std::lround(part * (to.x - from.x))),
            from.y + static_cast<int>(std::lround(part * (to.y - from.y)))};
  }
};

class ArrowPen {
 public:
  ArrowPen(std::string& out, const Layout& layout) : out_(out), layout_(layout) {}

  void draw(const Arrow& arrow) {
    const bool answer = is_answer(arrow.letter);
    const Line line = line_of(arrow);
    std::string kind = answer ? "arrow answer" : "arrow call";
    if (!arrow.received) kind += " lost";
    if (!arrow.sent) kind += " unsent";
    if (arrow.again) kind += " again";
    Tag tag(out_, "path");
    tag.with("class", kind)
        .with("data-message", message_name(arrow.letter))
        .with("data-from", arrow.letter.from.value)
        .with("data-to", arrow.letter.to.value);
    if (arrow.sent && arrow.sent->at) tag.with("data-sent", *arrow.sent->at);
    if (arrow.received && arrow.received->at) tag.with("data-received", *arrow.received->at);
    if (arrow.received) tag.with("marker-end", answer ? "url(#answer-tip)" : "url(#tip)");
    tag.with("d", path({"M", line.from.x, line.from.y, "L", line.to.x, line.to.y}))
        .title(title_of(arrow));
    if (!arrow.received) append_end_in_the_air(line);
  }

  // Call this after all lines are drawn, so that no line runs through a word.
  void label(const Arrow& arrow) {
    const bool answer = is_answer(arrow.letter);
    const Line line = line_of(arrow);
    const std::string of_class = answer ? "answer-label" : "label";
    std::string text = message_words(arrow.letter);
    if (!arrow.received) {
      text += " \xE2\x86\x92 " + to_text(arrow.letter.to);
      const int x = line.to.x + line.direction() * 5;
      place(of_class, {x, line.to.y + 4}, 0, line.direction() < 0, text);
      return;
    }
    const int length = std::max(std::abs(line.to.x - line.from.x), 1);
    // One step sends many letters, and many answers arrive at one step. So each label is put at the
    // other end of its arrow, where the arrows have spread.
    const double part = answer || !arrow.sent ? 8.0 / length : 1 - 14.0 / length;
    const bool at_head = part > 0.5;
    const bool ends_here = at_head == (line.direction() > 0);
    const Point at = line.at(part);
    const int degrees = line.degrees();
    if (std::abs(degrees) <= steepest_label)
      place(of_class, at, degrees, ends_here, text);
    else
      place(of_class, {at.x, line.at(part).y}, 0, ends_here, text);
  }

 private:
  [[nodiscard]] Line line_of(const Arrow& arrow) {
    const int from_x = layout_.x_of(arrow.letter.from);
    const int to_x = layout_.x_of(arrow.letter.to);
    const int direction = from_x <= to_x ? 1 : -1;
    const int way = (layout_.lane - 2 * half_band) * 2 / 5;
    Line line;
    if (arrow.received) line.to = {to_x - direction * half_band, layout_.y_of(*arrow.received)};
    if (arrow.sent) line.from = {from_x + direction * half_band, layout_.y_of(*arrow.sent)};
    if (!arrow.received) line.to = {line.from.x + direction * way, line.from.y + lost_below(arrow)};
    if (!arrow.sent) line.from = {line.to.x - direction * way, line.to.y - into_the_air};
    return line;
  }

  // Lost letters of one step in the same direction go down by different lengths, so they stay
  // apart.
  int lost_below(const Arrow& arrow) {
    if (!arrow.sent->at) return into_the_air;
    int below = into_the_air;
    for (const Arrow& other : layout_.chart->arrows) {
      if (&other == &arrow) break;
      const bool same_way =
          (other.letter.to < other.letter.from) == (arrow.letter.to < arrow.letter.from);
      if (!other.received && other.sent && other.sent->at == arrow.sent->at && same_way)
        below += 12;
    }
    return below;
  }

  void append_end_in_the_air(const Line& line) {
    append_path(out_, "air", {"M", line.to.x, line.to.y - 4, "V", line.to.y + 4});
  }

  void place(const std::string& of_class, Point at, int degrees, bool ends_here,
             const std::string& text) {
    const std::string where = std::to_string(at.x) + ' ' + std::to_string(at.y);
    std::string transform = "translate(" + where + ')';
    if (degrees != 0) transform += " rotate(" + std::to_string(degrees) + ')';
    Tag tag(out_, "text");
    tag.with("class", of_class)
        .with("transform", transform)
        .with("dy", of_class == "label" ? -3 : 10);
    if (ends_here) tag.with("text-anchor", "end");
    tag.text(text);
  }

  static std::string title_of(const Arrow& arrow) {
    const Letter& letter = arrow.letter;
    std::string text = message_words(letter) + " from node " + to_text(letter.from) + " to node " +
                       to_text(letter.to) + ", call " + to_text(letter.call);
    if (arrow.sent && arrow.received)
      text += ", under way for " + time_words(arrow.received->t - arrow.sent->t);
    if (!arrow.received) text += ", never received";
    if (!arrow.sent) text += ", no journal tells of its sending";
    if (arrow.again) text += ", received again";
    return text + ": " + shortened(to_text(letter.message), longest_title);
  }

  std::string& out_;
  const Layout& layout_;
};

}  // namespace

void append_arrows(std::string& out, const Layout& layout) {
  ArrowPen pen(out, layout);
  for (const Arrow& arrow : layout.chart->arrows) pen.draw(arrow);
  for (const Arrow& arrow : layout.chart->arrows) pen.label(arrow);
}

}  // namespace muster::apps::drawing
