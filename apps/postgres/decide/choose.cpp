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

/// The reports of the nodes with data, sorted by kind.
struct Count {
  std::map<NodeId, Holding> data;
  std::map<NodeId, Held> resyncing;
  std::map<std::uint64_t, NodeId> systems;  ///< one node for each system identifier
};

std::size_t size(const Count& count) {
  return count.data.size() + count.resyncing.size();
}

/// Counts the reports of these nodes only.
Count counted(const NodeSet& nodes, const std::map<NodeId, Evidence>& reports) {
  Count count;
  for (const auto& [node, evidence] : reports) {
    if (!nodes.contains(node)) continue;
    if (const auto* holding = std::get_if<Holding>(&evidence)) {
      count.data.emplace(node, *holding);
      count.systems.emplace(holding->system, node);
    } else if (const auto* resyncing = std::get_if<Held>(&evidence)) {
      count.resyncing.emplace(node, *resyncing);
      count.systems.emplace(resyncing->system, node);
    }
  }
  return count;
}

// True if the log of `of` is a beginning of the primary's log. Two nodes may both promote from one
// timeline and fail before they mark their terms. They then report the same term and the same
// timeline number, though their logs differ. So the timeline of `of` also has to be that of its
// greatest term: then the node was not promoted after that marker. The log of a node that was a
// primary does not count as a beginning either. Its sessions go on writing, although their commits
// are not acknowledged, so its log may go beyond the position that it reported.
bool is_prefix(const Holding& of, const Holding& primary, const Struck& struck) {
  return of.term == primary.term && of.timeline == primary.timeline && of.lsn <= primary.lsn &&
         (!of.primary || !stands(struck, Line::prefix_is_sealed)) &&
         (of.timeline == of.term.timeline || !stands(struck, Line::prefix_by_term));
}

/// Chooses the freshest node with data. Chooses no node if one that is being rewound or cloned held
/// more than the freshest node holds.
Choice freshest_of(const Count& count, std::optional<NodeId> present_primary,
                   const Struck& struck) {
  if (count.systems.size() > 1)
    return nobody(named(count.systems.begin()->second) + " and " +
                  named(count.systems.rbegin()->second) +
                  " have different databases: their system identifiers differ");
  if (count.data.empty())
    return nobody("none of the nodes with data in this group can be the primary now");

  // A request to hand over is void once a later primary has written a marker.
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
  for (const auto& [node, held] : count.resyncing)
    if (freshness_of(holding) < freshness_of(held) && stands(struck, Line::held_is_a_bound))
      return nobody(named(primary) + " has the newest data here, but " + named(node) +
                    ", which cannot be the primary now, held newer data");

  Choice choice{primary,
                {},
                named(primary) + " has the newest data of " + std::to_string(size(count)) +
                    (size(count) == 1 ? " node" : " nodes")};
  if (is_heir(primary)) choice.why += ", and the primary handed over to it";
  return choice;
}

// --- Another list of nodes

/// A node whose reported data was written under a later list than `list`.
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

