// Visits every world that can be reached from a calm group, breadth first.

#include "apps/postgres/lab/runs.hpp"

#include "core/lab/src/checker/visited.hpp"

#include <muster/values/archive.hpp>
#include <muster/values/hash.hpp>

#include <algorithm>

namespace muster::postgres::lab {

namespace {

/// The search checks for one world in this number that it comes to rest.
constexpr std::uint64_t asked_one_in = 16;

std::uint64_t fingerprint(const PostgresWorld& world) {
  return std::max<std::uint64_t>(hash(world), 1);
}

bool is_of_one_node(const Move& move) {
  switch (move.what) {
    case What::performs:
    case What::promoted:
    case What::flushes:
    case What::ends:
    case What::reorganizes:
    case What::starts:
    case What::all_have_it:
    case What::comes_back:
      return true;
    default:
      return false;
  }
}

std::vector<Move> all_moves(const PostgresWorld& world, const Options& options) {
  std::vector<Move> moves = in_peace(world, options);
  const auto first = std::find_if(moves.begin(), moves.end(), is_of_one_node);
  if (options.prompt && first != moves.end()) moves = {*first};
  for (const Move& move : in_trouble(world, options)) moves.push_back(move);
  return moves;
}

/// The move that led to a world, and the world before it.
struct Way {
  std::uint32_t from{};
  Move move;
};

class Search {
 public:
  Search(const Options& options, std::uint64_t states) : options_(options), most_(states) {}

  SearchReport run() {
    Run first(options_, 1);
    first.calm();
    first.world().had = no_troubles;
    first_ = first.world();
    seen_.insert(fingerprint(first_));
    ways_.emplace_back();
    report_.states = 1;
    std::vector<std::uint32_t> level{0};
    bytes_.push_back(encode(first_));
    while (!level.empty() && !report_.finding) {
      level = expand(level);
      if (most_ != 0 && report_.states >= most_) return report_;
      ++report_.depth;
    }
    report_.ended = !report_.finding;
    return report_;
  }

 private:
  std::vector<std::uint32_t> expand(const std::vector<std::uint32_t>& level) {
    std::vector<std::uint32_t> reached;
    for (const std::uint32_t at : level) {
      const PostgresWorld world =
          decode<PostgresWorld>(std::exchange(bytes_[at], {}), {.depth = 64, .foreign = false})
              .value();
      for (const Move& move : all_moves(world, options_)) {
        PostgresWorld after = world;
        make(after, options_, move);
        ++report_.transitions;
        const std::uint64_t here = fingerprint(after);
        if (after.violated.empty() && !seen_.insert(here)) continue;
        ways_.push_back({at, move});
        reached.push_back(static_cast<std::uint32_t>(ways_.size() - 1));
        bytes_.push_back(encode(after));
        ++report_.states;
        if (!after.violated.empty()) return tell(after.violated), reached;
        if (here % asked_one_in == 0 && !comes_to_rest(after)) return reached;
        if (most_ != 0 && report_.states >= most_) return reached;
      }
    }
    return reached;
  }

  bool comes_to_rest(const PostgresWorld& world) {
    Run run(options_, 1, world);
    run.calm();
    if (run.violated()) tell(run.world().violated);
    return !run.violated();
  }

  void tell(const std::string& violated) {
    Finding finding{violated, {}, {}};
    for (std::uint32_t at = static_cast<std::uint32_t>(ways_.size() - 1); at != 0;
         at = ways_[at].from)
      finding.moves.push_back(ways_[at].move);
    std::reverse(finding.moves.begin(), finding.moves.end());
    PostgresWorld world = first_;
    for (const Move& move : finding.moves) {
      finding.story.push_back(in_words(world, move));
      make(world, options_, move);
    }
    report_.finding = std::move(finding);
  }

  const Options& options_;
  const std::uint64_t most_;
  PostgresWorld first_;
  SearchReport report_;
  muster::lab::explored::Visited seen_;
  std::vector<Way> ways_;
  std::vector<std::string> bytes_;  ///< encodings of worlds that are still to be visited
};

}  // namespace

SearchReport search(const Options& options, std::uint64_t states) {
  return Search(options, states).run();
}

}  // namespace muster::postgres::lab
