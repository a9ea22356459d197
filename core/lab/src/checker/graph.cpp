#include "graph.hpp"

#include "trace.hpp"

#include <muster/values/ensure.hpp>

#include <algorithm>
#include <chrono>

namespace muster::lab::explored {

std::uint64_t Graph::memory() const {
  return ids_.memory() + values_.memory() + mover_.memory() + fingerprints_.capacity() * 8 +
         from_.capacity() * 4 + successors_.capacity() * 6 + ends_.capacity() * 8;
}

bool Graph::limited(const Progress& progress) const {
  const Bounds& bounds = values_.bounds;
  return (bounds.limit_states > 0 && progress.states >= bounds.limit_states) ||
         (bounds.limit_memory > 0 && progress.memory >= bounds.limit_memory);
}

void Graph::run(CheckReport& report, const std::function<void(const Progress&)>& tell) {
  const auto began = std::chrono::steady_clock::now();
  const std::size_t nodes = values_.bounds.nodes;
  Progress& progress = report.progress;
  Worlds now(nodes);
  CheckedWorld world = mover_.first();
  now.push(world);
  fingerprints_.push_back(fingerprint(world, nodes));
  ids_.insert(fingerprints_.front(), 0);
  from_.push_back(0);
  settled_.push_back(mover_.settled(world));
  progress.states = 1;
  Id id = 0;
  while (!now.empty()) {
    Worlds next(nodes);
    while (now.next(world)) {
      report.interrupted = interrupted_ && interrupted_();
      if (report.interrupted || limited(progress)) return find_wedged_before_the_limit(report);
      look_from(world, id++, next, report);
      if (report.counterexample && !values_.bounds.liveness) return;
    }
    now = std::move(next);
    if (!now.empty()) ++progress.depth;
    report.cut = mover_.cut();
    progress.memory = std::max(progress.memory, memory() + now.memory());
    progress.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    tell(progress);
  }
  report.ended = true;
  report.never = never_came_about(values_, mover_.came_about());
  if (!values_.bounds.liveness) return;
  find_wedged(report);
  // For the Invitation no cycle is searched: the waits that keep coordinators from inviting each
  // other for ever are times, which the checker does not have.
  if (report.wedged->worlds == 0 && !values_.of_groups) find_cycle(report);
}

namespace {

// Calls to one node are one kind, and so are the letters of one queue.
Kind kind_of(const Label& label) {
  constexpr std::size_t ops = static_cast<std::size_t>(Op::restore) + 1;
  constexpr std::size_t most = std::max(most_nodes, timers);
  static_assert((ops + 2) * most_nodes * most <= most_kinds);
  const std::size_t lost = label.what == Label::What::tick ? ops + 1 : ops;
  const std::size_t what =
      label.what == Label::What::op ? static_cast<std::size_t>(label.op) : lost;
  const std::size_t which = label.op == Op::expire ? label.index : label.peer;
  return static_cast<Kind>((what * most_nodes + label.node) * most + which);
}

}  // namespace

void Graph::look_from(const CheckedWorld& world, Id from, Worlds& next, CheckReport& report) {
  mover_.labels(world, labels_);
  bool cut = false;
  for (const Label& label : labels_) {
    CheckedWorld after = world;
    std::uint32_t wrong = 0;
    ++report.progress.transitions;
    if (!mover_.move(after, label, wrong)) {
      cut = true;
      continue;
    }
    const std::uint64_t reached = fingerprint(after, values_.bounds.nodes);
    const Id* known = ids_.find(reached);
    auto judged = wrong ? std::optional(values_.wrong(wrong)) : std::nullopt;
    if (!judged && !known) judged = mover_.judge(after);
    if (judged && !report.counterexample) {
      auto way = way_to(from);
      way.push_back(reached);
      auto [story, told] = tell_story(values_.bounds, path_to(way));
      // Reports the violation with the true numbers, because the story contains true numbers too.
      if (told && told->assertion == judged->assertion)
        judged = std::move(told);
      else
        story.lines.emplace_back("DIFFERENT with the true numbers: this is a fault of the checker");
      report.counterexample =
          Counterexample{judged->assertion, judged->disagreement, std::move(story)};
      if (!values_.bounds.liveness) return;
    }
    const Id id = known ? *known : static_cast<Id>(from_.size());
    if (!known) {
      ids_.insert(reached, id);
      fingerprints_.push_back(reached);
      from_.push_back(from);
      settled_.push_back(values_.bounds.liveness && mover_.settled(after));
      next.push(after);
      ++report.progress.states;
    }
    if (!values_.bounds.liveness || mover_.disturbs(world, label)) continue;
    successors_.push_back(id);
    kinds_.push_back(kind_of(label));
  }
  if (!values_.bounds.liveness) return;
  ends_.push_back(successors_.size());
  unknown_.push_back(cut);
}

std::vector<std::uint64_t> Graph::way_to(Id id) const {
  std::vector<std::uint64_t> way = {fingerprints_[id]};
  while (id != 0) {
    id = from_[id];
    way.push_back(fingerprints_[id]);
  }
  std::reverse(way.begin(), way.end());
  return way;
}

// The moves of a way that is known by its fingerprints.
std::vector<Label> Graph::path_to(std::vector<std::uint64_t> way) {
  CheckedWorld world = mover_.first();
  std::vector<Label> path;
  std::vector<Label> labels;
  for (std::size_t step = 1; step < way.size(); ++step) {
    mover_.labels(world, labels);
    for (const Label& label : labels) {
      CheckedWorld after = world;
      std::uint32_t wrong = 0;
      if (!mover_.move(after, label, wrong)) continue;
      if (fingerprint(after, values_.bounds.nodes) != way[step]) continue;
      world = after;
      path.push_back(label);
      break;
    }
    MUSTER_ENSURE(path.size() == step);
  }
  return path;
}

// Goes backwards from the worlds of Assertion 2. A world with a successor that was not searched
// counts as a world that reaches one of them.
void Graph::find_wedged(CheckReport& report) {
  const std::size_t size = from_.size();
  std::vector<std::uint64_t> begins(size + 2);
  for (const Id to : successors_) ++begins[to + 2];
  for (std::size_t i = 2; i < begins.size(); ++i) begins[i] += begins[i - 1];
  std::vector<Id> predecessors(successors_.size());
  for (std::size_t id = 0; id < size; ++id)
    for (std::uint64_t k = id == 0 ? 0 : ends_[id - 1]; k < ends_[id]; ++k)
      predecessors[begins[successors_[k] + 1]++] = static_cast<Id>(id);
  std::vector<bool> reaches(size);
  std::vector<Id> open;
  for (std::size_t id = 0; id < size; ++id) {
    if (!settled_[id] && !unknown_[id]) continue;
    reaches[id] = true;
    open.push_back(static_cast<Id>(id));
  }
  while (!open.empty()) {
    const Id id = open.back();
    open.pop_back();
    for (std::uint64_t k = begins[id]; k < begins[id + 1]; ++k) {
      const Id before = predecessors[k];
      if (reaches[before]) continue;
      reaches[before] = true;
      open.push_back(before);
    }
  }
  Wedged wedged;
  wedged.worlds = static_cast<std::uint64_t>(std::count(reaches.begin(), reaches.end(), false));
  if (wedged.worlds > 0) {
    const auto nearest = std::find(reaches.begin(), reaches.end(), false) - reaches.begin();
    wedged.story = tell_story(values_.bounds, path_to(way_to(static_cast<Id>(nearest)))).story;
  }
  report.wedged = std::move(wedged);
}

// A world is unknown if its successors were not searched. If there are unknown worlds and no wedged
// world is found, there may still be one.
void Graph::find_wedged_before_the_limit(CheckReport& report) {
  if (!values_.bounds.liveness) return;
  ends_.resize(from_.size(), successors_.size());
  unknown_.resize(from_.size(), true);
  find_wedged(report);
  if (report.wedged->worlds == 0) report.wedged.reset();
}

// Searches for a fair cycle on which Assertion 2 does not hold.
void Graph::find_cycle(CheckReport& report) {
  const Transitions transitions{successors_, kinds_, ends_};
  const std::vector<Id> worlds = fair_cycle(transitions, settled_, unknown_);
  report.avoids = Avoids{worlds.size(), std::nullopt, 0};
  if (worlds.empty()) return;
  std::vector<std::uint64_t> way = way_to(worlds.front());
  const std::size_t before = way.size() - 1;
  for (const Id id : way_round(transitions, worlds)) way.push_back(fingerprints_[id]);
  report.avoids->story = tell_story(values_.bounds, path_to(way)).story;
  report.avoids->round = way.size() - 1 - before;
}

}  // namespace muster::lab::explored
