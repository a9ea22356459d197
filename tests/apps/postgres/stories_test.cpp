#include "apps/postgres/script.hpp"

#include "apps/postgres/lab/runs.hpp"

#include <muster/detail/values/kinds.hpp>

#include <boost/test/unit_test.hpp>

#include <functional>
#include <string>
#include <vector>

// What no seed finds soon: told move by move.

namespace muster::postgres::test {
namespace {

using lab::all_nodes;
using lab::Move;
using lab::node_at;
using lab::Options;
using lab::What;

/// Moves of a calm world.
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

  /// Makes it, if it may be made.
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
  /// What comes of itself and is of that kind, in turns: a standby tells its status for ever.
  void settle(const std::function<bool(const Move&)>& of) {
    for (std::size_t turn = 0; turn < 400 && violated().empty(); ++turn) {
      std::vector<Move> moves = lab::in_peace(world(), options_);
      std::erase_if(moves, [&](const Move& move) { return !of(move); });
      if (moves.empty()) return;
      run_.make(moves[turn % moves.size()]);
    }
  }
  /// Nothing fails any more.
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

// A standby of five connects again while its primary still has the old connection: PostgreSQL
// counts both, and two copies of three are acknowledged.
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
  BOOST_TEST(story.acknowledged() == before);  // two copies of three
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

// A primary and its equal with a higher id are halted, and the postmaster has not taken its SIGHUP
// when walsenders are ended: it forks one with the names of before for the third, which nobody has
// halted.
std::string ends_walsenders_too_early(CalmRun& story) {
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
  performs();  // muster.conf is sealed
  performs();  // SIGHUP is sent
  const auto& doing = node_at(story.world(), primary).life->doing;
  if (std::holds_alternative<ShowNames>(doing.front().order.what)) {  // where that line stands
    story.must(What::takes_hangup, primary);
    performs();
  }
  performs();  // walsenders are ended
  story.must(What::receiver_ends, third);
  story.must(What::connects, third);
  performs();  // what it holds
  const std::size_t before = story.acknowledged();
  story.commit(primary);
  story.settle([&](const Move& move) {
    return (move.node == third && move.what != What::performs) || move.what == What::hears;
  });
  const bool acknowledged = story.acknowledged() != before;
  story.settle();
  return acknowledged ? "acknowledged behind the seal; " + story.violated() : story.violated();
}

Options with_witness(std::initializer_list<Line> lines) {
  Options options = struck(lines);
  options.witness = true;
  return options;
}

// A primary alone, whose other is back and has all that was written before. Who tells its sessions
// that commits wait has not told them yet, one passes by, and the primary is gone.
std::string passes_by_what_is_demanded(CalmRun& story) {
  const NodeId primary = story.primary();
  const NodeId other = primary == one ? two : one;
  story.must(What::machine_stops, other);
  story.elect(three, {primary, three});
  story.settle();
  story.must(What::lives, other);
  story.elect(three, {one, two, three});
  const auto untold = [&](const Move& move) {
    return move.node != primary || move.what != What::checkpointer_hangup;
  };
  story.settle(untold);
  story.commit(primary);
  story.elect(three, {one, two, three});
  story.settle([&](const Move& move) {
    return untold(move) && (move.node != other || move.what != What::receives) &&
           (move.node != primary || move.what != What::starts);
  });
  story.must(What::machine_stops, primary);
  story.elect(three, {other, three});
  story.settle();
  if (story.violated().empty()) story.calm();
  return story.violated();
}

void expect_a_loss(const std::string& violated) {
  BOOST_TEST(says(violated, "opens, and an acknowledged commit is not in its log"));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(stories)

// In calm, to each other node in turn, and nobody is mended.
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

BOOST_AUTO_TEST_CASE(a_primary_that_leaves_follows_when_it_comes_back_without_being_mended) {
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
  BOOST_TEST(ends_walsenders_too_early(story) == "");
}

// What saves it then is that a primary is chosen before its equals.
BOOST_AUTO_TEST_CASE(the_naive_order_acknowledges_behind_the_seal) {
  CalmRun story(struck({Line::shown_before_ended}));
  BOOST_TEST(ends_walsenders_too_early(story) == "acknowledged behind the seal; ");
}

BOOST_AUTO_TEST_CASE(and_loses_a_commit_where_an_equal_is_chosen) {
  CalmRun story(struck({Line::shown_before_ended, Line::present_primary_stays}));
  expect_a_loss(ends_walsenders_too_early(story));
}

BOOST_AUTO_TEST_CASE(a_copy_is_complete_when_no_session_passes_by_it) {
  CalmRun story(with_witness({}));
  BOOST_TEST(passes_by_what_is_demanded(story) == "");
}

BOOST_AUTO_TEST_CASE(a_demand_that_is_not_in_force_loses_a_commit) {
  CalmRun story(with_witness({Line::demand_is_in_force}));
  expect_a_loss(passes_by_what_is_demanded(story));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::postgres::test
