#include "apps/postgres/script.hpp"

#include "apps/postgres/lab/runs.hpp"

#include <muster/detail/values/kinds.hpp>

#include <boost/test/unit_test.hpp>

#include <functional>
#include <string>
#include <vector>

// Runs that random seeds would rarely find, written move by move.

namespace muster::postgres::test {
namespace {

using lab::all_nodes;
using lab::Move;
using lab::node_at;
using lab::Options;
using lab::What;

/// Makes moves in a calm world.
class CalmRun {
 public:
  explicit CalmRun(Options options) : options_(std::move(options)), run_(options_, 1) {
    run_.calm();
  }

  [[nodiscard]] lab::PostgresWorld& world() { return run_.world(); }
  [[nodiscard]] const std::string& violated() { return world().violated; }
  [[nodiscard]] const lab::Counts& counts() { return run_.counts(); }
  [[nodiscard]] std::size_t acknowledged() { return world().acknowledged.size(); }
  [[nodiscard]] NodeId primary() {
    for (NodeId node : all_nodes(world()))
      if (node_at(world(), node).postgres && node_at(world(), node).postgres->primary) return node;
    BOOST_FAIL("there is no primary");
    return {};
  }

  /// Makes the move, if it is possible.
  bool happens(What what, NodeId node, std::uint32_t which = 0) {
    for (const auto& moves : {lab::in_peace(world(), options_), lab::in_trouble(world(), options_)})
      for (const Move& move : moves)
        if (move.what == what && move.node == node && move.which == which) {
          run_.make(move);
          return true;
        }
    return false;
  }
  void must(What what, NodeId node, std::uint32_t which = 0) {
    BOOST_REQUIRE_MESSAGE(happens(what, node, which),
                          "node " << node.value << " " << enumerator_name(what));
  }
  /// Makes moves that happen by themselves and for which `of` returns true. The kinds of moves take
  /// turns: a standby can always send its status, and would otherwise keep the other moves from
  /// being made.
  void settle(const std::function<bool(const Move&)>& of) {
    for (std::size_t turn = 0; turn < 400 && violated().empty(); ++turn) {
      std::vector<Move> moves = lab::in_peace(world(), options_);
      std::erase_if(moves, [&](const Move& move) { return !of(move); });
      if (moves.empty()) return;
      run_.make(moves[turn % moves.size()]);
    }
  }
  /// From now on nothing fails.
  void calm() { run_.calm(); }
  void settle() {
    settle([](const Move&) { return true; });
  }
  void cut(NodeId from, NodeId other) {
    must(What::cuts, std::min(from, other), std::max(from, other).value);
  }
  void heal_all() {
    while (!world().cuts.empty()) must(What::heals, one);
  }
  void commit(NodeId node) {
    must(What::commits, node);
    must(What::flushes, node);
  }
  void elect(NodeId coordinator, const NodeSet& members) {
    std::uint32_t set = 0;
    for (NodeId node : members) set |= 1U << (node.value - 1);
    must(What::elects, coordinator, set);
  }

