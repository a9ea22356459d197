#include "apps/postgres/decide/choose.hpp"

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

std::string named(const NodeSet& nodes) {
  std::string text;
  for (NodeId node : nodes) text += (text.empty() ? "" : ", ") + named(node);
  return text;
}

/// What the reports of the nodes with data come to.
struct Count {
  std::map<NodeId, Holding> data;
  std::map<NodeId, Held> mending;
  std::map<std::uint64_t, NodeId> systems;  ///< with a node of each
};

std::size_t size(const Count& count) {
  return count.data.size() + count.mending.size();
}

/// Of those nodes.
Count counted(const NodeSet& nodes, const std::map<NodeId, Evidence>& reports) {
  Count count;
  for (const auto& [node, evidence] : reports) {
    if (!nodes.contains(node)) continue;
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

/// The freshest of those, where there is one, and it is not below what another held.
Choice freshest_of(const Count& count, std::optional<NodeId> present_primary,
                   const Struck& struck) {
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

  Choice choice{primary, {}, named(primary) + " is the freshest of " + std::to_string(size(count))};
  if (is_heir(primary)) choice.why += ", and was handed over to";
  return choice;
}

// --- Another list of nodes

/// Of those that reported, one with what a later list than that has written.
std::optional<NodeId> of_later_list(const Copies& list, const std::map<NodeId, Evidence>& reports) {
  for (const auto& [node, evidence] : reports) {
    const auto* holding = std::get_if<Holding>(&evidence);
    const auto* held = std::get_if<Held>(&evidence);
    std::optional<Copies> its;
    if (holding) its = holding->copies;
    if (held) its = held->copies;
    if (its && its->generation > list.generation) return node;
  }
  return std::nullopt;
}

/// Why the list of these copies may not go on from what the freshest holds; empty: it may. Who has
/// taken part by one never works by an earlier one again.
std::string why_not_from(const Holding& freshest, const Copies& copies,
                         const std::map<NodeId, Evidence>& reports, const Struck& struck) {
  if (!freshest.copies && copies.generation == 1) return {};
  if (!freshest.copies)
    return "what is freshest here is of an earlier version, which did not say by which nodes it "
           "was written: let them write as they are, by this version, once";
  const Copies& before = *freshest.copies;
  // Nodes of an earlier list may have written rows that count for more, and were never copied.
  if (const auto node = of_later_list(before, reports))
    return "the freshest here was written in generation " + std::to_string(before.generation) +
           ", and " + named(*node) +
           " has what a later one wrote: find out which of the two was given up, move those "
           "databases away, and let their nodes join";
  if (before == copies) return {};
  const std::string written = "what is freshest here was written by " + to_words(before);
  if (copies.generation <= before.generation)
    return written + ", and this is " + to_words(copies) + ": put that list back";
  if (copies.generation > before.generation + 1)
    return written + ", and this is generation " + std::to_string(copies.generation) +
           ": nodes of the one between have to write first, or else put that list back";
  const std::size_t found = size(counted(before.nodes, reports));
  if (found >= before.to_go_on() || !stands(struck, Line::list_before_counts)) return {};
  return written + ": " + std::to_string(found) + " of the " + std::to_string(before.to_go_on()) +
         " of those that it takes have data here";
}

void add_prefix(Choice& choice, const Count& count, const Struck& struck) {
  const auto primary = count.data.find(choice.primary.value_or(NodeId{}));
  if (primary == count.data.end()) return;
  for (const auto& [node, other] : count.data)
    if (node != primary->first && is_prefix(other, primary->second, struck))
      choice.prefix.insert(node);
}

// --- With a witness

using Promises = std::map<NodeId, Promise>;

Promises promises_of(const std::map<NodeId, Report>& reports) {
  Promises promises;
  for (const auto& [node, report] : reports)
    if (report.promise) promises.emplace(node, *report.promise);
  return promises;
}

const Promise& latest_of(const Promises& promises) {
  return std::max_element(promises.begin(), promises.end(),
                          [](const auto& one, const auto& other) {
                            return one.second.group < other.second.group;
                          })
      ->second;
}

// A primary alone may have had the other's log made whole since: it says so itself.
NodeSet holders_now(const Promise& latest, const std::map<NodeId, Evidence>& evidence) {
  NodeSet holders = latest.holders;
  if (holders.size() != 1) return holders;
  const auto of_primary = evidence.find(*holders.begin());
  if (of_primary == evidence.end()) return holders;
  if (const auto* holding = std::get_if<Holding>(&of_primary->second))
    for (NodeId node : holding->demanded) holders.insert(node);
  return holders;
}

// Where it is not known what was promised last, and both databases are there: it may have been of
// the one that has more. Before the first group there was nothing to promise.
NodeSet holders_by_log(const Copies& copies, const Count& all) {
  std::map<NodeId, Freshness> places;
  for (const auto& [node, holding] : all.data) places.emplace(node, freshness_of(holding));
  for (const auto& [node, held] : all.mending) places.emplace(node, freshness_of(held));
  Freshness most;
  for (const auto& [node, place] : places) most = std::max(most, place);
  if (most.first.counter == 0) return copies.nodes;
  NodeSet holders;
  for (const auto& [node, place] : places)
    if (place == most) holders.insert(node);
  return holders;
}

Choice with(Choice choice, Promises promises) {
  choice.promises = std::move(promises);
  return choice;
}

Choice choose_with_witness(const Copies& copies, const GroupNumber& group,
                           const std::map<NodeId, Report>& reports,
                           const std::map<NodeId, Evidence>& evidence,
                           std::optional<NodeId> present_primary, const Struck& struck) {
  const Promises told = promises_of(reports);
  const std::size_t nodes = copies.nodes.size() + copies.witnesses.size();
  const std::size_t majority = nodes / 2 + 1;
  const Count all = counted(copies.nodes, evidence);
  const bool nobody_forgot = std::none_of(reports.begin(), reports.end(),
                                          [](const auto& one) { return one.second.forgotten; });
  const bool known =
      told.size() >= majority || (!told.empty() && reports.size() == nodes && nobody_forgot);
  if (!known && size(all) < copies.nodes.size())
    return with(nobody(std::to_string(told.size()) + " of the " + std::to_string(majority) +
                       " nodes that it takes know here who holds each commit: start all nodes, "
                       "with both databases"),
                told);

  const NodeSet holders =
      known ? holders_now(latest_of(told), evidence) : holders_by_log(copies, all);
  const bool holders_only = stands(struck, Line::holders_are_chosen);
  const Count count = counted(holders_only ? holders : copies.nodes, evidence);
  if (size(count) == 0)
    return with(nobody("each commit is at " + named(holders) +
                       " alone, without data here: start it; where it is lost for ever, see "
                       "create --adopt --force"),
                told);
  Choice choice = freshest_of(count, present_primary, struck);
  if (!choice.primary) return with(choice, told);
  if (const auto& by = all.data.at(*choice.primary).copies; by && *by != copies)
    return with(nobody("what is freshest here was written by " + to_words(*by) +
                       ", and beside a witness no list comes after another"),
                told);
  add_prefix(choice, all, struck);
  Promise promise{group, {*choice.primary}};
  if (!all.data.at(*choice.primary).unfollowed)
    for (NodeId node : choice.prefix)
      if (holders.contains(node) || !stands(struck, Line::holders_held_all_before))
        promise.holders.insert(node);
  if (promise.holders.size() == 1) choice.why += ", and goes on alone";
  for (const auto& [node, report] : reports) choice.promises.emplace(node, promise);
  return choice;
}

Choice choose_from(const std::map<NodeId, Evidence>& reports, const Copies& copies,
                   std::optional<NodeId> present_primary, const Struck& struck) {
  const Count count = counted(copies.nodes, reports);
  if (size(count) < copies.to_promote())
    return nobody(std::to_string(size(count)) + " of the " + std::to_string(copies.to_promote()) +
                  " nodes that it takes have data here");
  Choice choice = freshest_of(count, present_primary, struck);
  if (!choice.primary) return choice;
  if (const auto why = why_not_from(count.data.at(*choice.primary), copies, reports, struck);
      !why.empty())
    return nobody(why);
  add_prefix(choice, count, struck);
  return choice;
}

std::map<NodeId, Evidence> without_unfollowed(std::map<NodeId, Evidence> reports) {
  std::erase_if(reports, [](const auto& report) {
    const auto* holding = std::get_if<Holding>(&report.second);
    return holding && holding->unfollowed;
  });
  return reports;
}

}  // namespace

// Any R sealed nodes have what was acknowledged: so whose log too few get may be as one that has
// not reported; where W others have data, as none of them is written to without, and one can be
// chosen.
Choice choose(const Copies& copies, const std::map<NodeId, Evidence>& reports,
              std::optional<NodeId> present_primary, const Struck& struck) {
  const auto others = without_unfollowed(reports);
  const std::size_t with_data = counted(copies.nodes, others).data.size();
  if (others.size() < reports.size() && with_data >= copies.of_commit)
    if (Choice choice = choose_from(others, copies, present_primary, struck); choice.primary)
      return choice;
  return choose_from(reports, copies, present_primary, struck);
}

Choice choose(const Copies& copies, const GroupNumber& group,
              const std::map<NodeId, Report>& reports, const Struck& struck) {
  std::map<NodeId, Evidence> evidence;
  for (const auto& [node, report] : reports) evidence.emplace(node, report.evidence);
  const auto present = present_primary(evidence);
  if (copies.witnesses.empty()) return choose(copies, evidence, present, struck);
  return choose_with_witness(copies, group, reports, evidence, present, struck);
}

std::string why_never_after(const Copies& before, const Copies& copies) {
  if (before == copies) return {};
  const std::string both =
      "this is " + to_words(copies) + ", and this node has taken part by " + to_words(before);
  if (!before.witnesses.empty() || !copies.witnesses.empty())
    return both + ": beside a witness no list comes after another";
  if (copies.generation <= before.generation)
    return both + ": put that list back, or write the changed one as generation " +
           std::to_string(before.generation + 1) +
           " once that one is written by; where it never will be, see docs/postgres.md (Another "
           "number of nodes) on how it is given up";
  std::size_t stay = 0;
  for (NodeId node : copies.nodes) stay += before.nodes.contains(node) ? 1 : 0;
  if (copies.generation == before.generation + 1 && stay < before.to_go_on())
    return both + ": " + std::to_string(stay) + " of the " + std::to_string(before.to_go_on()) +
           " of those are in it that it takes to begin: change the list in smaller steps";
  return {};
}

Held as_held(const Holding& holding) {
  return {holding.system, holding.term, holding.lsn, holding.copies};
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
