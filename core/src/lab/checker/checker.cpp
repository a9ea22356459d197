#include "world.hpp"

#include <muster/lab/checker.hpp>
#include <muster/text.hpp>

#include <algorithm>
#include <chrono>

namespace muster::lab {

namespace {

std::uint64_t fingerprint(const World& world, std::size_t nodes) {
  std::uint64_t hash = 0x27D4EB2F165667C5;
  const auto add = [&](std::uint64_t word) {
    hash = (hash ^ word) * 0x9E3779B185EBCA87;
    hash ^= hash >> 32;
  };
  for (std::size_t i = 0; i < nodes; ++i) add(world.node[i]);
  add(world.left);
  for (std::size_t i = 0; i < nodes * nodes; ++i) add(world.length[i]);
  for (std::size_t i = 0; i < world.items; ++i) add(world.item[i]);
  return hash == 0 ? 1 : hash;
}

/// Worlds one after the other, each in as few words as it needs.
class Frontier {
 public:
  explicit Frontier(std::size_t nodes) : nodes_(nodes) {}
  void push(const World& world) {
    words_.insert(words_.end(), world.node.begin(), world.node.begin() + nodes_);
    words_.push_back(world.left);
    std::uint32_t packed = 0;
    for (std::size_t i = 0; i < nodes_ * nodes_; ++i) {
      packed |= std::uint32_t{world.length[i]} << i % 8 * 4;
      if (i % 8 == 7 || i + 1 == nodes_ * nodes_) words_.push_back(std::exchange(packed, 0));
    }
    words_.insert(words_.end(), world.item.begin(), world.item.begin() + world.items);
    ++size_;
  }
  bool next(World& world) {
    if (at_ == words_.size()) return false;
    for (std::size_t i = 0; i < nodes_; ++i) world.node[i] = words_[at_++];
    world.left = words_[at_++];
    world.items = 0;
    for (std::size_t i = 0; i < nodes_ * nodes_; ++i) {
      world.length[i] = words_[at_ + i / 8] >> i % 8 * 4 & 15;
      world.items = static_cast<std::uint8_t>(world.items + world.length[i]);
    }
    at_ += (nodes_ * nodes_ + 7) / 8;
    for (std::size_t i = 0; i < world.items; ++i) world.item[i] = words_[at_++];
    return true;
  }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::uint64_t memory() const { return words_.capacity() * 4; }

 private:
  std::size_t nodes_;
  std::vector<std::uint32_t> words_;
  std::size_t at_ = 0;
  std::uint64_t size_ = 0;
};

/// Which worlds were reached, by fingerprints; with `from`, from which one each was reached first.
class Search {
 public:
  Search(Values& values, bool remember) : values_(values), mover_(values), remember_(remember) {}

  struct Found {
    Wrong wrong;
    std::uint64_t world = 0;  ///< its fingerprint
    std::uint64_t from = 0;
  };

  std::optional<Found> run(CheckReport& report, const std::function<void(const Progress&)>& tell);
  std::vector<Label> path_to(const Found& found);
  Mover& mover() { return mover_; }

 private:
  bool is_new(std::uint64_t world, std::uint64_t from) {
    if (remember_) {
      if (remembered_.find(world)) return false;
      remembered_.insert(world, from);
      return true;
    }
    return seen_.insert(world);
  }
  [[nodiscard]] bool limited(const CheckReport& report) const {
    const Bounds& bounds = values_.bounds;
    return (bounds.limit_states > 0 && report.progress.states >= bounds.limit_states) ||
           (bounds.limit_memory > 0 && report.memory >= bounds.limit_memory);
  }