/// The reason why the list `copies` must not begin with the data of the freshest node. Empty: it
/// can. A node that has taken part under one list never works under an earlier one again.
std::string why_not_from(const Holding& freshest, const Copies& copies,
                         const std::map<NodeId, Evidence>& reports, const Struck& struck) {
  if (!freshest.copies && copies.generation == 1) return {};
  if (!freshest.copies)
    return "the newest data here was written by an older Muster that did not record its node list: "
           "run this version once with the unchanged list, then change the list";
  const Copies& before = *freshest.copies;
  // A node of the earlier list may have written a marker of a greater group that was never copied.
  // That node would count as the freshest, although it may lack commits that were acknowledged
  // under the later list. The order of groups cannot decide between two lists, so an operator has
  // to decide.
  if (const auto node = of_later_list(before, reports))
    return "the newest data here was written with generation " + std::to_string(before.generation) +
           " of the node list, but " + named(*node) +
           " has data of a later generation: find out which of the two lists was given up, move "
           "the databases that it wrote away, and let their nodes join";
  if (before == copies) return {};
  const std::string written =
      "the newest data here was written with the node list of " + to_words(before);
  if (copies.generation <= before.generation)
    return written + ", but the present list is " + to_words(copies) +
           ": go back to the list that wrote it";
  if (copies.generation > before.generation + 1)
    return written + ", but the present list is generation " + std::to_string(copies.generation) +
           ": the generation in between has to write first; otherwise go back to the list that "
           "wrote it";
  const std::size_t found = size(counted(before.nodes, reports));
  if (found >= before.to_go_on() || !stands(struck, Line::list_before_counts)) return {};
  return written + ": " + std::to_string(found) + " of the " + std::to_string(before.to_go_on()) +
         " nodes that are needed from that list have data here";
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

// A primary that was alone may have completed the other node's log after the promise. The primary's
// report says if that happened.
NodeSet holders_now(const Promise& latest, const std::map<NodeId, Evidence>& evidence) {
  NodeSet holders = latest.holders;
  if (holders.size() != 1) return holders;
  const auto of_primary = evidence.find(*holders.begin());
  if (of_primary == evidence.end()) return holders;
  if (const auto* holding = std::get_if<Holding>(&of_primary->second))
    for (NodeId node : holding->demanded) holders.insert(node);
  return holders;
}

// The holders if the latest promise is not known but both databases are present. If one node was
// the sole holder, it has the most log. So the node with the most log has each commit. Before the
// first group there was nothing to promise, and all nodes are holders.
NodeSet holders_by_log(const Copies& copies, const Count& all) {
  std::map<NodeId, Freshness> places;
  for (const auto& [node, holding] : all.data) places.emplace(node, freshness_of(holding));
  for (const auto& [node, held] : all.resyncing) places.emplace(node, freshness_of(held));
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
                       " nodes that are needed here know which node has each commit: start all "
                       "nodes, the two with databases too"),
                told);

  const NodeSet holders =
      known ? holders_now(latest_of(told), evidence) : holders_by_log(copies, all);
  const bool holders_only = stands(struck, Line::holders_are_chosen);
  const Count count = counted(holders_only ? holders : copies.nodes, evidence);
  if (size(count) == 0)
    return with(nobody("each commit is only on " + named(holders) +
                       ", and its data is not here: start that node; if it is lost for ever, see "
                       "create --adopt --force"),
                told);
  Choice choice = freshest_of(count, present_primary, struck);
  if (!choice.primary) return with(choice, told);
  if (const auto& by = all.data.at(*choice.primary).copies; by && *by != copies)
    return with(
        nobody("the newest data here was written with the node list of " + to_words(*by) +
               ", but a cluster with a witness cannot change its node list: go back to that list"),
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
                  " nodes that are needed have data here");
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

// It is safe to pass over a primary that too few nodes can follow. The choice is then the same as
// if that node had not reported, and R other sealed nodes must still have reported. Passing over
// the primary is useful only if one of the other nodes can be chosen, and if W of them have data,
// since a new primary needs W copies of each commit.
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
  const std::string both = "this list is " + to_words(copies) +
                           ", but this node has taken part with " + to_words(before);
  if (!before.witnesses.empty() || !copies.witnesses.empty())
    return both + ": a cluster with a witness cannot change its node list";
  if (copies.generation <= before.generation)
    return both + ": go back to that list, or number the changed list as generation " +
           std::to_string(before.generation + 1) +
           " once a primary has written with that list; if none ever will, see "
           "docs/how-to/postgres/nodes.md (Give up a list)";
  std::size_t stay = 0;
  for (NodeId node : copies.nodes) stay += before.nodes.contains(node) ? 1 : 0;
  if (copies.generation == before.generation + 1 && stay < before.to_go_on())
    return both + ": " + std::to_string(stay) + " of the " + std::to_string(before.to_go_on()) +
           " nodes that are needed from that list are in this one: change the list in smaller "
           "steps";
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

// The timeline of a node proves nothing if it is not the timeline of the node's greatest term. The
// node may have switched timelines several times, and other nodes may have begun timelines with the
// same numbers. pg_rewind compares only these numbers, and would mistake two different logs for
// one. So only a marker that is in both logs proves where the logs part. Without such a marker, the
// node is cloned.
Way way_to_follow(const Holding& own, const Lineage& primary) {
  const bool has_own_term =
      std::find(primary.terms.begin(), primary.terms.end(), own.term) != primary.terms.end();
  if (!has_own_term || own.timeline != own.term.timeline) return Way::clone;
  if (own.timeline == primary.timeline) return Way::follow;
  const auto end = primary.ends_of_timelines.find(own.timeline);
  if (end == primary.ends_of_timelines.end()) return Way::clone;
  return own.lsn <= end->second ? Way::follow : Way::rewind;
}

}  // namespace muster::postgres
