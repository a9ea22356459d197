#include <base/alarm.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

using namespace muster;
using namespace std::chrono_literals;
using net::Alarm;

namespace {

struct Strand {
  boost::asio::io_context context;
  std::optional<Alarm> alarm{std::in_place, context.get_executor()};
  int first = 0, second = 0;
  /// Runs `work` after the time of the alarm has come, but before the alarm's handler runs.
  template <class Work>
  void as_its_time_comes(Work work) {
    alarm->after(Duration::zero(), [this] { ++first; });
    boost::asio::post(context, work);
    context.run();
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(alarms, Strand)

BOOST_AUTO_TEST_CASE(do_their_work_once) {
  as_its_time_comes([] {});
  BOOST_TEST(first == 1);
}

BOOST_AUTO_TEST_CASE(do_nothing_that_was_cancelled) {
  as_its_time_comes([this] { alarm->cancel(); });
  BOOST_TEST(first == 0);
}

BOOST_AUTO_TEST_CASE(do_the_last_work_alone) {
  as_its_time_comes([this] { alarm->after(1ms, [this] { ++second; }); });
  BOOST_TEST(first == 0);
  BOOST_TEST(second == 1);
}

BOOST_AUTO_TEST_CASE(do_nothing_when_they_are_gone) {
  as_its_time_comes([this] { alarm.reset(); });
  BOOST_TEST(first == 0);
}

BOOST_AUTO_TEST_CASE(may_be_set_again_by_their_own_work) {
  alarm->after(Duration::zero(), [this] { alarm->after(Duration::zero(), [this] { ++second; }); });
  context.run();
  BOOST_TEST(second == 1);
}

BOOST_AUTO_TEST_SUITE_END()
