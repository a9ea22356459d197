// Makes random runs from seeds, and plays a script with a failure after each of its moves.

#include "apps/postgres/lab/runs.hpp"

#include <algorithm>

namespace muster::postgres::lab {

namespace {

constexpr unsigned most_moves_to_calm = 3000;

Counts counts_of_one() {
  Counts counts;
  counts.runs = 1;
  return counts;
}

}  // namespace

Counts& Counts::operator+=(const Counts& other) {
  const auto add = [&](std::uint64_t Counts::*count) { this->*count += other.*count; };
  for (auto count :
       {&Counts::runs, &Counts::moves, &Counts::elections, &Counts::acknowledged,
        &Counts::promotions, &Counts::rewinds, &Counts::clones, &Counts::leaves,
        &Counts::hand_overs, &Counts::restores, &Counts::early_ends, &Counts::alone, &Counts::next})
    add(count);
  return *this;
}

void Run::make(const Move& move) {
  made_.push_back(move);
  lab::make(world_, options_, move, &counts_);
}

bool Run::in_peace() {
  const std::vector<Move> moves = lab::in_peace(world_, options_);
  if (moves.empty()) return false;
  make(moves[random_.below(moves.size())]);
  return true;
}

void Run::at_random(const Weather& weather) {
  if (!random_.one_in(weather.one_in) && in_peace()) return;
  const std::vector<Move> moves = lab::in_trouble(world_, options_);
  Weights weights{};
  for (const Move& move : moves) {
    const auto what = static_cast<std::size_t>(move.what);
    weights[what] = weather.weights[what];
  }
  unsigned sum = 0;
  for (const unsigned one : weights) sum += one;
  if (sum == 0) return;
  std::uint64_t left = random_.below(sum);
  std::size_t what = 0;
  for (; left >= weights[what]; ++what) left -= weights[what];
  std::vector<Move> of_that;
  std::copy_if(moves.begin(), moves.end(), std::back_inserter(of_that),
               [&](const Move& move) { return static_cast<std::size_t>(move.what) == what; });
  make(of_that[random_.below(of_that.size())]);
}

bool Run::until_calm() {
  for (unsigned moves = 0; moves < most_moves_to_calm && !violated(); ++moves) {
    if (is_calm(world_, options_)) return true;
    if (const auto election = wanted_election(world_, options_))
      make(*election);
    else if (!in_peace())
      return false;
  }
  return false;
}

void Run::calm() {
  if (options_.hasty) return;
  while (!world_.cuts.empty()) make({What::heals, NodeId{1}, 0});
  if (last_generation(world_, options_) > 1) take_next_list();
  come_to_rest();
  if (options_.upgrade && !violated()) {
    upgrade();
    come_to_rest();
  }
  if (!options_.next || violated() || last_generation(world_, options_) > 1) return;
  take_next_list();
  come_to_rest();
}

void Run::take_next_list() {
  for (NodeId node : all_nodes(world_)) {
    if (node_at(world_, node).generation > 1) continue;
    if (node_at(world_, node).life) make({What::node_killed, node, 0});
    if (options_.next->nodes.contains(node)) make({What::goes_on, node, 0});
  }
}

void Run::upgrade() {
  for (NodeId node : data_nodes(world_)) {
    if (!node_at(world_, node).old) continue;
    if (node_at(world_, node).life) make({What::node_killed, node, 0});
    make({What::upgrades, node, 0});
  }
}

void Run::come_to_rest() {
  for (NodeId node : configured_nodes(world_, options_))
    if (!node_at(world_, node).life) make({What::lives, node, 0});
  const Making making{world_, options_, &counts_};
  if (!until_calm())
    return making.complain("no fault is left, but the cluster does not come to rest");
  const std::size_t before = world_.acknowledged.size();
  for (NodeId node : configured_nodes(world_, options_))
    if (is_writing(world_, node)) make({What::commits, node, 0});
  for (unsigned moves = 0; world_.acknowledged.size() == before && !violated(); ++moves)
    if (moves == most_moves_to_calm || !in_peace())
      return making.complain("the cluster is at rest, but a commit is not acknowledged");
}

Finding Run::finding() const {
  Finding finding{world_.violated, made_, {}};
  PostgresWorld world = first_;
  for (const Move& move : made_) {
    finding.story.push_back(in_words(world, move));
    lab::make(world, options_, move);
  }
  return finding;
}

// --- Seeds

// Each run has its own mix of faults, in which some kinds do not occur. If all kinds occurred in
// each run, a violation that needs two faults of one kind would rarely be found.
Weather::Weather(std::uint64_t seed) {
  muster::lab::simulated::Random random(~seed);
  one_in = std::uint64_t{4} << random.below(4);
  const auto set = [&](What what, unsigned least, unsigned most) {
    const auto chosen = random.one_in(3) ? least : random.below(most) + 1;
    weights[static_cast<std::size_t>(what)] = static_cast<unsigned>(chosen);
  };
  set(What::commits, 12, 36);
  set(What::elects, 1, 8);
  set(What::lives, 2, 12);
  set(What::heals, 1, 8);
  for (const What what :
       {What::fails, What::node_killed, What::postgres_killed, What::machine_stops, What::cuts})
    set(what, 0, 6);
  set(What::overdue, 0, 3);
  set(What::leaves, 0, 1);
  set(What::hands_over, 0, 12);
  set(What::restores, 0, 12);
  set(What::rejoins, 0, 3);
  set(What::ends_early, 0, 6);
  set(What::goes_on, 0, 12);
  set(What::sets_names, 0, 3);
  set(What::recycles, 0, 3);
  set(What::promotes, 0, 3);
  set(What::repeats, 4, 24);
  set(What::forges, 0, 3);
  set(What::replays, 0, 6);
  set(What::rewrites_rows, 0, 3);
  set(What::refuses, 0, 3);
  set(What::upgrades, 0, 12);
}

Report run_seeds(const Options& options, std::uint64_t first, std::uint64_t count, unsigned moves) {
  Report report;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    Run run(options, seed);
    run.counts() = counts_of_one();
    const Weather weather(seed);
    for (NodeId node : configured_nodes(run.world(), options)) run.make({What::lives, node, 0});
    for (unsigned made = 0; made < moves && !run.violated(); ++made) run.at_random(weather);
    if (!run.violated()) run.calm();
    report.counts += run.counts();
    if (run.violated()) {
      report.finding = run.finding();
      report.seed = seed;
      return report;
    }
  }
  return report;
}

