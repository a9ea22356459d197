// Searches every world that can be reached, breadth first, with several threads.

#include "../checker/visited.hpp"
#include "session_world.hpp"

#include <muster/detail/values/kinds.hpp>
#include <muster/values/archive.hpp>
#include <muster/values/hash.hpp>
#include <muster/values/text.hpp>

#include <algorithm>
#include <atomic>
#include <thread>

namespace muster::lab {

namespace sessions {

namespace {

/// A hash of the canonical form; never 0.
std::uint64_t fingerprint(const SessionWorld& world) {
  return std::max<std::uint64_t>(hash(world), 1);
}

std::string in_words(const SessionWorld& before, const Move& move) {
  std::string said =
      "node " + std::to_string(move.node) + ": " + std::string(enumerator_name(move.what));
  std::replace(said.begin(), said.end(), '_', ' ');
  if (move.what == MoveKind::reads) {
    const Link& link = before.links[move.which];
    const Side& side = link.dialler.node == move.node ? link.dialler : link.acceptor;
    const auto* frame = std::get_if<host::Frame>(&side.coming.front());
    said += frame ? " " + to_text(*frame) : " the end";
    said += side.node == link.dialler.node ? " (dialled)" : " (accepted)";
  }
  if (!move.drain_finds) said += ", and nothing else has arrived";
  return said;
}

/// More rounds than any world needs once nothing fails.
constexpr std::size_t most_rounds = 400;

/// More redials than two nodes need if nothing is in their way.
constexpr std::size_t most_redials = 8;

/// The number of worlds that a thread takes at a time.
constexpr std::size_t handful = 64;

/// A world that was reached, with its place in the list of ways.
struct Reached {
  std::uint32_t at{};  ///< the index in the list of ways
  std::string bytes;
};
struct Way {
  std::uint32_t from{};
  Move move;
};

/// The results of one thread at one depth.
struct Found {
  struct WorldAt {
    Way way;
    std::string bytes;
  };
  std::vector<WorldAt> worlds;
  std::uint64_t transitions{};
  std::uint64_t drained{};
  SessionTroubles had{0, 0, 0, 0, 0};  ///< for each trouble, its largest number in one world
  struct Violation {
    Complaint what;
    Way way;
    bool in_peace{};  ///< no move leads to this violation; it appears when nothing fails any more
  };
  std::optional<Violation> violation;
};

class Search {
 public:
  Search(const SessionBounds& bounds, const std::function<void(const SessionReport&)>& progress,
         const std::function<bool()>& interrupted)
      : bounds_(bounds), progress_(progress), interrupted_(interrupted) {}

  SessionReport run() {
    SessionWorld first;
    make_canonical(first, bounds_);
    seen_.insert(fingerprint(first));
    ways_.emplace_back();
    report_.states = 1;
    std::vector<Reached> level{{0, encode(first)}};
    while (!level.empty() && report_.violated.empty()) {
      if (bounds_.states != 0 && report_.states >= bounds_.states) return report_;
      level = expand(level);
      report_.interrupted = is_interrupted();
      if (report_.interrupted) return report_;
      ++report_.depth;
      progress_(report_);
    }
    report_.ended = report_.violated.empty();
    note_what_never_came();
    return report_;
  }

 private:
  static void raise(SessionTroubles& most, const SessionTroubles& had) {
    for (const auto trouble : all_troubles) most.*trouble = std::max(most.*trouble, had.*trouble);
  }

  void note_what_never_came() {
    std::vector<unsigned> had;
    for_each_field(had_, [&](const char*, unsigned times) { had.push_back(times); });
    std::size_t i = 0;
    for_each_field(bounds_.troubles, [&](const char* name, unsigned allowed) {
      if (had[i++] == 0 && allowed > 0 && allowed != any_number) report_.never.emplace_back(name);
    });
  }

  [[nodiscard]] bool is_interrupted() const { return interrupted_ && interrupted_(); }

  std::vector<Reached> expand(const std::vector<Reached>& level) {
    std::vector<Found> found(std::max(bounds_.threads, 1U));
    std::atomic<std::size_t> next = 0;
    const auto work = [&](Found& mine) {
      for (std::size_t begin;
           (begin = next.fetch_add(handful)) < level.size() && !is_interrupted();)
        for (std::size_t i = begin; i < std::min(begin + handful, level.size()); ++i)
          if (!mine.violation) expand(level[i], mine);
    };
    {
      std::vector<std::jthread> others;
      for (std::size_t i = 1; i < found.size(); ++i)
        others.emplace_back([&, i] { work(found[i]); });
      work(found.front());
    }
    std::vector<Reached> reached;
    for (Found& one : found) {
      report_.transitions += one.transitions;
      report_.drained += one.drained;
      raise(had_, one.had);
      for (Found::WorldAt& world : one.worlds) {
        reached.push_back({static_cast<std::uint32_t>(ways_.size()), std::move(world.bytes)});
        ways_.push_back(world.way);
      }
      if (one.violation && report_.violated.empty()) tell(*one.violation);
    }
    report_.states += reached.size();
    return reached;
  }

