#include "apps/draw/chart.hpp"

#include "apps/draw/letters.hpp"
#include "apps/journals/journals.hpp"

#include <algorithm>

namespace muster::apps::drawing {
namespace {

constexpr Duration never = Duration::max();

/// Makes a chart of lines that come in the order of their times.
class ChartMaker {
 public:
  explicit ChartMaker(const Window& window) : window_(window), letters_(chart_.arrows) {}

  void take(const journal::Line& line, Duration t) {
    if (!begun_) chart_.began = t;
    begun_ = true;
    now_ = {t, std::nullopt};
    line_ = &line;
    std::visit([this](const auto& kind) { take(kind); }, line);
  }

  /// The last line taken, if it is drawn.
  [[nodiscard]] std::optional<Index> now() const { return now_.at; }
  Chart& chart() { return chart_; }

  Chart finish() {
    letters_.finish();
    const Edge end{never, std::nullopt};
    for (auto& [id, node] : nodes_) {
      if (node.paused_since) pause(id, *node.paused_since, never);
      end_life(id, node, end);
    }
    join_pauses();
    const Duration from = begin_of_window();
    const Duration until = end_of_window();
    const auto outside = [&](const auto& span) { return span.to.t < from || span.from.t > until; };
    std::erase_if(chart_.phases, outside);
    std::erase_if(chart_.hooks, outside);
    std::erase_if(chart_.works, outside);
    std::erase_if(chart_.pauses, [&](const Pause& p) { return p.to < from || p.from > until; });
    std::erase_if(chart_.not_claimed,
                  [&](const verify::NotClaimed& n) { return n.to < from || n.from > until; });
    for (const auto& [id, node] : nodes_)
      if (is_drawn(id)) chart_.nodes.push_back(id);
    return std::move(chart_);
  }

 private:
  struct Node {
    Incarnation life;
    Config config;
    bool up = false;
    std::optional<Phase> phase;
    std::optional<HookBar> hook;
    std::optional<Work> work;
    std::optional<Duration> paused_since;
  };

  [[nodiscard]] Duration begin_of_window() const {
    return window_.from ? chart_.began + *window_.from : Duration::min();
  }
  [[nodiscard]] Duration end_of_window() const {
    return window_.until ? chart_.began + *window_.until : never;
  }
  [[nodiscard]] bool is_drawn(NodeId node) const {
    return window_.nodes.empty() ||
           std::find(window_.nodes.begin(), window_.nodes.end(), node.value) != window_.nodes.end();
  }

  void mark(std::optional<NodeId> node) {
    if (node && !is_drawn(*node)) return;
    if (now_.t < begin_of_window() || now_.t > end_of_window()) return;
    now_.at = chart_.moments.size();
    chart_.moments.push_back({now_.t, node, *line_, {}});
  }

  void take(const journal::Header& line) {
    for (NodeId node : line.config.nodes) nodes_[node];
    Node& node = nodes_[line.node];
    const bool goes_on = line.state.has_value() && node.life == line.incarnation;
    if (!goes_on && node.life.value > 0) end_life(line.node, node, now_);
    mark(line.node);
    node.config = line.config;
    node.life = line.incarnation;
    if (goes_on) return;
    node.up = true;
    if (!line.state) enter(line.node, node, View{});
  }

  void take(const journal::Step& line) {
    mark(line.stamp.node);
    const NodeId id = line.stamp.node;
    if (const auto* received = std::get_if<Received>(&line.event))
      if (is_drawn(received->letter.from) && is_drawn(id))
        letters_.received(received->letter, now_);
    for (const Action& action : line.actions) {
      const auto* send = std::get_if<Send>(&action);
      if (send && is_drawn(id) && is_drawn(send->letter.to)) letters_.sent(send->letter, now_);
    }
    Node& node = nodes_[id];
    if (!node.up || node.life != line.stamp.incarnation) return;
    enter(id, node, line.view);
    if (const auto* paused = std::get_if<Paused>(&line.event)) {
      pause(id, now_.t - paused->gap, now_.t);
      node.paused_since.reset();
    }
  }

  void take(const journal::Performed& line) { mark(line.stamp.node); }
  void take(const journal::Permits& line) { mark(line.stamp.node); }
  void take(const journal::Remark& line) { mark(line.stamp.node); }
  void take(const journal::Finding&) { mark(std::nullopt); }

  void take(const journal::HookEdge& line) {
    mark(line.stamp.node);
    const NodeId id = line.stamp.node;
    Node& node = nodes_[id];
    if (!node.up || node.life != line.stamp.incarnation) return;
    if (line.edge == journal::Edge::begin) {
      end_hook(node, now_, HookEnd::cut_off);
      node.hook = HookBar{id, line.hook, line.group, now_, {}, HookEnd::cut_off};
      if (line.hook == Hook::start && line.group) node.work = Work{id, *line.group, now_, {}};
      return;
    }
    const bool failed = line.edge == journal::Edge::failed;
    end_hook(node, now_, failed ? HookEnd::failed : HookEnd::ended);
    if (line.hook == Hook::stop) end_work(node, now_);
  }

  // The hooks that ran in the gap are not known. The node's state after the gap is known.
  void take(const journal::Gap& line) {
    mark(line.stamp.node);
    const NodeId id = line.stamp.node;
    Node& node = nodes_[id];
    if (!node.up || node.life != line.stamp.incarnation) return;
    enter(id, node, view(node.config, line.state));
    const Common& known = common(line.state);
    const bool works =
        known.application == Activity::Starting || known.application == Activity::Working;
    if (node.work && works && known.g == node.work->group) return;
    end_hook(node, now_, HookEnd::cut_off);
    end_work(node, now_);
    if (works && known.g) node.work = Work{id, *known.g, now_, {}};
  }

