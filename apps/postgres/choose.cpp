#include "apps/postgres/choose.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace muster::postgres {

namespace {

using Freshness = std::pair<GroupNumber, Lsn>;

template <class Held>
Freshness freshness_of(const Held& held) {
  return {held.term.group, held.lsn};
}

Choice nobody(std::string why) {
  return {std::nullopt, {}, "nobody writes: " + std::move(why)};
}

std::string named(NodeId node) {
  return "node " + std::to_string(node.value);
}

/// What the reports of the nodes with data come to.
struct Count {
  std::map<NodeId, Holding> data;
  std::map<NodeId, Held> mending;
  std::map<std::uint64_t, NodeId> systems;  ///< with a node of each
};

Count counted(const Copies& copies, const std::map<NodeId, Evidence>& reports) {
  Count count;
  for (const auto& [node, evidence] : reports) {
    if (!copies.nodes.contains(node)) continue;
    if (const auto* holding = std::get_if<Holding>(&evidence)) {
      count.data.emplace(node, *holding);
      count.systems.emplace(holding->system, node);
    } else if (const auto* mending = std::get_if<Held>(&evidence)) {
      count.mending.emplace(node, *mending);
      count.systems.emplace(mending->system, node);
    }
  }
  return count;
}

// Equal numbers of two that have promoted from one timeline, and have died before their rows, are
// of different logs: so the timeline has to be the row's. And what a primary has reported is no
// bound: its sessions go on writing, and wait in vain.
bool is_prefix(const Holding& of, const Holding& primary, const Struck& struck) {
  return of.term == primary.term && of.timeline == primary.timeline && of.lsn <= primary.lsn &&
         (!of.primary || !stands(struck, Line::prefix_is_sealed)) &&
         (of.timeline == of.term.timeline || !stands(struck, Line::prefix_by_row));
}

}  // namespace

Choice choose(const Copies& copies, const std::map<NodeId, Evidence>& reports,
              std::optional<NodeId> present_primary, const Struck& struck) {
  const Count count = counted(copies, reports);
  const std::size_t counting = count.data.size() + count.mending.size();
  if (counting < copies.to_promote())
    return nobody(std::to_string(counting) + " of the " + std::to_string(copies.to_promote()) +
                  " nodes that it takes have data here");
  if (count.systems.size() > 1)
    return nobody(named(count.systems.begin()->second) + " and " +
                  named(count.systems.rbegin()->second) +
                  " have different databases, by their system identifiers");
  if (count.data.empty()) return nobody("of those that have data here none can be primary now");

  // A wish is over when somebody has written since.
  const auto is_heir = [&](NodeId node) {
    const Term& term = count.data.at(node).term;
    return std::any_of(count.data.begin(), count.data.end(), [&](const auto& one) {
      return one.second.hands_over_to == node &&
             (one.second.term == term || !stands(struck, Line::heir_is_equal));
    });
  };
  const auto rank = [&](const std::pair<const NodeId, Holding>& one) {
    const auto& [node, holding] = one;
    const Freshness place = stands(struck, Line::groups_are_the_order)
                                ? freshness_of(holding)
                                : Freshness{GroupNumber{holding.timeline, {}}, holding.lsn};
    const bool stays = node == present_primary && stands(struck, Line::present_primary_stays);
    const bool heir = is_heir(node);
    const bool before_all = heir && !stands(struck, Line::heir_is_equal);
    return std::tuple(before_all, place, heir, stays, node);
  };
  const auto& [primary, holding] = *std::max_element(
      count.data.begin(), count.data.end(),
      [&](const auto& one, const auto& other) { return rank(one) < rank(other); });
  for (const auto& [node, held] : count.mending)
    if (freshness_of(holding) < freshness_of(held) && stands(struck, Line::held_is_a_bound))
      return nobody(named(primary) + " is the freshest with data here, and " + named(node) +
                    ", which cannot be primary now, held more");

  Choice choice{primary, {}, named(primary) + " is the freshest of " + std::to_string(counting)};
  if (is_heir(primary)) choice.why += ", and was handed over to";
  for (const auto& [node, other] : count.data)
    if (node != primary && is_prefix(other, holding, struck)) choice.prefix.insert(node);
  return choice;
}

Held as_held(const Holding& holding) {
  return {holding.system, holding.term, holding.lsn};
}

bool is_below(const Holding& holding, const Held& once) {
  return holding.system != once.system || freshness_of(holding) < freshness_of(once);
}

std::optional<NodeId> present_primary(const std::map<NodeId, Evidence>& reports) {
  std::optional<std::pair<Freshness, NodeId>> best;
  for (const auto& [node, evidence] : reports) {
    const auto* holding = std::get_if<Holding>(&evidence);
    if (holding && holding->primary)
      best = std::max(best, std::optional(std::pair(freshness_of(*holding), node)));
  }
  return best ? std::optional(best->second) : std::nullopt;
}

// Past its row a node may have come over more than one timeline, each of them begun by others under
// the same number, and pg_rewind compares numbers: so it is proven by its row or not at all.
Way way_to_follow(const Holding& own, const Lineage& primary) {
  const bool has_own_row =
      std::find(primary.terms.begin(), primary.terms.end(), own.term) != primary.terms.end();
  if (!has_own_row || own.timeline != own.term.timeline) return Way::clone;
  if (own.timeline == primary.timeline) return Way::follow;
  const auto end = primary.ends_of_timelines.find(own.timeline);
  if (end == primary.ends_of_timelines.end()) return Way::clone;
  return own.lsn <= end->second ? Way::follow : Way::rewind;
}

}  // namespace muster::postgres
