#include <muster/claims/assertions.hpp>
#include <muster/values/hash.hpp>
#include <muster/values/text.hpp>

#include <algorithm>
#include <iterator>

namespace muster {

namespace {

bool works_in_group(const Standing& node) {
  return node.up && (node.status == Status::Reorganization || node.status == Status::Normal);
}

bool takes_part(const Standing& node) {
  return node.up && node.takes_part;
}

bool is_normal(const Standing& node) {
  return node.up && node.status == Status::Normal;
}

std::string name(const Standing& node) {
  return "node " + to_text(node.node);
}

std::string with_coordinator(const Standing& node) {
  return name(node) + ' ' + to_text(node.status) + " c=" + to_text(node.coordinator);
}

std::string with_definition(const Standing& node) {
  return name(node) + ' ' + to_text(node.status) + " d=" + to_text(node.definition);
}

std::string with_work(const Standing& node) {
  return name(node) + " works for group " + to_text(*node.works_for);
}

// The first node that counts, and the first node after it that disagrees with it. Equality is
// transitive, so no other pair has to be compared.
template <class Counts, class Agree, class Say>
std::optional<Disagreement> all_agree(Standings nodes, Counts counts, Agree agree, Say say) {
  const auto first = std::find_if(nodes.begin(), nodes.end(), counts);
  if (first == nodes.end()) return std::nullopt;
  const auto other = std::find_if(first + 1, nodes.end(), [&](const Standing& node) {
    return counts(node) && !agree(*first, node);
  });
  if (other == nodes.end()) return std::nullopt;
  return Disagreement{{first->node, other->node}, say(*first) + ", " + say(*other)};
}

const Standing* own_coordinator(Standings nodes) {
  const auto found = std::find_if(nodes.begin(), nodes.end(), [](const Standing& node) {
    return is_normal(node) && node.coordinator == node.node;
  });
  return found == nodes.end() ? nullptr : &*found;
}

}  // namespace

Standing standing(NodeId node, const View& view, std::optional<GroupNumber> works_for) {
  return {node,        true,
          view.status, view.coordinator,
          view.group,  view.definition,
          works_for,   view.procedure != Wait::Outvoted};
}

std::optional<Disagreement> assertion_1a(Standings nodes) {
  return all_agree(
      nodes, works_in_group,
      [](const Standing& i, const Standing& j) { return i.coordinator == j.coordinator; },
      with_coordinator);
}

std::optional<Disagreement> assertion_1b(Standings nodes) {
  return all_agree(
      nodes, is_normal,
      [](const Standing& i, const Standing& j) { return i.definition == j.definition; },
      with_definition);
}

namespace {

// If fewer nodes are up than a quorum needs, no node may work.
std::optional<Disagreement> nobody_works(Standings nodes) {
  const auto found = std::find_if(nodes.begin(), nodes.end(), [](const Standing& node) {
    return works_in_group(node) || (node.up && node.works_for);
  });
  if (found == nodes.end()) return std::nullopt;
  return Disagreement{{found->node},
                      with_coordinator(*found) + (found->works_for ? " works" : "") +
                          ", and less than a majority is up"};
}

}  // namespace

std::optional<Disagreement> assertion_2(Standings nodes, std::size_t quorum) {
  const auto are_up = std::count_if(nodes.begin(), nodes.end(), takes_part);
  if (static_cast<std::size_t>(are_up) < quorum) return nobody_works(nodes);
  const Standing* coordinator = own_coordinator(nodes);
  NodeSet up;
  std::string all;
  for (const Standing& node : nodes) {
    if (!takes_part(node)) continue;
    up.insert(node.node);
    all += (all.empty() ? "" : ", ") + with_coordinator(node);
  }
  if (up.empty()) return std::nullopt;
  if (!coordinator) return Disagreement{up, "no node is Normal as its own coordinator: " + all};
  const auto other = std::find_if(nodes.begin(), nodes.end(), [&](const Standing& node) {
    return takes_part(node) && !(is_normal(node) && node.coordinator == coordinator->node);
  });
  if (other == nodes.end()) return std::nullopt;
  return Disagreement{{coordinator->node, other->node},
                      with_coordinator(*coordinator) + ", " + with_coordinator(*other)};
}

namespace {

// Compares each node with the last node before it in the same group. There are several groups, and
// equality is transitive inside each group.
template <class Counts, class Agree, class Say>
std::optional<Disagreement> agree_in_groups(Standings nodes, Counts counts, Agree agree, Say say) {
  for (auto j = nodes.begin(); j != nodes.end(); ++j) {
    if (!counts(*j)) continue;
    const auto before = std::make_reverse_iterator(j);
    const auto i = std::find_if(before, nodes.rend(), [&](const Standing& node) {
      return counts(node) && node.group == j->group;
    });
    if (i != nodes.rend() && !agree(*i, *j))
      return Disagreement{{i->node, j->node},
                          say(*i) + ", " + say(*j) + " in group " + to_text(j->group)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Disagreement> assertion_3a(Standings nodes) {
  return agree_in_groups(
      nodes, works_in_group,
      [](const Standing& i, const Standing& j) { return i.coordinator == j.coordinator; },
      with_coordinator);
}

std::optional<Disagreement> assertion_3b(Standings nodes) {
  return agree_in_groups(
      nodes, is_normal,
      [](const Standing& i, const Standing& j) { return i.definition == j.definition; },
      with_definition);
}

std::optional<Disagreement> assertion_4(Standings nodes, const NodeSet& together) {
  std::vector<Standing> here;
  for (const Standing& node : nodes)
    if (together.contains(node.node)) here.push_back(node);
  if (auto disagreement = assertion_2(here)) return disagreement;
  const Standing* coordinator = own_coordinator(here);
  if (!coordinator) return std::nullopt;  // no node is up
  const auto other = std::find_if(here.begin(), here.end(), [&](const Standing& node) {
    return takes_part(node) && node.group != coordinator->group;
  });
  if (other == here.end()) return std::nullopt;
  return Disagreement{{coordinator->node, other->node},
                      name(*coordinator) + " is in group " + to_text(coordinator->group) + ", " +
                          name(*other) + " in group " + to_text(other->group)};
}

namespace {

// How long the Invitation may take to settle after the last disturbance. All nodes that are up, and
// can communicate, first notice (T after the longer of coordinator_timeout and check_every). These
// nodes back off (8 T), and become groups of their own: stop, reorganize, start. Then come:
// - Check: T, or T for each of n-1 if calls go one by one.
// - Giving way: all coordinators but the highest wait, the lowest for longest. A Merge that came to
// nothing is followed by a back-off.
// - Merge: T for Invitations, the longest wait for Accepts, reorganize, and T + start for Ready.
//
// A Merge admits each node that is Normal. A node that was still recovering, or merging itself, is
// found by the next Check. A member that missed its Ready, or was left out, finds this out by its
// probe. The bound allows four rounds of all this, which is more than any run has needed.
Duration settling_bound_of_invitation(const ProtocolConfig& config) {
  const Timings& timings = config.timings;
  const invitation::Repairs& repairs = config.invitation_repairs;
  const auto others = static_cast<Duration::rep>(config.nodes.size()) - 1;
  const auto calls = repairs.parallel_calls ? 1 : std::max<Duration::rep>(others, 1);
  const auto distance = config.nodes.empty()
                            ? 0u
                            : std::prev(config.nodes.end())->value - config.nodes.begin()->value;
  const Duration notice = std::max(timings.coordinator_timeout, timings.check_every) + timings.T;
  const Duration back_off = repairs.back_off ? 8 * timings.T : Duration{};
  const Duration alone =
      timings.stop_deadline + timings.reorganize_deadline + timings.start_deadline;
  const Duration found =
      timings.check_every + calls * timings.T + length_of(Timer::merge, distance, timings);
  const Duration merged = calls * timings.T + length_of(Timer::accepts, 0, timings) +
                          timings.reorganize_deadline +
                          (calls + 1) * length_of(Bound::started, timings);
  return 4 * (notice + back_off + alone + found + merged);
}

}  // namespace

namespace {

Claims claims_of_bully(const ProtocolConfig& config) {
  Claims claims{{"1a", "1b", "2", "works-apart", "group-grows", "durable", "hook-grammar"}};
  if (config.options.quorum == Quorum::majority) {
    claims.assertions.emplace_back("quorum");
    claims.quorum = config.nodes.size() / 2 + 1;
    claims.in_cuts = true;
  }
  return claims;
}

// The time that options add to one reorganization. A new life waits to be found; Halts go out in up
// to three rounds; Ready goes out twice. With a quorum the coordinator waits for three ends: of a
// silent member's right, of grants to a higher node, and of the work of nodes out of reach.
Duration lengthened_by(const Options& options, const Timings& timings) {
  Duration more = options.settle;
  if (options.preempt != Preempt::paper) more += timings.coordinator_timeout + 3 * timings.T;
  if (options.resume == Resume::all) more += timings.T;
  if (options.quorum == Quorum::majority)
    more += 4 * granted_for(timings) + ceases_within(timings, options.clock_drift);
  return more;
}

}  // namespace

Claims claims_of(const ProtocolConfig& config) {
  switch (config.protocol) {
    case ProtocolName::bully:
      return claims_of_bully(config);
    case ProtocolName::invitation:
      // The group numbers of the paper's own text are unique, but need not grow.
      if (!config.invitation_repairs.growing_numbers)
        return {{"3a", "3b", "4", "durable", "hook-grammar"}, true};
      return {{"3a", "3b", "4", "group-grows", "durable", "hook-grammar"}, true};
    case ProtocolName::textbook:
      break;
  }
  return {{"2", "durable", "hook-grammar"}, false, false};
}

std::vector<std::string> timed_claims_of(const ProtocolConfig& config) {
  const bool claimed = config.protocol == ProtocolName::bully && config.repairs.left_behind &&
                       config.repairs.normal_for_me && config.repairs.parallel_calls;
  return claimed ? std::vector<std::string>{"left-behind"} : std::vector<std::string>{};
}

// How long the Bully may take to settle. After the last disturbance no event disturbs the highest
// node that is up. It takes at most
// - to notice: the longer of coordinator_timeout and check_every, and one unanswered call;
// - to begin: the longest back-off, 8 T; and once, after a difference
// (docs/decisions/differing.md), T + stop_deadline;
// - phase A: T for the nearest higher node and T for all others, or T for each of n-1;
// - phase H: T for each of n-1; if Halts wait for stops, also stop_deadline for each and for
// itself;
// - phase C: T + stop_deadline, and reorganize_deadline;
// - phase Y: T + start_deadline. If calls go one by one, phases C and Y take this for each of n-1,
// and the node starts its own application last.
//
// Each of these times except the wait after a difference may be needed twice. An event on its way
// before the last disturbance may spoil one reorganization, but no second one. Such an event can
// spoil the reorganization as late as in phase Y, when a member's refusal shows that the member
// paused in reorganize.
Duration settling_bound(const ProtocolConfig& config) {
  if (config.protocol == ProtocolName::invitation) return settling_bound_of_invitation(config);
  const Timings& timings = config.timings;
  const Repairs& repairs = config.repairs;
  const auto others = static_cast<Duration::rep>(config.nodes.size()) - 1;
  const auto calls = repairs.parallel_calls ? 1 : std::max<Duration::rep>(others, 1);
  const Duration notice = std::max(timings.coordinator_timeout, timings.check_every) + timings.T;
  const Duration back_off = repairs.back_off ? 8 * timings.T : Duration{};
  const Duration seek =
      (repairs.parallel_calls ? std::min<Duration::rep>(others, 2) : others) * timings.T;
  const Duration halt =
      others * timings.T + (repairs.stop_beside_halts ? 0 : others + 1) * timings.stop_deadline;
  const Duration announce = calls * (timings.T + timings.stop_deadline);
  const Duration ready = calls * (timings.T + timings.start_deadline) +
                         (repairs.parallel_calls ? 0 : 1) * timings.start_deadline;
  return length_of(Timer::rejoin, 0, timings) +
         2 * (notice + back_off + seek + halt + announce + timings.reorganize_deadline + ready +
              lengthened_by(config.options, timings));
}

bool is_one_group(Standings nodes) {
  const Standing* coordinator = own_coordinator(nodes);
  return coordinator && !assertion_2(nodes) &&
         std::all_of(nodes.begin(), nodes.end(), [&](const Standing& node) {
           return !node.up || node.group == coordinator->group;
         });
}

std::optional<Disagreement> works_apart(Standings nodes) {
  return all_agree(
      nodes, [](const Standing& node) { return node.up && node.works_for; },
      [](const Standing& i, const Standing& j) { return i.works_for == j.works_for; }, with_work);
}

std::optional<Disagreement> has_quorum(NodeId coordinator, std::size_t members,
                                       std::size_t quorum) {
  if (members >= quorum) return std::nullopt;
  return Disagreement{{coordinator},
                      "node " + to_text(coordinator) + " reorganizes a group of " +
                          std::to_string(members) + ", but a quorum is " + std::to_string(quorum)};
}

std::optional<Disagreement> group_grows(NodeId node, const std::optional<GroupNumber>& before,
                                        const GroupNumber& accepted) {
  if (!before || *before < accepted) return std::nullopt;
  return Disagreement{
      {node},
      "node " + to_text(node) + " accepted group " + to_text(accepted) +
          (accepted == *before ? " a second time" : " after group " + to_text(*before))};
}

std::optional<Disagreement> durable(NodeId node, const SafeState& saved,
                                    const SafeState& recovered) {
  const auto lost = [&](const std::string& what) {
    return Disagreement{{node}, "node " + to_text(node) + " recovered " + what + " was durable"};
  };
  if (!(saved.incarnation < recovered.incarnation))
    return lost("incarnation " + to_text(recovered.incarnation) + ", but incarnation " +
                to_text(saved.incarnation));
  if (recovered.counter_limit < saved.counter_limit)
    return lost("the counter limit " + to_text(recovered.counter_limit) + ", but " +
                to_text(saved.counter_limit));
  if (saved.assigned) {
    const GroupNumber group = saved.assigned->group;
    if (!recovered.assigned || recovered.assigned->group < group)
      return lost(
          (recovered.assigned ? "group " + to_text(recovered.assigned->group) : "no group") +
          ", but group " + to_text(group));
    if (recovered.assigned->group == group &&
        recovered.assigned->definition != saved.assigned->definition)
      return lost("another definition of group " + to_text(group) + " than");
  }
  for (const auto& [other, incarnation] : saved.seen) {
    const auto found = recovered.seen.find(other);
    if (found == recovered.seen.end() || found->second < incarnation)
      return lost("less of node " + to_text(other) + " than its incarnation " +
                  to_text(incarnation) + ", which");
  }
  return std::nullopt;
}

}  // namespace muster
