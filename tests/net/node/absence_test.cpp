#include <node/absence.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

using namespace muster;
using namespace std::chrono_literals;
using net::Out;

namespace {

/// A node while none of its lives is running.
struct Absent {
  boost::asio::io_context context;
  int told = 0, backs = 0;
  net::Absence absence{context.get_executor(),
                       {[] { return nullptr; }, [this] { ++told; }, [this] { ++backs; }}};
  const std::string between_lives = "it is starting a new life; ask again";
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(absences, Absent)

BOOST_AUTO_TEST_CASE(end_by_themselves) {
  absence.begin(Out::held_down, 1ms);
  BOOST_TEST(absence.out() == Out::held_down);
  BOOST_TEST(told == 1);
  context.run();
  BOOST_TEST(backs == 1);
  BOOST_TEST(!absence.ordered().has_value());
}

// A node that is held down has had no life yet. Even when its waiting time is over, it has had no
// life yet.
BOOST_AUTO_TEST_CASE(are_not_ordered_while_a_life_begins) {
  absence.begin(Out::held_down, Duration::zero());
  context.run();
  BOOST_TEST(absence.order(Out::stepped_down, 1s).value() == between_lives);
  BOOST_TEST(absence.order(Out::drained, {}).value() == between_lives);
  absence.is_over();
  BOOST_TEST(!absence.out().has_value());
}

BOOST_AUTO_TEST_CASE(last_for_as_long_as_the_last_order_says) {
  absence.begin(Out::stood_back, 1h);
  BOOST_TEST(!absence.order(Out::stepped_down, 1ms).has_value());
  BOOST_TEST(absence.out() == Out::stepped_down);
  context.run();
  BOOST_TEST(backs == 1);
}

BOOST_AUTO_TEST_CASE(of_a_drained_node_end_by_its_owner_alone) {
  BOOST_TEST(absence.undo_drain().value() == "it is not drained");
  absence.begin(Out::stepped_down, 1h);
  BOOST_TEST(!absence.order(Out::drained, {}).has_value());
  context.run();
  BOOST_TEST(backs == 0);
  BOOST_TEST(absence.order(Out::stepped_down, 1ms).value() ==
             "it is drained; muster drain --undo brings it back");
  BOOST_TEST(!absence.undo_drain().has_value());
  context.restart();
  context.run();
  BOOST_TEST(backs == 1);
}

BOOST_AUTO_TEST_CASE(end_no_more_when_the_process_does) {
  absence.begin(Out::stepped_down, 1ms);
  absence.close();
  context.run();
  BOOST_TEST(backs == 0);
  BOOST_TEST(absence.order(Out::drained, {}).value() == "the process is ending");
  BOOST_TEST(absence.undo_drain().value() == "the process is ending");
}

BOOST_AUTO_TEST_CASE(of_hooks_that_fail_are_doubled_until_the_node_was_normal) {
  for (const auto& time : {1s, 2s, 4s}) BOOST_TEST(absence.back_off(false) == time);
  BOOST_TEST(absence.back_off(true) == 1s);
  for (int i = 0; i < 12; ++i) absence.back_off(false);
  BOOST_TEST(absence.back_off(false) == 5min);
}

BOOST_AUTO_TEST_SUITE_END()
