#include "checked_world.hpp"

#include <muster/values/ensure.hpp>

#include <algorithm>
#include <span>

/// The moves that may happen in a world, the world in which the search begins, and the assertions
/// about a world.

namespace muster::lab::explored {

Mover::Mover(Values& values) : values_(values), canonical_(values), room_(values.bounds.queue) {
  const auto bit = [](NodeId node) { return static_cast<std::uint8_t>(1u << (node.value - 1)); };
  for (const auto& [i, j] : values.bounds.cuts) {
    cut_from_[i.value - 1] |= bit(j);
    cut_from_[j.value - 1] |= bit(i);
  }
}

// --- Moves

bool Mover::can_be_answered(const CheckedWorld& world, std::size_t i,
                            const LocalFacts::Waits& call) const {
  const auto holds = [&](std::size_t to, std::size_t from, bool answer) {
    const std::size_t begin = begin_of(world, queue(to, from));
    for (std::size_t k = 0; k < world.length[queue(to, from)]; ++k) {
      const ItemFacts& item = values_.items.facts(world.item[begin + k]);
      if (item.letter && item.answer == answer && item.call == call.number) return true;
    }
    return false;
  };
  const std::size_t j = call.to;
  if (is_cut(world, i, j)) return false;
  if (holds(i, j, true)) return true;
  const LocalFacts& other = facts(world, j);
  const bool session = values_.bounds.channels == Channels::session;
  if (!session && holds(j, i, false)) return true;
  if (!other.up || other.paused) return false;
  // The two differ. Within T both nodes have learned that they differ, and then the call cannot be
  // answered.
  if (facts(world, i).other != other.other)
    return (facts(world, i).differ >> j & 1) == 0 || (other.differ >> i & 1) == 0;
  if (session) {
    if (call.named != 0 && call.named != other.life) return false;
    if (call.sent_to != other.life) return true;  // the call goes to this life when they meet
    if (holds(j, i, false)) return true;
  }
  return std::ranges::any_of(
      std::span(other.owes).first(other.owing),
      [&](const LocalFacts::Owes& owed) { return owed.to == i && owed.number == call.number; });
}

void Mover::labels(const CheckedWorld& world, std::vector<Label>& out) {
  out.clear();
  if (time_may_pass(world)) out.push_back({Label::What::tick});
  for (std::size_t i = 0; i < nodes(); ++i) {
    const std::size_t begin = out.size();
    labels_of(world, i, out);
    for (std::size_t j = 0; j < nodes(); ++j)
      if (j != i) labels_between(world, i, j, out);
    if (values_.bounds.split_actions && world.remaining(Trouble::failure) > 0)
      labels_of_parts(world, i, begin, out);
  }
}

// Time passes only if every node whose right is over has ceased, because a node ceases in less than
// a tick. The clocks of nodes that are down or paused do not matter.
bool Mover::time_may_pass(const CheckedWorld& world) const {
  if (world.remaining(Trouble::tick) == 0) return false;
  for (std::size_t i = 0; i < nodes(); ++i)
    if (facts(world, i).up && !facts(world, i).paused && facts(world, i).works_until_now)
      return false;
  return true;
}

// Adds each move again for each number of actions after which the node may fail. A failure before
// the first action is the move `fail`.
void Mover::labels_of_parts(const CheckedWorld& world, std::size_t i, std::size_t begin,
                            std::vector<Label>& out) {
  const std::size_t end = out.size();
  for (std::size_t k = begin; k < end; ++k) {
    Label label = out[k];
    if (label.what != Label::What::op || label.op == Op::fail) continue;
    const unsigned actions = outcome(world.node[i], code_of(world, label)).actions;
    for (unsigned performed = 1; performed < actions; ++performed) {
      label.fails_after = static_cast<std::uint8_t>(performed);
      out.push_back(label);
    }
  }
}

// True if an item from or to the last life of a node that is down is on its way, or a call to it
// waits.
bool Mover::under_way(const CheckedWorld& world, std::size_t i) const {
  for (std::size_t j = 0; j < nodes(); ++j) {
    if (world.length[queue(i, j)] > 0 || world.length[queue(j, i)] > 0) return true;
    const LocalFacts& other = facts(world, j);
    for (std::size_t k = 0; k < other.waiting; ++k)
      if (other.waits[k].to == i) return true;
  }
  return false;
}

// True if each node that differs has learned this, and each outvoted node has ceased. The timer
// `rejoin` is longer than the time for both.
bool Mover::have_learned(const CheckedWorld& world) const {
  for (std::size_t i = 0; i < nodes(); ++i) {
    const LocalFacts& node = facts(world, i);
    if (!node.up || node.paused) continue;
    if (node.outvoted && !node.ceased) return false;
    for (std::size_t j = 0; j < nodes(); ++j) {
      const LocalFacts& other = facts(world, j);
      if (other.up && !other.paused && other.other != node.other && (node.differ >> j & 1) == 0 &&
          !is_cut(world, i, j))
        return false;
    }
  }
  return true;
}

// Each copy is for one restore.
unsigned Mover::copies(const CheckedWorld& world) const {
  unsigned count = 0;
  for (std::size_t i = 0; i < nodes(); ++i) count += facts(world, i).copied ? 1 : 0;
  return count;
}

// The timer `right` expires when it is due, `rejoin` when all have learned that they differ, and
// every other timer at any time.
bool Mover::may_expire(const CheckedWorld& world, const LocalFacts& node, Timer timer) const {
  if (timer == Timer::right) return node.right_is_due;
  return timer != Timer::rejoin || have_learned(world);
}

void Mover::labels_of(const CheckedWorld& world, std::size_t i, std::vector<Label>& out) {
  const LocalFacts& node = facts(world, i);
  const auto offer = [&](Op op, std::size_t index = 0) {
    out.push_back({Label::What::op, op, static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i),
                   static_cast<std::uint8_t>(index)});
  };
  if (world.remaining(Trouble::restore) > copies(world) && !node.copied) offer(Op::copy);
  if (!node.up) {
    if (!values_.bounds.slow_restart || node.returns || !under_way(world, i)) offer(Op::recover);
    if (world.remaining(Trouble::difference) > 0) offer(Op::change);
    if (node.copied) offer(Op::restore);
    return;
  }
  if (world.remaining(Trouble::failure) > 0) offer(Op::fail);
  if (node.paused) return offer(Op::resume);
  if (world.remaining(Trouble::pause) > 0) offer(Op::pause);
  if (world.remaining(Trouble::leave) > 0 && !node.leaving) offer(Op::leave);
  for (std::size_t timer = 0; timer < timers; ++timer)
    if ((node.timers >> timer & 1) && may_expire(world, node, static_cast<Timer>(timer)))
      offer(Op::expire, timer);
  if (node.hook_ends) offer(Op::end_hook);
  if (node.hook_may_fail && world.remaining(Trouble::hook) > 0) offer(Op::fail_hook);
  for (std::size_t k = 0; k < node.waiting; ++k) {
    const LocalFacts::Waits& call = node.waits[k];
    if (call.given_up) continue;
    if (world.remaining(Trouble::wrong_timeout) > 0 || !can_be_answered(world, i, call)) {
      offer(Op::silence, k);
      out.back().peer = call.to;
    }
  }
}