  void expand(const Reached& reached, Found& found) {
    const SessionWorld world =
        decode<SessionWorld>(reached.bytes, {.depth = 64, .foreign = false}).value();
    const std::uint64_t here = fingerprint(world);
    Complaint complaint;
    if (!settling_.contains(here)) complaint = settles(world, here);
    if (complaint.empty() && is_trouble(ways_[reached.at].move.what) && is_apart(world) &&
        !meeting_.contains(here))
      complaint = meets(world, here);
    if (!complaint.empty()) {
      found.violation = {std::move(complaint), {reached.at, {}}, true};
      return;
    }
    for (Move move : moves(world, bounds_, true)) {
      for (const bool finds : {true, false}) {
        move.drain_finds = finds;
        SessionWorld after = made(world, move, bounds_);
        const bool drained = after.drained;
        if (!finds) ++found.drained;
        ++found.transitions;
        raise(found.had, after.had);
        if (!after.violated.empty()) {
          found.violation = {after.violated, {reached.at, move}, false};
          return;
        }
        make_canonical(after, bounds_);
        if (seen_.insert(fingerprint(after)))
          found.worlds.push_back({{reached.at, move}, encode(after)});
        if (!drained) break;  // there was nothing to find
      }
    }
  }

  // The violation that appears if nothing fails from here on.
  Complaint settles(SessionWorld world, std::uint64_t here) {
    std::vector<std::uint64_t> passed;
    std::size_t deadlines = 0;
    for (std::size_t round = 0; round < most_rounds; ++round) {
      if (round > 0) here = fingerprint(world);
      if (settling_.contains(here)) break;
      passed.push_back(here);
      const auto next = next_in_peace(world, bounds_, deadlines);
      if (next && next->what == MoveKind::deadline) {
        ++deadlines;
        if (Complaint complaint = lost(world); !complaint.empty()) return complaint;
      }
      if (!next && !settled(world))
        return "nothing happens any more, but the nodes have not settled";
      if (!next) break;
      world = made(std::move(world), *next, bounds_);
      if (!world.violated.empty()) return world.violated;
      make_canonical(world, bounds_);
      if (round + 1 == most_rounds) return "nothing fails any more, but the nodes never settle";
    }
    for (const std::uint64_t one : passed) settling_.insert(one);
    return {};
  }

  // The violation that appears if nothing fails from here on and both nodes do everything at the
  // same moment. The two nodes must be connected after a few redials, before any bound of T has
  // passed. Only worlds after a trouble are checked, because checking all worlds would take a sixth
  // of the time of the whole search.
  Complaint meets(SessionWorld world, std::uint64_t here) {
    std::vector<std::uint64_t> passed;
    std::size_t redials = 0;
    while (is_apart(world) && !meeting_.contains(here)) {
      passed.push_back(here);
      const std::vector<Move> both = next_in_step(world, bounds_);
      if (both.empty() || redials > most_redials || passed.size() > most_rounds)
        return "two nodes are up, nothing fails any more, and redials do not connect them";
      if (both.front().what == MoveKind::deadline) ++redials;
      for (const Move& move : both) world = made(std::move(world), move, bounds_);
      if (!world.violated.empty()) return world.violated;
      make_canonical(world, bounds_);
      here = fingerprint(world);
    }
    for (const std::uint64_t one : passed) meeting_.insert(one);
    return {};
  }

  void tell(const Found::Violation& violation) {
    report_.violated = violation.what;
    std::vector<Move> way;
    if (!violation.in_peace) way.push_back(violation.way.move);
    for (std::uint32_t at = violation.way.from; at != 0; at = ways_[at].from)
      way.push_back(ways_[at].move);
    SessionWorld world;
    for (auto move = way.rbegin(); move != way.rend(); ++move) {
      make_canonical(world, bounds_);
      report_.story.push_back(in_words(world, *move));
      world = made(std::move(world), *move, bounds_);
    }
    if (violation.in_peace) report_.story.emplace_back("nothing fails any more");
  }

  const SessionBounds& bounds_;
  const std::function<void(const SessionReport&)>& progress_;
  const std::function<bool()>& interrupted_;
  SessionTroubles had_{0, 0, 0, 0, 0};
  SessionReport report_;
  explored::Visited seen_;
  explored::Visited settling_;  ///< worlds from which it settles
  explored::Visited meeting_;   ///< worlds from which two separated nodes connect
  std::vector<Way> ways_;
};

}  // namespace

}  // namespace sessions

SessionReport check_sessions(const SessionBounds& bounds,
                             const std::function<void(const SessionReport&)>& progress,
                             const std::function<bool()>& interrupted) {
  return sessions::Search(bounds, progress, interrupted).run();
}

}  // namespace muster::lab