  Values& values_;
  Mover mover_;
  bool remember_;
  Memo<std::uint64_t> remembered_;
  Fingerprints seen_;
};

std::optional<Search::Found> Search::run(CheckReport& report,
                                         const std::function<void(const Progress&)>& tell) {
  const std::size_t nodes = values_.bounds.nodes;
  auto now = Frontier(nodes);
  World world = mover_.first();
  now.push(world);
  is_new(fingerprint(world, nodes), 0);
  report.progress.states = 1;
  std::vector<Label> labels;
  while (now.size() > 0) {
    auto next = Frontier(nodes);
    while (now.next(world)) {
      if (limited(report)) return std::nullopt;
      mover_.labels(world, labels);
      const std::uint64_t from = fingerprint(world, nodes);
      for (const Label& label : labels) {
        World after = world;
        std::uint32_t wrong = 0;
        ++report.progress.transitions;
        if (!mover_.move(after, label, wrong)) continue;
        const std::uint64_t reached = fingerprint(after, nodes);
        if (wrong) return Found{values_.wrong(wrong), reached, from};
        if (!is_new(reached, from)) continue;
        ++report.progress.states;
        if (auto judged = mover_.judge(after)) return Found{*judged, reached, from};
        next.push(after);
      }
    }
    report.memory = std::max(report.memory, seen_.memory() + values_.memory() + now.memory() +
                                                next.memory() + mover_.memory());
    now = std::move(next);
    ++report.progress.depth;
    tell(report.progress);
  }
  report.exhausted = true;
  return std::nullopt;
}

// The same way again, forwards, by the fingerprints that lie on it.
std::vector<Label> Search::path_to(const Found& found) {
  std::vector<std::uint64_t> way = {found.world};
  for (std::uint64_t at = found.from; at != 0; at = *remembered_.find(at)) way.push_back(at);
  std::reverse(way.begin(), way.end());
  World world = mover_.first();
  std::vector<Label> path;
  std::vector<Label> labels;
  for (std::size_t step = 1; step < way.size(); ++step) {
    mover_.labels(world, labels);
    for (const Label& label : labels) {
      World after = world;
      std::uint32_t wrong = 0;
      if (!mover_.move(after, label, wrong)) continue;
      if (fingerprint(after, values_.bounds.nodes) != way[step]) continue;
      world = after;
      path.push_back(label);
      break;
    }
  }
  return path;
}

std::vector<std::string> tell_story(Mover& mover, const Values& values,
                                    const std::vector<Label>& path) {
  static constexpr const char* words[] = {"takes",   "expires", "hook ends", "hook fails",
                                          "silence", "refused", "recovers",  "fails",
                                          "pauses",  "resumes", "leaves",    "meets"};
  World world = mover.first();
  std::vector<std::string> story;
  for (const Label& label : path) {
    std::string line = std::to_string(label.node + 1) + ' ';
    if (label.what == Label::What::op) {
      line += words[static_cast<std::size_t>(label.op)];
      if (label.op == Op::expire) line += ' ' + to_text(static_cast<Timer>(label.index));
      if (label.op == Op::silence || label.op == Op::refuse)
        line += " by " + std::to_string(label.peer + 1);
    } else {
      line += label.what == Label::What::duplicate ? "takes, and it stays:" : "never gets";
    }
    if (label.op == Op::take) {
      std::size_t at = label.index;
      const std::size_t nodes = values.bounds.nodes;
      for (std::size_t q = 0; q < label.node * nodes + label.peer; ++q) at += world.length[q];
      line +=
          " from " + std::to_string(label.peer + 1) + ": " + to_text(values.item(world.item[at]));
    }
    std::uint32_t wrong = 0;
    mover.move(world, label, wrong);
    for (const Standing& node : mover.standings(world)) {
      line += " | " + to_text(node.node) + ' ' + (node.up ? to_text(node.status) : "down");
      if (node.coordinator) line += " c=" + to_text(*node.coordinator);
    }
    story.push_back(std::move(line));
  }
  return story;
}

}  // namespace

CheckReport check(const Bounds& bounds, const std::function<void(const Progress&)>& progress) {
  const auto began = std::chrono::steady_clock::now();
  CheckReport report;
  Values values(bounds);
  std::optional<Search::Found> found;
  {
    Search search(values, false);
    found = search.run(report, progress);
    report.cut = search.mover().cut();
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
  report.seconds = taken.count();
  if (!found) return report;
  Search again(values, true);
  CheckReport repeated;
  const auto same = again.run(repeated, [](const Progress&) {});
  if (!same) return report;
  const auto path = again.path_to(*same);
  // Told with the true numbers: what the canonical form invented would not happen here.
  Bounds exact = bounds;
  exact.canonical = false;
  Values exact_values(exact);
  Mover mover(exact_values);
  report.counterexample = Counterexample{same->wrong.assertion, same->wrong.disagreement,
                                         tell_story(mover, exact_values, path)};
  return report;
}

}  // namespace muster::lab
