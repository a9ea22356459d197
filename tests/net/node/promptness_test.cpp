#include "cluster.hpp"
#include "storages.hpp"

#include <base/clock.hpp>

#include <muster/values/text.hpp>

#include <boost/asio/post.hpp>

#include <future>

/// Assumption 9: a node that lets an event wait for longer than T/2 has failed without noticing.
/// The node gets the event Paused before any other event. The tests are about time, so they let
/// time pass.

using namespace muster;
using namespace std::chrono_literals;
using net::boottime_now;
using test::Cluster;

namespace {

/// Timings that are long enough for busy machines to cause no pauses, and short enough for a test
/// to wait.
const Timings prompt = test::patient(1s, 100ms);

/// Keeps the only thread of a context busy for as long as this object lives.
class Busy {
 public:
  explicit Busy(boost::asio::io_context& context) {
    boost::asio::post(context, [this] {
      begun_.set_value();
      over_.get_future().wait();
      ended_.set_value();
    });
    begun_.get_future().wait();
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
  ~Busy() {
    over_.set_value();
    ended_.get_future().wait();
  }

 private:
  std::promise<void> begun_;
  std::promise<void> over_;
  std::promise<void> ended_;
};

/// Lets time pass while the condition holds.
template <class Condition>
void as_long_as(Condition condition) {
  while (condition()) std::this_thread::yield();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(promptness)

// Another thread checks the permit, and finds it invalid before the node learns of the pause.
BOOST_AUTO_TEST_CASE(a_busy_loop_makes_permits_invalid_at_once_and_is_told_as_paused_first) {
  Cluster cluster({.nodes = 1, .timings = prompt});
  cluster.join(1);
  auto permit = cluster.stage.services(NodeId{1}).permits().try_acquire();
  BOOST_TEST_REQUIRE(permit.has_value());
  std::size_t before = 0;
  {
    const Busy busy(cluster.running(1).context);
    cluster.journals.read_all();
    before = cluster.journals.count(NodeId{1});
    as_long_as([&] { return permit->valid(); });
    BOOST_TEST(!cluster.stage.services(NodeId{1}).permits().try_acquire().has_value());
    BOOST_TEST(cluster.journals.count(NodeId{1}) == before);  // the node has not been told yet
  }
  const std::size_t next =
      cluster.await_line(1, "the next event", before, test::is_line<journal::Step>);
  const auto lines = cluster.journals.lines(NodeId{1});
  const auto& event = std::get<journal::Step>(lines[next]).event;
  BOOST_TEST_REQUIRE(std::holds_alternative<Paused>(event), to_text(event));
  BOOST_TEST(std::get<Paused>(event).gap > prompt.T / 2);
  BOOST_TEST(!permit->valid());
  permit.reset();
  cluster.await_group({1});
  BOOST_TEST(cluster.stage.services(NodeId{1}).permits().try_acquire()->valid());
  BOOST_TEST(test::events<Paused>(cluster.journals.lines(NodeId{1}, before)).size() == 1u);
  BOOST_TEST(cluster.journals.life(NodeId{1}).value == 1u);  // no numbers were lost
  cluster.judge();
}

BOOST_AUTO_TEST_CASE(a_save_that_takes_long_makes_what_waited_for_it_late) {
  test::HeldSaves saves(NodeId{1}, [](const SafeState& safe) { return safe.assigned.has_value(); });
  Cluster cluster({.nodes = 1, .timings = prompt, .between = saves.between()});
  cluster.start(1);
  BOOST_TEST_REQUIRE(saves.await());
  cluster.journals.read_all();
  const std::size_t before = cluster.journals.count(NodeId{1});
  // While the loop is busy, the timer `check` expires and its event waits.
  const Duration begun = boottime_now();
  as_long_as([&] { return boottime_now() - begun <= prompt.check_every + prompt.T / 2 + 200ms; });
  cluster.journals.read_all();
  BOOST_TEST(cluster.journals.count(NodeId{1}) == before);  // nothing overtakes a Save
  saves.door.open();
  const std::size_t next =
      cluster.await_line(1, "the next event", before, test::is_line<journal::Step>);
  const auto lines = cluster.journals.lines(NodeId{1});
  BOOST_TEST(std::holds_alternative<journal::Performed>(lines[before]));
  const std::string status = cluster.node(1).status_json();
  BOOST_TEST(test::says(status, "\"slow_saves\":1,"));
  BOOST_TEST(test::says(status, "\"needed_T_ns\":"));
  BOOST_TEST(!test::says(status, "\"needed_T_ns\":0,"));
  BOOST_TEST(test::is_step<Paused>(lines[next]));
  cluster.await_group({1});
  cluster.judge();
}

BOOST_AUTO_TEST_SUITE_END()
