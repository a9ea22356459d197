#include "graph.hpp"
#include "trace.hpp"
#include "visited.hpp"

#include <muster/lab/checker.hpp>
#include <muster/values/text.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <stdexcept>
#include <thread>

namespace muster::lab::explored {

namespace {

/// A breadth-first search, level by level, by several threads.
class Search {
 public:
  Search(const Bounds& bounds, const std::function<bool()>& interrupted)
      : values_(bounds), interrupted_(interrupted) {
    for (unsigned i = 0; i < std::max(1u, bounds.threads); ++i) workers_.emplace_back(values_);
  }

  /// True if an assertion is violated.
  bool run(CheckReport& report, const std::function<void(const Progress&)>& tell);

 private:
  struct Successor {
    CheckedWorld world;
    std::uint32_t wrong = 0;
    std::uint64_t fingerprint = 0;
  };
  struct Worker {
    explicit Worker(Values& values) : mover(values) {}
    Mover mover;
    std::vector<Worlds> out;
    std::uint64_t states = 0, transitions = 0;
    std::vector<Label> labels;
    std::vector<Successor> successors;
  };

  void work_together(std::vector<Worlds>& level);
  void work(Worker& worker, std::vector<Worlds>& level);
  void look_from(Worker& worker, const CheckedWorld& world);
  void sum(CheckReport& report, const std::vector<Worlds>& level);
  [[nodiscard]] bool limited(std::uint64_t states) const {
    const Bounds& bounds = values_.bounds;
    return (bounds.limit_states > 0 && states >= bounds.limit_states) ||
           (bounds.limit_memory > 0 && memory_.load() >= bounds.limit_memory);
  }

  Values values_;
  const std::function<bool()>& interrupted_;
  std::deque<Worker> workers_;
  Visited visited_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<std::uint64_t> states_ = 1, memory_ = 0;
  std::atomic<bool> found_ = false, limited_ = false;
};

void Search::look_from(Worker& worker, const CheckedWorld& world) {
  const std::size_t nodes = values_.bounds.nodes;
  worker.mover.labels(world, worker.labels);
  worker.transitions += worker.labels.size();
  // Computes all successors together, in three rounds. Each round prefetches the memory that the
  // next round needs, because that memory is in no cache.
  worker.successors.clear();
  for (const Label& label : worker.labels) {
    Successor& after = worker.successors.emplace_back(Successor{world});
    if (!worker.mover.step(after.world, label, after.wrong)) worker.successors.pop_back();
  }
  for (Successor& after : worker.successors) {
    worker.mover.make_canonical(after.world);
    after.fingerprint = fingerprint(after.world, nodes);
    visited_.expect(after.fingerprint);
  }
  for (const Successor& after : worker.successors) {
    if (!after.wrong && !visited_.insert(after.fingerprint)) continue;
    ++worker.states;
    if (after.wrong || worker.mover.judge(after.world)) found_ = true;
    if (worker.out.empty() || worker.out.back().full()) worker.out.emplace_back(nodes);
    worker.out.back().push(after.world);
  }
}

void Search::work(Worker& worker, std::vector<Worlds>& level) {
  CheckedWorld world;
  for (std::size_t k = next_++; k < level.size() && !found_ && !limited_; k = next_++) {
    const std::uint64_t before = worker.states;
    while (!found_ && level[k].next(world)) look_from(worker, world);
    const std::uint64_t states = states_ += worker.states - before;
    if (limited(states) || (interrupted_ && interrupted_())) limited_ = true;
    level[k] = Worlds(values_.bounds.nodes);
  }
}

void Search::sum(CheckReport& report, const std::vector<Worlds>& level) {
  Progress& progress = report.progress;
  progress.states = 1;
  progress.transitions = report.cut = 0;
  std::uint64_t memory = visited_.memory() + values_.memory();
  for (const Worlds& worlds : level) memory += worlds.memory();
  for (const Worker& worker : workers_) {
    progress.states += worker.states;
    progress.transitions += worker.transitions;
    report.cut += worker.mover.cut();
    memory += worker.mover.memory();
  }
  progress.memory = std::max(progress.memory, memory);
  memory_ = memory;
}

// Runs all workers. An exception of one thread is rethrown to the caller.
void Search::work_together(std::vector<Worlds>& level) {
  next_ = 0;
  std::vector<std::exception_ptr> thrown(workers_.size());
  const auto guarded = [&](std::size_t i) {
    try {
      work(workers_[i], level);
    } catch (...) {
      thrown[i] = std::current_exception();
      limited_ = true;  // the others need not go on
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < workers_.size(); ++i) threads.emplace_back(guarded, i);
  guarded(0);
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& one : thrown)
    if (one) std::rethrow_exception(one);
}

bool Search::run(CheckReport& report, const std::function<void(const Progress&)>& tell) {
  const auto began = std::chrono::steady_clock::now();
  std::vector<Worlds> level(1, Worlds(values_.bounds.nodes));
  const CheckedWorld first = workers_.front().mover.first();
  visited_.insert(fingerprint(first, values_.bounds.nodes));
  level.front().push(first);
  while (!level.empty() && !found_ && !limited_) {
    work_together(level);
    level.clear();
    for (Worker& worker : workers_)
      for (Worlds& worlds : std::exchange(worker.out, {})) level.push_back(std::move(worlds));
    sum(report, level);
    if (!level.empty() && !limited_) ++report.progress.depth;
    report.progress.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    tell(report.progress);
  }
  report.ended = !limited_ && !found_;
  report.interrupted = interrupted_ && interrupted_();
  std::uint32_t came_about = 0;
  for (const Worker& worker : workers_) came_about |= worker.mover.came_about();
  report.never = never_came_about(values_, came_about);
  return found_;
}

}  // namespace

}  // namespace muster::lab::explored

