#include <muster/lab/session_checker.hpp>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <ostream>
#include <string>
#include <vector>

// `muster check --sessions`: every interleaving of the sessions that ship. docs/findings.md has the
// larger worlds, and a counterexample for each line of the sessions that is left out.

namespace muster::test {
namespace {

using host::SessionLine;

lab::SessionReport searched(const lab::SessionBounds& bounds) {
  return lab::check_sessions(bounds, [](const auto&) {});
}

/// A world with these bounds: lives of each node, resets, and calls that are awaited at one time.
lab::SessionBounds world(unsigned lives, unsigned resets, unsigned calls) {
  lab::SessionBounds bounds;
  bounds.troubles.lives = lives;
  bounds.troubles.resets = resets;
  bounds.calls = calls;
  return bounds;
}

struct Strike {
  SessionLine line{};
  lab::SessionBounds bounds;
  std::string violated;
};

std::ostream& operator<<(std::ostream& out, const Strike& strike) {
  return out << strike.violated;
}

lab::SessionBounds with(lab::SessionBounds bounds, unsigned lab::SessionTroubles::*trouble) {
  bounds.troubles.*trouble = 1;
  return bounds;
}

const std::string not_settled = "nothing happens any more, but the nodes have not settled";
const std::string not_connected =
    "two nodes are up, nothing fails any more, and redials do not connect them";
const std::string closed = "a connection that carries the session at both ends is closed";

const std::vector<Strike> strikes = {
    {SessionLine::outlived_test, world(3, 1, 0), closed},
    {SessionLine::clone_test, with(world(2, 0, 1), &lab::SessionTroubles::restores),
     "a letter comes from a life that was already reported as ended"},
    {SessionLine::stale_test, world(2, 0, 0), closed},
    {SessionLine::crossing_test, world(2, 0, 0), not_connected},
    {SessionLine::crossing_refused_once, with(world(3, 0, 0), &lab::SessionTroubles::silences),
     not_connected},
    {SessionLine::new_life_ends_old, world(3, 0, 1), closed},
    {SessionLine::read_before_new_life, world(3, 0, 1),
     "a life is reported as ended while a letter from it is still unread"},
    {SessionLine::read_before_silence, world(2, 0, 1),
     "a call is reported unanswered, although its answer has come"},
    {SessionLine::hellos_before_refusal, world(2, 0, 1),
     "a call is reported unanswered, although the Hello of the called node has come"},
    {SessionLine::call_before_dial, world(2, 0, 1),
     "a call is reported unanswered before its bound, although the called node is there"},
    {SessionLine::reset_proves_nothing, world(3, 1, 0), not_settled},
    {SessionLine::silence_proves_nothing, world(3, 1, 0), not_settled},
    {SessionLine::session_keeps_dialling, world(3, 1, 0), not_connected},
    {SessionLine::letters_again, world(2, 0, 1),
     "two nodes are connected, nothing is on its way, and a call is not answered"},
    {SessionLine::calls_to_their_life, world(3, 0, 1),
     "a call reaches a life other than the one that it names"},
    {SessionLine::answers_to_their_life, world(3, 0, 1),
     "an answer reaches a life that did not make the call"},
    {SessionLine::answers_awaited, world(2, 0, 1), "a call that has ended is answered"},
    {SessionLine::one_end_of_a_life, world(3, 1, 0), "a life is reported as ended twice"},
};

BOOST_AUTO_TEST_SUITE(session_checker)

BOOST_AUTO_TEST_CASE(every_claim_holds_in_the_smallest_world) {
  const lab::SessionReport report = searched(world(2, lab::any_number, 0));
  BOOST_TEST(report.ended);
  BOOST_TEST(report.violated == "");
  BOOST_TEST(report.states == 22654u);
  BOOST_TEST(report.drained > 0u);
}

BOOST_AUTO_TEST_CASE(two_threads_see_what_one_does) {
  lab::SessionBounds bounds = world(2, 1, 0);
  const lab::SessionReport one = searched(bounds);
  bounds.threads = 2;
  const lab::SessionReport two = searched(bounds);
  BOOST_TEST(one.states == two.states);
  BOOST_TEST(one.transitions == two.transitions);
  BOOST_TEST(one.depth == two.depth);
}

BOOST_AUTO_TEST_CASE(a_search_ends_where_it_is_told_to) {
  lab::SessionBounds bounds;
  bounds.states = 2000;
  const lab::SessionReport report = searched(bounds);
  BOOST_TEST(!report.ended);
  BOOST_TEST(report.violated == "");
  BOOST_TEST(report.states >= 2000u);
}

BOOST_DATA_TEST_CASE(a_line_that_is_struck_violates_a_claim, boost::unit_test::data::make(strikes),
                     strike) {
  lab::SessionBounds bounds = strike.bounds;
  bounds.struck = {strike.line};
  const lab::SessionReport report = searched(bounds);
  BOOST_TEST(report.violated == strike.violated);
  BOOST_TEST(!report.story.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::test