void Mover::labels_between(const CheckedWorld& world, std::size_t i, std::size_t j,
                           std::vector<Label>& out) {
  const Bounds& bounds = values_.bounds;
  const LocalFacts& node = facts(world, i);
  const LocalFacts& other = facts(world, j);
  const std::size_t begin = begin_of(world, queue(i, j));
  const std::size_t length = world.length[queue(i, j)];
  const auto offer = [&](Label::What what, Op op, std::size_t index) {
    out.push_back({what, op, static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(j),
                   static_cast<std::uint8_t>(index)});
  };
  const auto item = [&](std::size_t k) -> const ItemFacts& {
    return values_.items.facts(world.item[begin + k]);
  };
  for (std::size_t k = 0; k < length; ++k) {
    bool possible = k == 0 || bounds.channels == Channels::any;
    if (bounds.channels == Channels::incarnation) {
      possible = true;
      for (std::size_t l = 0; l < k; ++l) possible = possible && item(l).life != item(k).life;
    }
    if (!possible) continue;
    if (!node.up) {
      offer(Label::What::lose_last, Op::take, k);  // no node is there to take it
      continue;
    }
    if (node.paused) continue;
    offer(Label::What::op, Op::take, k);
    if (item(k).letter && world.remaining(Trouble::duplicate) > 0)
      offer(Label::What::duplicate, Op::take, k);
    if (item(k).letter && world.remaining(Trouble::loss) > 0) offer(Label::What::lose, Op::take, k);
  }
  if (bounds.channels != Channels::session || !node.up || node.paused || other.up) return;
  if (is_cut(world, i, j)) return;
  if (length > 0 && (item(length - 1).letter || item(length - 1).new_life))
    offer(Label::What::lose_last, Op::take, length - 1);
  bool refused = node.with[j] != 0 || (node.differ >> j & 1) != 0;
  for (std::size_t k = 0; k < length; ++k)
    refused = refused && (item(k).letter || item(k).new_life);
  for (std::size_t k = 0; k < node.waiting; ++k)
    refused = refused || (node.waits[k].to == j && !node.waits[k].given_up);
  if (refused) offer(Label::What::op, Op::refuse, 0);
}