 private:
  Options options_;
  lab::Run run_;
};

Options struck(std::initializer_list<Line> lines, unsigned nodes = 3) {
  Options options;
  options.nodes = nodes;
  options.copies_of_commit = nodes / 2 + 1;
  options.struck = lines;
  return options;
}

// A standby of five connects again while its primary still has the old connection. If PostgreSQL
// counts both, a commit with only two of the three copies is acknowledged.
std::string connects_twice(CalmRun& story) {
  const NodeId primary = story.primary();
  const NodeId standby = primary == one ? two : one;
  NodeSet others = all_nodes(story.world());
  others.erase(primary);
  others.erase(standby);
  for (NodeId other : others) story.cut(primary, other);
  const std::size_t before = story.acknowledged();
  story.commit(primary);
  const auto of_pair = [&](const Move& move) {
    return move.what == What::receives || move.what == What::flushes || move.what == What::hears;
  };
  story.settle(of_pair);
  BOOST_TEST(story.acknowledged() == before);  // only two of the three copies existed
  story.cut(primary, standby);
  story.must(What::receiver_ends, standby);
  story.must(What::heals, one, static_cast<std::uint32_t>(story.world().cuts.size() - 1));
  story.happens(What::connects, standby);
  story.settle(of_pair);
  if (story.acknowledged() == before) return "";
  story.must(What::machine_stops, primary);
  story.must(What::machine_stops, standby);
  story.elect(*others.begin(), others);
  story.settle();
  return story.violated();
}

// An election halts a primary and a standby with an equal log and a higher id. The third node,
// which no election has halted, comes back to the primary as soon as its walsender is ended.
std::string comes_back_to_a_sealed_primary(CalmRun& story) {
  story.must(What::machine_stops, three);
  story.elect(one, {one, two});
  story.settle();
  story.must(What::lives, three);
  story.settle();
  story.elect(one, {one, two, three});
  story.settle();
  const NodeId primary = story.primary();
  BOOST_REQUIRE(primary != three);
  const NodeId equal = primary == one ? two : three;
  const NodeId third = primary == one ? three : one;

  story.elect(primary, {primary, equal});
  story.settle([&](const Move& move) {
    return move.node == equal && move.what != What::reorganizes && move.what != What::starts;
  });
  const auto performs = [&] { story.must(What::performs, primary); };
  performs();  // muster.conf is written
  performs();  // SIGHUP is sent
  performs();  // walsenders are ended
  story.must(What::receiver_ends, third);
  story.must(What::connects, third);  // its slot is not dropped yet
  performs();                         // walsenders are ended again
  story.must(What::receiver_ends, third);
  performs();  // slots are dropped
  story.happens(What::connects, third);
  performs();  // the node reads its holding
  const std::size_t before = story.acknowledged();
  story.commit(primary);
  story.settle([&](const Move& move) {
    return (move.node == third && move.what != What::performs) || move.what == What::hears;
  });
  const bool acknowledged = story.acknowledged() != before;
  story.settle();
  return acknowledged ? "acknowledged behind the seal; " + story.violated() : story.violated();
}

void expect_a_loss(const std::string& violated) {
  BOOST_TEST(says(violated, "opens, and an acknowledged commit is not in its log"));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(stories)

// In a calm cluster, the primary hands over to each other node, one after another, and no node is
// rewound or cloned.
BOOST_AUTO_TEST_CASE(to_whom_it_is_handed_over_is_primary_and_all_others_follow_at_once) {
  for (const unsigned nodes : {3U, 5U}) {
    CalmRun story(struck({}, nodes));
    const lab::Counts before = story.counts();
    for (NodeId heir : all_nodes(story.world())) {
      if (heir == story.primary()) continue;
      story.commit(story.primary());
      story.must(What::hands_over, story.primary(), heir.value);
      story.calm();
      BOOST_TEST(story.violated() == "");
      BOOST_TEST(story.primary() == heir);
    }
    BOOST_TEST(story.counts().hand_overs > before.hand_overs);
    BOOST_TEST(story.counts().rewinds == before.rewinds);
    BOOST_TEST(story.counts().clones == before.clones);
  }
}

BOOST_AUTO_TEST_CASE(a_primary_that_leaves_follows_without_a_resync_when_it_comes_back) {
  CalmRun story(struck({}));
  const lab::Counts before = story.counts();
  for (unsigned time = 0; time < 4; ++time) {
    const NodeId primary = story.primary();
    story.commit(primary);
    story.must(What::leaves, primary);
    story.settle([](const Move& move) { return move.what != What::comes_back; });
    NodeSet others = all_nodes(story.world());
    others.erase(primary);
    story.elect(*others.begin(), others);
    story.settle([](const Move& move) { return move.what != What::comes_back; });
    BOOST_TEST(story.primary() != primary);
    story.must(What::comes_back, primary, time % 2);
    story.calm();
    BOOST_TEST(story.violated() == "");
  }
  BOOST_TEST(story.counts().leaves == before.leaves + 4);
  BOOST_TEST(story.counts().rewinds == before.rewinds);
  BOOST_TEST(story.counts().clones == before.clones);
}

BOOST_AUTO_TEST_CASE(a_standby_counts_once) {
  CalmRun story(struck({}, 5));
  BOOST_TEST(connects_twice(story) == "");
}

BOOST_AUTO_TEST_CASE(a_standby_that_counts_twice_loses_a_commit) {
  CalmRun story(struck({Line::one_walsender_each}, 5));
  expect_a_loss(connects_twice(story));
}

BOOST_AUTO_TEST_CASE(nothing_is_acknowledged_behind_a_seal) {
  CalmRun story(struck({}));
  BOOST_TEST(comes_back_to_a_sealed_primary(story) == "");
}

// The rule that the present primary is chosen before its equals prevents a loss here.
BOOST_AUTO_TEST_CASE(a_seal_that_leaves_the_slots_acknowledges) {
  CalmRun story(struck({Line::slots_are_the_gate}));
  BOOST_TEST(comes_back_to_a_sealed_primary(story) == "acknowledged behind the seal; ");
}

BOOST_AUTO_TEST_CASE(and_loses_a_commit_where_an_equal_is_chosen) {
  CalmRun story(struck({Line::slots_are_the_gate, Line::present_primary_stays}));
  expect_a_loss(comes_back_to_a_sealed_primary(story));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::postgres::test
