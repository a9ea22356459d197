#include "apps/draw/pen.hpp"
#include "apps/draw/signs.hpp"
#include "apps/draw/words.hpp"

#include <muster/values/text.hpp>

#include <algorithm>

namespace muster::apps::drawing {
namespace {

constexpr std::size_t characters = 28;  ///< in a line of the margin
constexpr int line_height = 13;

/// Wraps text into lines that fit into the margin.
std::vector<std::string> wrapped(const std::string& text) {
  std::vector<std::string> lines{""};
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > characters)
      lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
    begin = end + 1;
  }
  return lines;
}

class NotePen {
 public:
  NotePen(std::string& out, const Layout& layout)
      : out_(out), layout_(layout), chart_(*layout.chart), free_(layout.head) {}

  /// Draws all notes. Returns the y at which they end.
  int append() {
    append_not_claimed();
    for (Index i = 0; i < chart_.moments.size(); ++i) {
      if (const auto* fault = std::get_if<journal::Fault>(&chart_.moments[i].line))
        append_fault(*fault, i);
      for (const Violation& violation : chart_.violations)
        if (violation.at == i) append_violation(violation);
    }
    return free_;
  }

 private:
  // Draws a cut, or a fault of all nodes.
  void append_fault(const journal::Fault& fault, Index i) {
    if (fault.node && !fault.from) return;
    const int y = layout_.y[i];
    append_path(out_, "fault-line", {"M", layout_.axis, y, "H", layout_.notes});
    const std::string all = fault.node ? "" : " (all nodes)";
    note("note", fault_words(fault) + all, y);
  }

  void append_violation(const Violation& violation) {
    const int y = layout_.y[violation.at];
    int left = layout_.notes;
    for (NodeId node : violation.verdict.disagreement.nodes) {
      if (std::find(chart_.nodes.begin(), chart_.nodes.end(), node) == chart_.nodes.end()) continue;
      left = std::min(left, layout_.x_of(node));
    }
    append_path(out_, "violation-line", {"M", left, y, "H", layout_.notes});
    for (NodeId node : violation.verdict.disagreement.nodes)
      if (std::find(chart_.nodes.begin(), chart_.nodes.end(), node) != chart_.nodes.end())
        append_mark(violation, layout_.x_of(node), y);
    note("note violated",
         violation.verdict.assertion + " is violated: " + violation.verdict.disagreement.why, y);
  }

  void append_mark(const Violation& violation, int x, int y) {
    Tag(out_, "path")
        .with("class", "violation")
        .with("data-assertion", violation.verdict.assertion)
        .with("data-moment", violation.at)
        .with("d", path({"M", x, y - 12, "l", 12, 12, "l", -12, 12, "l", -12, -12, "z"}))
        .title(violation.verdict.assertion + " is violated: " + violation.verdict.disagreement.why);
    text_at(out_, "violation-mark", x, y + 4).text("!");
  }

  // Assertions that are not claimed for the same reason at the same time share a bracket.
  void append_not_claimed() {
    const auto& all = chart_.not_claimed;
    for (std::size_t i = 0; i < all.size();) {
      std::size_t end = i;
      std::string names;
      for (; end < all.size() && all[end].why == all[i].why && all[end].from == all[i].from; ++end)
        names += ' ' + all[end].assertion;
      const int x = layout_.notes + 2;
      Tag(out_, "path")
          .with("class", "not-claimed")
          .with("d", path({"M", x, layout_.y_at(all[i].from), "V", layout_.y_at(all[i].to)}))
          .title("not claimed here:" + names + ": " + all[i].why);
      i = end;
    }
  }

  // Writes a note at `y`, or lower if another note is there.
  void note(const char* of_class, const std::string& text, int y) {
    int at = std::max(y + 4, free_ + line_height);
    const int x = layout_.notes + 10;
    if (at > y + 4) append_path(out_, "axis", {"M", layout_.notes, y, "L", x - 2, at - 4});
    for (const std::string& line : wrapped(text)) {
      text_at(out_, of_class, x, at).text(line);
      at += line_height;
    }
    free_ = at - line_height + 4;
  }

  std::string& out_;
  const Layout& layout_;
  const Chart& chart_;
  int free_;  ///< y at which the notes end so far
};

}  // namespace

void append_notes(std::string& out, const Layout& layout) {
  NotePen(out, layout).append();
}

int end_of_notes(const Layout& layout) {
  std::string nowhere;
  return NotePen(nowhere, layout).append();
}

}  // namespace muster::apps::drawing
