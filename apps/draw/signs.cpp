#include "apps/draw/signs.hpp"

#include "apps/base/text.hpp"
#include "apps/draw/pen.hpp"
#include "apps/draw/words.hpp"

#include <muster/values/text.hpp>

namespace muster::apps::drawing {
namespace {

constexpr int between_badges = 340;
constexpr std::size_t characters_of_remark = 28;  ///< its tooltip has all of it
constexpr int hook_x = 17;                        ///< left of a lane's middle
constexpr int hook_width = 6;

class SignPen {
 public:
  SignPen(std::string& out, const Layout& layout)
      : out_(out), layout_(layout), chart_(*layout.chart) {}

  void append_axis() {
    append_path(out_, "axis", {"M", layout_.axis, layout_.head, "V", layout_.bottom});
    for (const Layout::Tick& tick : layout_.ticks) {
      append_path(out_, "axis", {"M", layout_.axis - 4, tick.y, "H", layout_.axis});
      text_at(out_, "time", layout_.axis - 7, tick.y + 4).text(time_words(tick.t));
    }
  }

  void append_breaks() {
    for (const Layout::Break& broken : layout_.breaks) {
      break_at(layout_.axis, broken.y, 5);
      for (NodeId node : chart_.nodes) break_at(layout_.x_of(node), broken.y, half_band + 2);
      text_at(out_, "break-time", layout_.axis - 8, broken.y + 4)
          .text(time_words(broken.length), "nothing happens for this long");
    }
  }

  void append_lanes() {
    for (NodeId node : chart_.nodes)
      append_path(out_, "lane", {"M", layout_.x_of(node), layout_.head, "V", layout_.bottom});
    for (const Phase& phase : chart_.phases) band(phase);
    for (const Pause& pause : chart_.pauses) {
      const int from = layout_.y_at(pause.from);
      Tag(out_, "rect")
          .with("class", "paused")
          .with("x", layout_.x_of(pause.node) - half_band)
          .with("y", from)
          .with("width", 2 * half_band)
          .with("height", std::max(layout_.y_at(pause.to) - from, 2))
          .title("paused, which counts as a failure (assumption 9)");
    }
    for (const Work& work : chart_.works) {
      const int x = layout_.x_of(work.node) + half_band + 3;
      Tag(out_, "path")
          .with("class", "work")
          .with("d", path({"M", x, layout_.y_of(work.from), "V", layout_.y_of(work.to)}))
          .title("works for group " + to_text(work.group));
    }
  }

  void append_hooks() {
    for (const HookBar& hook : chart_.hooks) {
      const int x = layout_.x_of(hook.node) - hook_x;
      const int from = layout_.y_of(hook.from);
      const int height = std::max(layout_.y_of(hook.to) - from, 3);
      const std::string name = to_text(hook.hook);
      const std::string what =
          name + (hook.group ? " of group " + to_text(*hook.group) : std::string());
      Tag(out_, "rect")
          .with("class", "hook " + name)
          .with("data-node", hook.node.value)
          .with("x", x)
          .with("y", from)
          .with("width", hook_width)
          .with("height", height)
          .title(what);
      if (hook.how != HookEnd::ended) {
        const int end = from + height;
        append_path(out_, "hook-fails",
                    {"M", x - 2, end - 5, "l", 10, 10, "m", 0, -10, "l", -10, 10});
      }
    }
    for (const HookBar& hook : chart_.hooks)
      if (hook.from.at)
        text_at(out_, "sign", layout_.x_of(hook.node) - hook_x - 3, layout_.y_of(hook.from) + 7)
            .text(to_text(hook.hook) + (hook.how == HookEnd::failed ? " fails" : ""));
  }

  void append_moments() {
    for (Index i = 0; i < chart_.moments.size(); ++i) {
      const Moment& moment = chart_.moments[i];
      std::visit([&](const auto& line) { sign(line, moment, i); }, moment.line);
    }
  }

 private:
  void break_at(int x, int y, int half) {
    append_path(out_, "break",
                {"M", x - half, y - 1, "l", half, -4, "l", half, 4, "v", 6, "l", -half, -4, "l",
                 -half, 4, "z"});
  }

  void band(const Phase& phase) {
    const int x = layout_.x_of(phase.node);
    const int from = layout_.y_of(phase.from);
    const int height = std::max(layout_.y_of(phase.to) - from, 2);
    const std::string status = to_text(phase.view.status);
    const auto rectangle = [&](const std::string& of_class) {
      Tag tag(out_, "rect");
      tag.with("class", of_class)
          .with("x", x - half_band)
          .with("y", from)
          .with("width", 2 * half_band)
          .with("height", height);
      return tag;
    };
    rectangle("band " + status)
        .with("data-node", phase.node.value)
        .with("data-status", status)
        .title(view_words(phase.view));
    if (phase.view.status == Status::Election) rectangle("stripes").close();
    if (phase.view.status == Status::Reorganization) rectangle("dots").close();
    badges_.push_back({x, from, height, status, view_words(phase.view)});
  }

 public:
  // Draws the badges. Call this after the arrows are drawn, which would hide them.
  void append_badges() {
    for (const Badge& badge : badges_) {
      if (badge.height < 9) continue;
      for (int down = 0; down == 0 || down + 60 < badge.height; down += between_badges)
        append_badge(badge, badge.y + down, badge.height - down);
    }
  }

