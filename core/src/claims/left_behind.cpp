#include <muster/claims/left_behind.hpp>
#include <muster/values/hash.hpp>
#include <muster/values/text.hpp>

#include <algorithm>

namespace muster {

namespace {

const Standing* standing_in(Standings nodes, NodeId id) {
  const auto found = std::find_if(nodes.begin(), nodes.end(),
                                  [&](const Standing& node) { return node.node == id; });
  return found == nodes.end() ? nullptr : &*found;
}

bool is_in_group(const Standing& node, const GroupNumber& group) {
  return node.up && node.group == group &&
         (node.status == Status::Reorganization || node.status == Status::Normal);
}

bool is_heard(const Standing& by, const Standing& node, const Cuts& unheard) {
  return node.up && node.takes_part && !are_cut(unheard, by.node, node.node);
}

}  // namespace

// A member asks its coordinator when it has heard nothing from it for coordinator_timeout, and
// waits T for the answer. The answer No ends its work. If the coordinator is silent, the member's
// work ends when a higher node answers its second election. A coordinator asks no such question; it
// has Check(i).
LeftBehindBounds left_behind_bounds(const Timings& timings) {
  const Duration question = timings.coordinator_timeout + timings.T;
  return {question + timings.stop_deadline, longest_left_behind(timings),
          2 * (timings.check_every + timings.T) + timings.stop_deadline};
}

std::optional<LeftBehind::Behind> LeftBehind::behind(const Standing& node, Standings nodes,
                                                     const Cuts& unheard) {
  if (!node.up || !node.takes_part || !node.works_for) return std::nullopt;
  Behind behind;
  behind.group = *node.works_for;
  if (behind.group.coordinator == node.node) {
    const auto higher = std::find_if(nodes.begin(), nodes.end(), [&](const Standing& other) {
      return node.node < other.node && is_heard(node, other, unheard) && other.works_for &&
             other.works_for != node.works_for;
    });
    if (higher == nodes.end()) return std::nullopt;
    behind.other = higher->node;
    return behind;
  }
  const Standing* coordinator = standing_in(nodes, behind.group.coordinator);
  if (!coordinator || is_in_group(*coordinator, behind.group)) return std::nullopt;
  behind.other = coordinator->node;
  behind.unheard = !is_heard(node, *coordinator, unheard);
  behind.others_unheard = std::any_of(nodes.begin(), nodes.end(), [&](const Standing& other) {
    return node.node < other.node && other.node != coordinator->node &&
           !is_heard(node, other, unheard);
  });
  return behind;
}

void LeftBehind::see(Duration now, Standings nodes, const Cuts& unheard,
                     const TimingsOf& timings_of) {
  for (const Standing& node : nodes) {
    auto now_behind = behind(node, nodes, unheard);
    if (!now_behind) {
      behind_.erase(node.node);
      continue;
    }
    const auto [at, begins] = behind_.try_emplace(node.node, *now_behind);
    Behind& known = at->second;
    if (begins || known.group != now_behind->group) {
      known = *now_behind;
      known.since = now;
    }
    known.other = now_behind->other;
    known.unheard = known.unheard || now_behind->unheard;
    known.others_unheard = known.others_unheard || now_behind->others_unheard;
    const Timings timings = timings_of(node.node);
    const LeftBehindBounds bounds = left_behind_bounds(timings);
    known.bound = known.unheard ? bounds.unheard : bounds.told;
    if (known.group.coordinator == node.node) known.bound = bounds.outranked;
    // Each of the two elections waits T for the nearest higher node before it asks the others.
    if (known.unheard && known.others_unheard) known.bound += 2 * timings.T;
  }
}

std::optional<Disagreement> LeftBehind::overdue(Duration now) const {
  const auto late = std::find_if(behind_.begin(), behind_.end(), [&](const auto& entry) {
    return entry.second.since + entry.second.bound < now;
  });
  if (late == behind_.end()) return std::nullopt;
  const auto& [node, behind] = *late;
  const std::string other = "node " + to_text(behind.other);
  const std::string why = behind.group.coordinator == node
                              ? "though it hears " + other + ", which works in another group"
                              : "which its coordinator, " + other + ", has left";
  return Disagreement{{node, behind.other},
                      "node " + to_text(node) + " still works for group " + to_text(behind.group) +
                          ", " + why + "; the bound of " + to_text(behind.bound) + " is over"};
}

}  // namespace muster