// --- Beginning, and judging

CheckedWorld Mover::first() {
  CheckedWorld world = all_down();
  const std::vector<Label> path = opening();
  room_ = enough_room;
  for (const Label& label : path) {
    std::uint32_t wrong = 0;
    MUSTER_ENSURE(move(world, label, wrong) && !wrong);
  }
  room_ = values_.bounds.queue;
  cut_links(world);
  return world;
}

// Nothing is on its way at this point, because the opening delivers every letter.
void Mover::cut_links(CheckedWorld& world) const {
  if (!values_.bounds.cuts.empty())
    world.left |= std::uint64_t{1} << 4 * static_cast<unsigned>(Trouble::cut);
}

// The nodes that begin Normal come up without trouble and become one group. Letters are delivered
// before new lives begin, and lives begin before timers expire.
std::vector<Label> Mover::opening() {
  std::vector<Label> path;
  const NodeSet& start = values_.bounds.start;
  if (start.empty()) return path;
  CheckedWorld world = all_down();
  room_ = enough_room;
  std::vector<Label> offered;
  const auto rank = [&](const Label& label) {
    if (disturbs(world, label)) {
      const bool starts = label.op == Op::recover && start.contains(NodeId{label.node + 1u}) &&
                          label.fails_after == Label::whole;
      return starts ? 1 : 3;
    }
    if (label.what == Label::What::tick) return 3;
    return label.op == Op::expire ? 2 : 0;
  };
  constexpr std::size_t enough = 1000;
  while (path.size() < enough) {
    labels(world, offered);
    const Label next = *std::min_element(
        offered.rbegin(), offered.rend(),
        [&](const Label& left, const Label& right) { return rank(left) < rank(right); });
    if (rank(next) == 2 && settled(world)) break;
    std::uint32_t wrong = 0;
    MUSTER_ENSURE(move(world, next, wrong) && !wrong);
    path.push_back(next);
  }
  room_ = values_.bounds.queue;
  MUSTER_ENSURE(settled(world));
  return path;
}

bool Mover::disturbs(const CheckedWorld& world, const Label& label) const {
  if (label.fails_after != Label::whole) return true;
  if (label.what != Label::What::op)
    return label.what != Label::What::lose_last && label.what != Label::What::tick;
  switch (label.op) {
    case Op::fail:
    case Op::pause:
    case Op::leave:
    case Op::fail_hook:
    case Op::change:
    case Op::copy:
    case Op::restore:
      return true;
    case Op::recover:
      return !facts(world, label.node).returns;
    case Op::silence:
      return can_be_answered(world, label.node, facts(world, label.node).waits[label.index]);
    default:
      return false;
  }
}

namespace {

// How many times a Trouble may happen, and the field of Bounds that says so. None: unbounded.
struct Allowed {
  const char* field;
  std::optional<unsigned> times;
};

// In the order of Trouble.
std::array<Allowed, 10> allowed(const Bounds& bounds, bool has_clocks) {
  return {{{"failures", bounds.failures},
           {"wrong_timeouts", bounds.wrong_timeouts},
           {"duplicates", bounds.duplicates},
           {"losses", bounds.losses},
           {"pauses", bounds.pauses},
           {"leaves", bounds.leaves},
           {"failed_hooks", bounds.hooks == Hooks::failing ? bounds.failed_hooks : 0},
           {"differences", bounds.differences},
           {"restores", bounds.restores},
           {"ticks", has_clocks ? bounds.ticks : 0}}};
}

}  // namespace

