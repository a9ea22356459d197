#include "fairness.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace muster::lab::explored {

namespace {

using Id = std::uint32_t;

/// Tarjan's algorithm for strongly connected components, without recursion.
class Parts {
 public:
  Parts(const Transitions& graph, const std::vector<bool>& avoided)
      : graph_(graph), avoided_(avoided), index_(avoided.size()), low_(avoided.size()) {}

  template <class Part>
  void each(Part&& part) {
    for (Id root = 0; root < avoided_.size(); ++root)
      if (!avoided_[root] && index_[root] == 0) search(root, part);
  }

 private:
  static constexpr Id done = 0xFFFFFFFF;
  struct Open {
    Id world;
    std::uint64_t next;
  };

  void enter(Id world) {
    index_[world] = low_[world] = ++count_;
    stack_.push_back(world);
    open_.push_back({world, graph_.begin_of(world)});
  }

  template <class Part>
  void search(Id root, Part&& part) {
    enter(root);
    while (!open_.empty()) {
      Open& at = open_.back();
      if (at.next < graph_.ends[at.world]) {
        const Id to = graph_.successors[at.next++];
        if (avoided_[to] || index_[to] == done) continue;
        if (index_[to] == 0)
          enter(to);
        else
          low_[at.world] = std::min(low_[at.world], index_[to]);
        continue;
      }
      const Id world = at.world;
      open_.pop_back();
      if (!open_.empty())
        low_[open_.back().world] = std::min(low_[open_.back().world], low_[world]);
      if (low_[world] != index_[world]) continue;
      const auto first = std::find(stack_.rbegin(), stack_.rend(), world).base() - 1;
      const std::vector<Id> worlds(first, stack_.end());
      stack_.erase(first, stack_.end());
      for (const Id one : worlds) index_[one] = done;
      part(worlds);
    }
  }

  const Transitions& graph_;
  const std::vector<bool>& avoided_;
  std::vector<Id> index_, low_;
  std::vector<Id> stack_;
  std::vector<Open> open_;
  Id count_ = 0;
};

// Exact for weak fairness. If every kind of move is taken inside the component, or is impossible in
// some world of it, the cycle through all worlds is fair. If one kind of move is always possible
// and never taken, no cycle in the component is fair.
bool is_fair(const Transitions& graph, const std::vector<Id>& worlds) {
  const std::unordered_set<Id> inside(worlds.begin(), worlds.end());
  Kinds always;
  always.set();
  Kinds taken;
  for (const Id world : worlds) {
    Kinds possible;
    for (std::uint64_t k = graph.begin_of(world); k < graph.ends[world]; ++k) {
      possible.set(graph.kinds[k]);
      if (inside.contains(graph.successors[k])) taken.set(graph.kinds[k]);
    }
    always &= possible;
  }
  return taken.any() && (always & ~taken).none();
}

}  // namespace

std::vector<Id> fair_cycle(const Transitions& graph, const std::vector<bool>& avoided,
                           const std::vector<bool>& unknown) {
  std::vector<Id> nearest;
  const auto first_of = [](const std::vector<Id>& worlds) {
    return *std::min_element(worlds.begin(), worlds.end());
  };
  Parts(graph, avoided).each([&](const std::vector<Id>& worlds) {
    if (!nearest.empty() && first_of(worlds) > first_of(nearest)) return;
    if (std::any_of(worlds.begin(), worlds.end(), [&](Id world) { return unknown[world]; })) return;
    if (is_fair(graph, worlds)) nearest = worlds;
  });
  std::sort(nearest.begin(), nearest.end());
  return nearest;
}

std::vector<Id> way_round(const Transitions& graph, const std::vector<Id>& worlds) {
  const Id start = worlds.front();
  const std::unordered_set<Id> inside(worlds.begin(), worlds.end());
  std::unordered_map<Id, Id> from;
  std::vector<Id> open = {start};
  for (std::size_t at = 0; at < open.size(); ++at) {
    for (std::uint64_t k = graph.begin_of(open[at]); k < graph.ends[open[at]]; ++k) {
      const Id to = graph.successors[k];
      if (!inside.contains(to) || !from.emplace(to, open[at]).second) continue;
      if (to != start) {
        open.push_back(to);
        continue;
      }
      std::vector<Id> way = {start};
      for (Id id = from.at(start); id != start; id = from.at(id)) way.push_back(id);
      std::reverse(way.begin(), way.end());
      return way;
    }
  }
  return {};
}

}  // namespace muster::lab::explored
