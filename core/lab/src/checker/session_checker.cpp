#include <muster/lab/session_checker.hpp>

#include "session_world.hpp"

#include <muster/values/archive.hpp>
#include <muster/values/hash.hpp>
#include <muster/values/kinds.hpp>
#include <muster/values/text.hpp>

#include <algorithm>
#include <unordered_set>

namespace muster::lab {

namespace sessions {

namespace {

/// A world is known by 128 bits of its canonical form.
using Fingerprint = std::pair<std::uint64_t, std::uint64_t>;
struct Lowest {
  std::size_t operator()(const Fingerprint& of) const { return of.first; }
};

Fingerprint fingerprint(const std::string& bytes) {
  return {digest(bytes).value, digest(bytes + '#').value};
}

std::string in_words(const World& before, const Move& move) {
  std::string said =
      "node " + std::to_string(move.node) + ": " + std::string(enumerator_name(move.what));
  std::replace(said.begin(), said.end(), '_', ' ');
  if (move.what == Happening::reads) {
    const Link& link = before.links[move.which];
    const Side& side = link.dialler.node == move.node ? link.dialler : link.acceptor;
    const auto* frame = std::get_if<host::Frame>(&side.coming.front());
    said += frame ? " " + to_text(*frame) : " the end";
    said += side.node == link.dialler.node ? " (dialled)" : " (accepted)";
  }
  if (!move.drain_finds) said += ", and nothing else has come";
  return said;
}

/// More rounds than any world needs in which nothing fails any more.
constexpr std::size_t most_rounds = 400;

class Search {
 public:
  Search(const SessionBounds& bounds, const std::function<void(const SessionReport&)>& progress)
      : bounds_(bounds), progress_(progress) {}

  SessionReport run() {
    const std::string begin = encode(canonical(first_world(bounds_)));
    add(begin, 0, {});
    std::vector<std::pair<std::uint32_t, std::string>> level{{0, begin}};
    while (!level.empty() && report_.violated.empty()) {
      std::vector<std::pair<std::uint32_t, std::string>> next;
      for (const auto& [index, bytes] : level) {
        expand(index, bytes, next);
        if (!report_.violated.empty()) break;
        if (bounds_.states != 0 && report_.states >= bounds_.states) return report_;
      }
      level = std::move(next);
      ++report_.depth;
      progress_(report_);
    }
    report_.ended = report_.violated.empty();
    return report_;
  }

 private:
  struct Way {
    std::uint32_t from;
    Move move;
  };

  // True where it is new.
  bool add(const std::string& bytes, std::uint32_t from, const Move& move) {
    if (!seen_.insert(fingerprint(bytes)).second) return false;
    ways_.push_back({from, move});
    ++report_.states;
    return true;
  }

  void expand(std::uint32_t index, const std::string& bytes,
              std::vector<std::pair<std::uint32_t, std::string>>& next) {
    const World world = decode<World>(bytes, {.depth = 64, .foreign = false}).value();
    if (!settles(world)) return violated("when nothing fails any more it never settles", index, {});
    for (Move move : moves(world, bounds_, true)) {
      for (const bool finds : {true, false}) {
        move.drain_finds = finds;
        const World after = made(world, move);
        if (!finds) ++report_.drained;
        ++report_.transitions;
        if (!after.violated.empty()) return violated(after.violated, index, move);
        const std::string form = encode(canonical(after));
        if (add(form, index, move))
          next.emplace_back(static_cast<std::uint32_t>(ways_.size() - 1), form);
        if (!after.drained) break;  // there was nothing to find
      }
    }
  }

  bool settles(World world) {
    std::vector<Fingerprint> passed;
    for (std::size_t round = 0; round < most_rounds; ++round) {
      const Fingerprint here = fingerprint(encode(canonical(world)));
      if (settle_.contains(here)) break;
      passed.push_back(here);
      const auto next = next_in_peace(world, bounds_, round);
      if (!next && !settled(world)) return false;
      if (!next) break;
      world = canonical(made(std::move(world), *next));
      if (round + 1 == most_rounds) return false;
    }
    settle_.insert(passed.begin(), passed.end());
    return true;
  }

  void violated(const std::string& what, std::uint32_t index, std::optional<Move> last) {
    report_.violated = what;
    std::vector<Move> way;
    if (last) way.push_back(*last);
    for (; index != 0; index = ways_[index].from) way.push_back(ways_[index].move);
    World world = canonical(first_world(bounds_));
    for (auto move = way.rbegin(); move != way.rend(); ++move) {
      report_.story.push_back(in_words(world, *move));
      world = canonical(made(world, *move));
    }
  }

  const SessionBounds& bounds_;
  const std::function<void(const SessionReport&)>& progress_;
  SessionReport report_;
  std::unordered_set<Fingerprint, Lowest> seen_;
  std::unordered_set<Fingerprint, Lowest> settle_;  ///< worlds from which it settles
  std::vector<Way> ways_;
};

}  // namespace

}  // namespace sessions

SessionReport check_sessions(const SessionBounds& bounds,
                             const std::function<void(const SessionReport&)>& progress) {
  return sessions::Search(bounds, progress).run();
}

}  // namespace muster::lab