std::vector<std::string> never_came_about(const Values& values, std::uint32_t came_about) {
  std::vector<std::string> never;
  std::uint32_t trouble = 1;
  for (const auto& [field, times] : allowed(values.bounds, values.has_clocks)) {
    if (times.value_or(0) > 0 && (came_about & trouble) == 0) never.emplace_back(field);
    trouble <<= 1;
  }
  return never;
}

CheckedWorld Mover::all_down() {
  CheckedWorld world;
  const Bounds& bounds = values_.bounds;
  unsigned at = 0;
  for (const auto& [field, times] : allowed(bounds, values_.has_clocks)) {
    world.left |= std::uint64_t{std::min(times.value_or(15), 15u)} << at;
    at += 4;
  }
  for (std::size_t i = 0; i < nodes(); ++i) {
    Local local;
    local.node = NodeId{static_cast<std::uint32_t>(i + 1)};
    local.with.resize(nodes());
    local.state = begin(values_.configs[i]);
    world.node[i] = values_.local(local);
  }
  if (bounds.canonical) canonical_(world, nodes());
  return world;
}

std::vector<Standing> Mover::standings(const CheckedWorld& world) const {
  std::vector<Standing> all;
  for (std::size_t i = 0; i < nodes(); ++i)
    all.push_back(values_.standing(facts(world, i).standing));
  return all;
}

std::uint64_t Mover::key_of_standings(const CheckedWorld& world) const {
  std::uint64_t key = 1;
  for (std::size_t i = 0; i < nodes(); ++i) {
    key = (key ^ facts(world, i).standing) * 0x9E3779B97F4A7C15;
    key ^= key >> 29;
  }
  return key | 1;
}

std::optional<Wrong> Mover::judge(const CheckedWorld& world) {
  const std::uint64_t key = key_of_standings(world);
  if (well_.find(key)) return std::nullopt;
  const std::vector<Standing> all = standings(world);
  const auto judged = [&](const char* assertion, auto holds) -> std::optional<Wrong> {
    if (!values_.looks_at(assertion)) return std::nullopt;
    const auto disagreement = holds(all);
    return disagreement ? std::optional(Wrong{assertion, *disagreement}) : std::nullopt;
  };
  if (auto wrong = judged("1a", assertion_1a)) return wrong;
  if (auto wrong = judged("1b", assertion_1b)) return wrong;
  if (auto wrong = judged("works-apart", works_apart)) return wrong;
  if (auto wrong = judged("3a", assertion_3a)) return wrong;
  if (auto wrong = judged("3b", assertion_3b)) return wrong;
  well_.insert(key, true);
  return std::nullopt;
}

namespace {

bool is_settled_in_parts(const std::vector<Standing>& all, const NodeSet& nodes, const Cuts& cuts) {
  const auto of = parts(nodes, cuts);
  return of && std::none_of(of->begin(), of->end(), [&](const NodeSet& together) {
           return assertion_4(all, together).has_value();
         });
}

}  // namespace

bool Mover::settled(const CheckedWorld& world) {
  const bool in_cuts = world.remaining(Trouble::cut) != 0;
  const std::uint64_t key = key_of_standings(world) ^ (in_cuts ? 2u : 0u);
  if (const bool* known = settled_.find(key)) return *known;
  const std::vector<Standing> all = standings(world);
  const Config& config = values_.configs.front();
  const std::size_t quorum = claims_of(config).quorum;
  const Cuts& cuts = in_cuts ? values_.bounds.cuts : Cuts();
  bool settled = false;
  if (values_.of_groups)
    settled = is_settled_in_parts(all, config.nodes, cuts);
  else if (in_cuts)
    settled = !assertion_2_in_cuts(all, cuts, quorum);
  else
    settled = !assertion_2(all, quorum);
  settled_.insert(key, settled);
  return settled;
}

}  // namespace muster::lab::explored