namespace muster::lab {

namespace {

void ensure(bool well, const std::string& what) {
  if (!well) throw std::invalid_argument("lab::check: " + what);
}

void ensure_searchable(const Bounds& bounds) {
  ensure(
      bounds.nodes >= 1 && bounds.nodes <= 5,
      "Bounds::nodes is " + std::to_string(bounds.nodes) + "; the checker searches 1 to 5 nodes");
  for (NodeId node : bounds.start)
    ensure(node.value >= 1 && node.value <= bounds.nodes,
           "Bounds::start has node " + to_text(node) + "; the nodes are 1 to " +
               std::to_string(bounds.nodes));
  for (const auto& [i, j] : bounds.cuts)
    ensure(i.value >= 1 && i < j && j.value <= bounds.nodes,
           "Bounds::cuts has " + to_text(i) + "-" + to_text(j) +
               "; a pair is two of the nodes 1 to " + std::to_string(bounds.nodes) +
               ", the lower first");
  ensure(!leaves_no_parts(bounds) || !bounds.liveness,
         "Assertion 4 is only about nodes that all hear each other, but Bounds::cuts leaves nodes "
         "that hear each other only through others");
  const auto& known = assertions_about_worlds();
  for (const std::string& asked : bounds.assertions)
    ensure(std::find(known.begin(), known.end(), asked) != known.end(),
           "Bounds::assertions has '" + asked + "', which is not an assertion about single worlds");
}

}  // namespace

const std::vector<std::string>& assertions_about_worlds() {
  static const std::vector<std::string> all = {"1a",          "1b",          "3a",
                                               "3b",          "works-apart", "hook-grammar",
                                               "group-grows", "quorum",      "sound-state"};
  return all;
}

const std::vector<std::string>& assertions_about_runs() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> with_times = assertions_about_worlds();
    with_times.emplace_back("left-behind");
    return with_times;
  }();
  return all;
}

bool leaves_no_parts(const Bounds& bounds) {
  if (bounds.protocol != ProtocolName::invitation) return false;
  NodeSet nodes;
  for (std::uint32_t id = 1; id <= bounds.nodes; ++id) nodes.insert(NodeId{id});
  return !parts(nodes, bounds.cuts);
}

bool counters_are_safe(const Bounds& bounds) {
  return bounds.protocol == ProtocolName::invitation ? bounds.invitation_repairs.safe_counter
                                                     : stands(bounds.struck, Line::safe_counter);
}

bool keeps_counters(const Bounds& bounds) {
  const auto& asked = bounds.assertions;
  if (std::find(asked.begin(), asked.end(), "group-grows") != asked.end()) return true;
  if (bounds.counters || !counters_are_safe(bounds)) return true;
  if (bounds.options.calm > Duration::zero()) return true;  // counters decide the blame
  if (bounds.protocol == ProtocolName::invitation) return bounds.invitation_repairs.growing_numbers;
  return !bounds.repairs.tags && stands(bounds.struck, Line::counter_test);
}

bool leaves_out_counter_test(const Bounds& bounds) {
  return bounds.protocol == ProtocolName::bully && bounds.canonical && !keeps_counters(bounds) &&
         stands(bounds.struck, Line::counter_test);
}

std::vector<std::string> looked_at(const Bounds& bounds) {
  if (!bounds.assertions.empty()) return bounds.assertions;
  Config config;
  config.protocol = bounds.protocol;
  config.invitation_repairs = bounds.invitation_repairs;
  config.options = bounds.options;
  const Claims claims = claims_of(config);
  std::vector<std::string> all = claims.assertions;
  std::erase_if(all, [&](const std::string& name) {
    if (name == "2" || name == "4" || name == "durable" || name == "left-behind") return true;
    if (name == "group-grows" && !keeps_counters(bounds)) return true;
    if (bounds.cuts.empty()) return false;
    return name == "1a" || name == "1b" || (name == "works-apart" && !claims.in_cuts);
  });
  return all;
}

CheckReport check(const Bounds& asked, const std::function<void(const Progress&)>& progress,
                  const std::function<bool()>& interrupted) {
  ensure_searchable(asked);
  Bounds bounds = asked;
  bounds.counters = keeps_counters(asked);
  CheckReport report;
  if (bounds.liveness) {
    explored::Graph graph(bounds, interrupted);
    graph.run(report, progress);
    report.violated = report.counterexample.has_value();
    return report;
  }
  {
    explored::Search search(bounds, interrupted);
    report.violated = search.run(report, progress);
  }
  if (!report.violated) return report;
  // Searches again to find the way. The second search always finds the first of the shortest ways,
  // whichever way the threads of the first search have met. The limits are off, because the second
  // search ends where the first one ended.
  bounds.limit_states = bounds.limit_memory = 0;
  explored::Graph graph(bounds, interrupted);
  CheckReport again;
  again.progress.tracing = true;
  graph.run(again, progress);
  report.counterexample = std::move(again.counterexample);
  report.interrupted = again.interrupted;
  if (!report.counterexample && !again.interrupted)
    throw std::logic_error("lab::check: the way to a violation was not found again");
  return report;
}

}  // namespace muster::lab