// --- A failure at every point

namespace {

struct Death {
  std::size_t after{};  ///< the number of moves before the failure
  NodeId node;
  What how{};
};

/// Plays a script. A failure follows one of its moves, if the script gets to that move.
class Scripted {
 public:
  Scripted(const Options& options, const std::optional<Death>& death)
      : run_(options, 7), death_(death) {
    run_.counts() = counts_of_one();
  }

  // The script: a group begins and commits. It loses its primary and gets another. The old primary
  // comes back, takes over again, and leaves.
  void play() {
    for (NodeId node : all_nodes(run_.world())) make({What::lives, node, 0});
    const std::uint32_t all = (1U << run_.world().nodes.size()) - 1;
    elect(all);
    commit();
    commit();
    const auto primary = writing();
    if (!primary) return;
    make({What::node_killed, *primary, 0});
    elect(all);
    commit();
    if (!node_at(run_.world(), *primary).life) make({What::lives, *primary, 0});
    elect(all);
    commit();
    hand_over_to(*primary);
    elect(all);
    commit();
    if (const auto next = writing()) make({What::leaves, *next, 0});
    settle();
    elect(all);
    commit();
  }
  [[nodiscard]] Run& run() { return run_; }
  [[nodiscard]] std::size_t moves() const { return moves_; }

 private:
  void make(const Move& move) {
    if (run_.violated()) return;
    if (possible(move)) run_.make(move);
    dies_at(++moves_);
  }
  // After a failure, the moves of the script that are still possible are made.
  [[nodiscard]] bool possible(const Move& move) {
    const Node& node = node_at(run_.world(), move.node);
    if (move.what == What::commits) return node.postgres && node.postgres->primary;
    if (move.what == What::lives) return !node.life;
    if (move.what == What::leaves) return node.life && !node.life->leaving;
    return node.life.has_value();
  }
  void dies_at(std::size_t move) {
    if (!death_ || move != death_->after) return;
    const Node& node = node_at(run_.world(), death_->node);
    bool possible = node.life || node.postgres;
    if (death_->how == What::node_killed) possible = node.life.has_value();
    if (death_->how == What::postgres_killed) possible = node.postgres && !node.postgres->orphan;
    if (possible) run_.make({death_->how, death_->node, 0});
  }
  void settle() {
    while (!run_.violated() && run_.in_peace()) dies_at(++moves_);
  }
  void elect(std::uint32_t set) {
    for (NodeId node : all_nodes(run_.world())) {
      if (!node_at(run_.world(), node).life) continue;
      make({What::elects, node, set});
      break;
    }
    settle();
  }
  void hand_over_to(NodeId heir) {
    if (const auto from = writing(); from && from != heir)
      make({What::hands_over, *from, heir.value});
    settle();
  }
  std::optional<NodeId> writing() {
    for (NodeId node : all_nodes(run_.world())) {
      const Node& own = node_at(run_.world(), node);
      if (own.postgres && own.postgres->primary && own.life) return node;
    }
    return std::nullopt;
  }
  void commit() {
    if (const auto primary = writing()) make({What::commits, *primary, 0});
    settle();
  }

  Run run_;
  std::optional<Death> death_;
  std::size_t moves_ = 0;
};

}  // namespace

Report crash_everywhere(const Options& options) {
  Report report;
  const auto play = [&](const std::optional<Death>& death) {
    Scripted scripted(options, death);
    scripted.play();
    if (!scripted.run().violated()) scripted.run().calm();
    report.counts += scripted.run().counts();
    if (scripted.run().violated()) report.finding = scripted.run().finding();
    return scripted.moves();
  };
  const std::size_t moves = play(std::nullopt);
  for (std::size_t after = 1; after <= moves; ++after)
    for (std::uint32_t node = 1; node <= options.nodes; ++node)
      for (const What how : {What::node_killed, What::postgres_killed, What::machine_stops}) {
        if (report.finding) return report;
        play(Death{after, NodeId{node}, how});
      }
  return report;
}

}  // namespace muster::postgres::lab
