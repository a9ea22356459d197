#include <muster/journal/halted_in_turn.hpp>
#include <muster/protocol/timings.hpp>

#include <boost/test/unit_test.hpp>

#include <map>

/// The conditions under which a node reports that two coordinators halt it in turn.

namespace muster::test {
namespace {

using namespace std::chrono_literals;

const NodeSet two_and_three{NodeId{2}, NodeId{3}};

struct BetweenTwo {
  void halt(std::uint32_t by, Status after = Status::Election) {
    Letter letter;
    letter.from = NodeId{by};
    letter.incarnation = Incarnation{lives[by]};
    letter.message = Halt{};
    View view;
    view.status = after;
    view.halted_by = NodeId{by};
    turns.take(now, Received{letter}, view);
    now += 1s;
  }
  [[nodiscard]] NodeSet by() const { return turns.by(now); }

  std::map<std::uint32_t, std::uint64_t> lives;
  Timings timings;
  HaltedInTurn turns{timings};
  Duration now = 0s;
};

BOOST_FIXTURE_TEST_SUITE(halted_in_turn, BetweenTwo)

BOOST_AUTO_TEST_CASE(is_said_after_more_than_three_turns) {
  for (const std::uint32_t node : {2U, 3U, 2U, 3U}) {
    halt(node);
    BOOST_TEST(by().empty());
  }
  halt(2);
  BOOST_TEST(by() == two_and_three);
}

BOOST_AUTO_TEST_CASE(is_not_said_of_one_that_halts_again_and_again) {
  for (int i = 0; i < 20; ++i) halt(3);
  BOOST_TEST(by().empty());
}

BOOST_AUTO_TEST_CASE(is_not_said_of_one_that_starts_again_and_again) {
  for (int i = 0; i < 20; ++i) {
    halt(2);
    ++lives[3];
    halt(3);
  }
  BOOST_TEST(by().empty());
}

BOOST_AUTO_TEST_CASE(is_not_said_where_each_halts_once) {
  for (std::uint32_t node = 2; node < 9; ++node) halt(node);
  BOOST_TEST(by().empty());
}

BOOST_AUTO_TEST_CASE(is_said_for_ten_bounds_after_the_last_turns) {
  for (const std::uint32_t node : {2U, 3U, 2U, 3U, 2U}) halt(node);
  now = turns.window() + 1s;
  BOOST_TEST(by() == two_and_three);
  now += 1s;
  BOOST_TEST(by().empty());
}

BOOST_AUTO_TEST_CASE(does_not_count_halts_that_were_not_obeyed) {
  for (const std::uint32_t node : {2U, 3U, 2U, 3U, 2U}) halt(node, Status::Normal);
  BOOST_TEST(by().empty());
}

BOOST_AUTO_TEST_CASE(names_both) {
  BOOST_TEST(halted_in_turn_words(NodeId{1}, two_and_three)
                 .starts_with("nodes 2 and 3 halt node 1 in turn"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::test