 private:
  struct Badge {
    int x{};
    int y{};
    int height{};
    std::string status;
    std::string words;
  };

  void append_badge(const Badge& badge, int y, int room) {
    const int middle = y + std::min(room / 2, 9);
    Tag(out_, "circle")
        .with("class", "badge")
        .with("cx", badge.x)
        .with("cy", middle)
        .with("r", 7)
        .title(badge.words);
    text_at(out_, "letter", badge.x, middle + 4).text(badge.status.substr(0, 1));
    const std::string rest =
        badge.words.size() > badge.status.size() ? badge.words.substr(badge.status.size() + 1) : "";
    if (rest.empty() || room < 26 + 6 * static_cast<int>(rest.size())) return;
    Tag(out_, "text")
        .with("class", "in-band")
        .with("transform", "translate(" + std::to_string(badge.x - 4) + ' ' +
                               std::to_string(middle + 12) + ") rotate(90)")
        .text(rest);
  }

  void step_sign(const Moment& moment, Index i, int y) {
    Tag(out_, "circle")
        .with("class", "step")
        .with("data-moment", i)
        .with("cx", layout_.x_of(*moment.node))
        .with("cy", y)
        .with("r", 2)
        .title(words(moment));
  }

  void sign(const journal::Step& line, const Moment& moment, Index i) {
    const int y = layout_.y[i];
    step_sign(moment, i, y);
    const std::string text = short_words(line.event);
    if (!text.empty())
      text_at(out_, "sign", layout_.x_of(*moment.node) - half_band - 3, y + 4).text(text);
  }

  void sign(const journal::Performed&, const Moment& moment, Index i) {
    const int x = layout_.x_of(*moment.node) + half_band + 1;
    Tag(out_, "path")
        .with("class", "save")
        .with("data-moment", i)
        .with("d", path({"M", x, layout_.y[i], "h", 7}))
        .title(words(moment));
  }

  void sign(const journal::HookEdge&, const Moment&, Index) {}  // drawn as bars

  void sign(const journal::Permits& line, const Moment& moment, Index i) {
    const int x = layout_.x_of(*moment.node) + half_band + 8;
    Tag(out_, "path")
        .with("class", "permits " + to_text(line.edge))
        .with("data-moment", i)
        .with("d", path({"M", x - 4, layout_.y[i] - 3, "h", 8, "l", -4, 7, "z"}))
        .title(words(moment));
  }

  void sign(const journal::Header& line, const Moment& moment, Index i) {
    const int x = layout_.x_of(*moment.node);
    const int y = layout_.y[i];
    Tag(out_, "path")
        .with("class", "birth")
        .with("data-moment", i)
        .with("d", path({"M", x - half_band, y, "h", 2 * half_band, "l", -half_band, -8, "z"}))
        .title(words(moment));
    text_at(out_, "sign strong", x - half_band - 3, y + 2)
        .text("life " + to_text(line.incarnation));
  }

  void sign(const journal::Gap&, const Moment& moment, Index i) {
    const int x = layout_.x_of(*moment.node);
    Tag(out_, "path")
        .with("class", "gap")
        .with("data-moment", i)
        .with("d", path({"M", x - half_band - 2, layout_.y[i], "h", 2 * half_band + 4}))
        .title(words(moment));
  }

  void sign(const journal::Remark& line, const Moment& moment, Index i) {
    step_sign(moment, i, layout_.y[i]);
    const bool is_broken = line.kind == journal::RemarkKind::broken;
    Tag(out_, "text")
        .with("class", is_broken ? "sign strong" : "sign noted")
        .with("x", layout_.x_of(*moment.node) - half_band - 5)
        .with("y", layout_.y[i] + 4)
        .text(remark_words(line, characters_of_remark), words(moment));
  }

  void sign(const journal::Finding&, const Moment&, Index) {}  // in the margin

  void sign(const journal::Ended& line, const Moment& moment, Index i) {
    over(*moment.node, i, words(moment));
    text_at(out_, "sign strong", layout_.x_of(*moment.node) - half_band - 5, layout_.y[i] + 4)
        .text("ends, code " + std::to_string(line.code));
  }

  void sign(const journal::Fault& line, const Moment& moment, Index i) {
    for (NodeId node : moment.over)
      if (!moment.node || node == *moment.node) over(node, i, words(moment));
    if (!moment.node || line.from) return;  // in the margin
    text_at(out_, "sign strong", layout_.x_of(*moment.node) - half_band - 5, layout_.y[i] + 4)
        .text(fault_words(line));
  }

  void over(NodeId node, Index i, const std::string& title) {
    const int x = layout_.x_of(node) - 7;
    Tag(out_, "path")
        .with("class", "over")
        .with("data-moment", i)
        .with("d", path({"M", x, layout_.y[i] - 7, "l", 14, 14, "m", 0, -14, "l", -14, 14}))
        .title(title);
  }

  std::string& out_;
  const Layout& layout_;
  const Chart& chart_;
  std::vector<Badge> badges_;
};

}  // namespace

void append_signs(std::string& out, const Layout& layout) {
  SignPen pen(out, layout);
  pen.append_axis();
  pen.append_lanes();
  pen.append_breaks();
  append_arrows(out, layout);
  pen.append_hooks();
  pen.append_badges();
  pen.append_moments();
  append_notes(out, layout);
}

}  // namespace muster::apps::drawing