  void take(const journal::Ended& line) {
    mark(line.stamp.node);
    Node& node = nodes_[line.stamp.node];
    if (node.life == line.stamp.incarnation) life_is_over(line.stamp.node, node);
  }

  void take(const journal::Fault& line) {
    using enum journal::FaultKind;
    mark(line.node);
    for (auto& [id, node] : nodes_) {
      if (line.node && *line.node != id) continue;
      if (line.kind == killed || line.kind == power_cut || line.kind == ended)
        life_is_over(id, node);
      if (line.kind == paused && node.up) node.paused_since = now_.t;
      if (line.kind == resumed && node.paused_since)
        pause(id, *std::exchange(node.paused_since, std::nullopt), now_.t);
    }
  }

  void enter(NodeId id, Node& node, const View& view) {
    const auto same = [&](const View& was) {
      return was.status == view.status && was.coordinator == view.coordinator &&
             was.group == view.group;
    };
    if (now_.t < begin_of_window()) chart_.before[id] = view;
    if (node.phase && same(node.phase->view)) return;
    end_phase(node, now_);
    node.phase = Phase{id, view, now_, {}};
  }

  void life_is_over(NodeId id, Node& node) {
    if (!node.up) return;
    if (now_.at) chart_.moments[*now_.at].over.insert(id);
    end_life(id, node, now_);
  }

  void end_life(NodeId id, Node& node, const Edge& at) {
    end_hook(node, at, HookEnd::cut_off);
    end_work(node, at);
    end_phase(node, at);
    node.up = false;
    if (at.t < begin_of_window()) chart_.before.erase(id);
  }

  void end_phase(Node& node, const Edge& at) { end(node.phase, at, chart_.phases); }
  void end_work(Node& node, const Edge& at) { end(node.work, at, chart_.works); }
  void end_hook(Node& node, const Edge& at, HookEnd how) {
    if (node.hook) node.hook->how = how;
    end(node.hook, at, chart_.hooks);
  }

  template <class Span>
  void end(std::optional<Span>& span, const Edge& at, std::vector<Span>& ended) {
    if (span && is_drawn(span->node) && at.t >= begin_of_window()) {
      span->to = at;
      ended.push_back(*span);
    }
    span.reset();
  }

  void pause(NodeId id, Duration from, Duration to) {
    if (is_drawn(id)) chart_.pauses.push_back({id, from, to});
  }

  // Joins pauses that overlap: a pause can be in two journals, that of the process that paused the
  // node and that of the node.
  void join_pauses() {
    auto& all = chart_.pauses;
    std::sort(all.begin(), all.end(), [](const Pause& a, const Pause& b) {
      return std::tuple(a.node, a.from, a.to) < std::tuple(b.node, b.from, b.to);
    });
    std::vector<Pause> joined;
    for (const Pause& pause : all) {
      const bool overlaps =
          !joined.empty() && joined.back().node == pause.node && pause.from <= joined.back().to;
      if (overlaps)
        joined.back().to = std::max(joined.back().to, pause.to);
      else
        joined.push_back(pause);
    }
    all = std::move(joined);
  }

  const Window& window_;
  Chart chart_;
  LetterMatch letters_;
  bool begun_ = false;
  Edge now_;
  const journal::Line* line_ = nullptr;
  std::map<NodeId, Node> nodes_;
};

/// Passes all lines of the journals to `take`, in the order of their times. Skips lines that are
/// torn because a process was killed.
template <class Take>
Expected<> for_each_line(const std::vector<Segments>& journals, Take take) {
  MergedJournals lines(journals);
  RawLine raw;
  for (;;) {
    const auto more = lines.next(raw);
    if (!more) return more.error();
    if (!*more) return {};
    const auto line = journal::parse_line(raw.text);
    if (!line && raw.is_torn) continue;
    if (!line) return Failure{line.error().code, raw.place() + ": " + line.error().what};
    take(*line, raw);
  }
}

}  // namespace

Expected<Chart> read_chart(const std::vector<std::filesystem::path>& paths, const Window& window) {
  const auto journals = find_journals(paths);
  if (!journals) return journals.error();
  verify::Foreseer foreseer;
  const auto foreseen = for_each_line(
      *journals, [&](const journal::Line& line, const RawLine&) { foreseer.take(line); });
  if (!foreseen) return foreseen.error();

  ChartMaker maker(window);
  verify::Verifier verifier(
      foreseer.finish(),
      [&](const verify::NotClaimed& time) { maker.chart().not_claimed.push_back(time); },
      [&](const verify::Violated& violated) {
        if (const auto at = maker.now())
          maker.chart().violations.push_back({*at, violated});
        else
          ++maker.chart().violations_outside;
      });
  verifier.ask(window.assertions);
  std::string not_judged;
  const auto read = for_each_line(*journals, [&](const journal::Line& line, const RawLine& raw) {
    maker.take(line, raw.t);
    if (!not_judged.empty()) return;
    const auto taken = verifier.take(line, {raw.file->string(), raw.number});
    if (!taken) not_judged = raw.place() + ": " + taken.error().what;
  });
  if (!read) return read.error();
  std::string undecided;
  if (not_judged.empty()) undecided = verifier.finish().undecided;
  Chart chart = maker.finish();
  chart.not_judged = std::move(not_judged);
  chart.undecided = std::move(undecided);
  return chart;
}

}  // namespace muster::apps::drawing
