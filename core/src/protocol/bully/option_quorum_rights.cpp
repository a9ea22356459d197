#include "option_quorum.hpp"

#include <algorithm>

/// Bounds: until when other nodes may work, as far as this node knows (bully/quorum.md).

namespace muster::bully {

namespace {

/// The number of groups that are kept apart. The bounds of older groups are merged into one entry.
constexpr std::size_t most_rights = 3;

Moment latest_of(const Rights& rights) {
  Moment latest = std::max(rights.coordinator, rights.own_word ? never : rights.others);
  for (const auto& [node, until] : rights.members) latest = std::max(latest, until);
  return latest;
}

Moment until(const Rights& rights, NodeId node) {
  if (rights.own_word) {
    const auto found = rights.members.find(node);
    return found == rights.members.end() ? never : found->second;
  }
  const bool coordinator = rights.group && rights.group->coordinator == node;
  return coordinator ? rights.coordinator : rights.others;
}

template <class To>
void shift(Rights& rights, To to) {
  rights.coordinator = to(rights.coordinator);
  rights.others = to(rights.others);
  for (auto& [node, until] : rights.members) until = to(until);
}

}  // namespace

// The bounds on its own group that this coordinator itself reports. The coordinator works until its
// right ends. Each member works for at most L after its last answer arrived.
Rights QuorumOption::own_word() const {
  Rights word{sight_.node.g, std::max(grants_.right, sight_.now()), {}, true};
  for (const auto& [node, heard] : grants_.heard)
    word.members[node] = heard.at + granted_for(sight_.config.timings);
  return word;
}

// Adds the bounds of one more group. The oldest two entries are merged if there are too many, with
// the later bound of both.
void QuorumOption::remember(Rights rights) {
  std::vector<Rights>& all = grants_.rights;
  all.push_back(std::move(rights));
  if (all.size() <= most_rights) return;
  const Moment latest = std::max(latest_of(all[0]), latest_of(all[1]));
  all.erase(all.begin());
  all.front() = Rights{std::nullopt, latest, latest};
}

// Forgets bounds that have passed. A coordinator keeps its bounds on its own group for 2 L longer.
// During that time other nodes can still have bounds on that group. Their bounds are later, and
// would be used if the coordinator's own bounds were missing.
void QuorumOption::forget_what_is_over() {
  const Duration ceasing = ceases_within(sight_.config.timings, sight_.config.options.clock_drift);
  const Duration longer = 2 * granted_for(sight_.config.timings);
  std::erase_if(grants_.rights, [&](const Rights& rights) {
    return latest_of(rights) + ceasing + (rights.own_word ? longer : Duration{}) < sight_.now();
  });
}

// The bounds as times from now on, in the form in which Joined contains them.
std::vector<Rights> QuorumOption::to_tell() const {
  std::vector<Rights> told = grants_.rights;
  for (Rights& rights : told) shift(rights, [this](Moment until) { return until - sight_.now(); });
  return told;
}

// The bounds that a member has reported, as moments of this node's clock. No honest bound is
// further away than two grants, so larger ones are cut.
std::vector<Rights> QuorumOption::as_told(std::vector<Rights> told) const {
  const Duration most = 2 * granted_for(sight_.config.timings);
  for (Rights& rights : told)
    shift(rights, [&](Duration left) { return sight_.now() + std::clamp(left, -most, most); });
  return told;
}

// A moment after which `node` is no longer at work, or none if it works in no group.
//
// This node and each member of S(i).Up knows a bound. The result is the least moment that a
// majority of these bounds do not exceed. This result is safe: a majority has granted the group in
// which the node works. So one of the nodes in this majority has granted it, and its bound covers
// the node. The wait is also short: a few nodes with late bounds do not delay the group. If the
// coordinator of a group is among S(i).Up, its own bounds on that group replace the others'.
std::optional<Moment> QuorumOption::may_work_until(NodeId node) const {
  std::map<GroupNumber, const Rights*> words;
  const auto take_word = [&](NodeId by, const std::vector<Rights>& known) {
    for (const Rights& rights : known)
      if (rights.own_word && rights.group && rights.group->coordinator == by)
        words.emplace(*rights.group, &rights);
  };
  take_word(sight_.self(), grants_.rights);
  for (const auto& [member, known] : grants_.told) take_word(member, known);

  const auto bound = [&](const std::vector<Rights>& known) {
    Moment latest = never;
    for (const Rights& rights : known) {
      if (rights.group == sight_.node.g) continue;
      const auto word = rights.group ? words.find(*rights.group) : words.end();
      latest = std::max(latest, until(word == words.end() ? rights : *word->second, node));
    }
    return latest;
  };
  std::vector<Moment> bounds{bound(grants_.rights)};
  for (const Member& member : sight_.node.up) {
    const auto told = grants_.told.find(member.node);
    bounds.push_back(told == grants_.told.end() ? never : bound(told->second));
  }
  std::sort(bounds.begin(), bounds.end());
  const Moment least = bounds[majority() - 1];
  return least == never ? std::nullopt : std::optional(least);
}

// The moment at which every node outside S(i).Up has ceased. None: no such node can be at work.
std::optional<Moment> QuorumOption::others_cease() const {
  std::optional<Moment> last;
  for (NodeId node : sight_.config.nodes) {
    const bool halted = std::any_of(sight_.node.up.begin(), sight_.node.up.end(),
                                    [&](const Member& member) { return member.node == node; });
    if (node == sight_.self() || halted || grants_.ceased.contains(node)) continue;
    if (const auto end = may_work_until(node)) last = std::max(last.value_or(*end), *end);
  }
  if (!last) return last;
  return *last + ceases_within(sight_.config.timings, sight_.config.options.clock_drift);
}

}  // namespace muster::bully
