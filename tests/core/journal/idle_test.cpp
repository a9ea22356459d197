#include <muster/journal/idle.hpp>
#include <muster/protocol/protocol.hpp>

#include <boost/test/unit_test.hpp>

#include <map>

/// The steps of real nodes that a journal may leave out.

using namespace muster;

namespace {

constexpr NodeId one{1};
constexpr NodeId two{2};
constexpr NodeId three{3};

/// Node 2, the coordinator of node 1. Node 3 is down.
class Coordinator {
 public:
  explicit Coordinator(ProtocolName protocol = ProtocolName::bully) {
    config_.self = two;
    config_.protocol = protocol;
    config_.nodes = {one, two, three};
    state_ = begin(config_);
  }

  /// Takes the step. Returns true if the step is an idle one.
  bool take(const Event& event) {
    const View before = seen_;
    const Actions actions = step(config_, state_, event);
    for (const Action& action : actions)
      if (const auto* send = std::get_if<Send>(&action))
        calls_[send->letter.to] = send->letter.call;
    seen_ = view(config_, state_, before);
    return journal::is_idle(before, event, actions, seen_);
  }
  bool answered(NodeId by, Result result) {
    return take(Received{{by, Incarnation{1}, two, calls_[by], Answer{std::move(result)}}});
  }
  bool unanswered(NodeId by) { return take(Unanswered{by, calls_[by]}); }

  // From Recovered to Normal, with node 1 as member.
  void coordinates() {
    BOOST_TEST(!take(Recovered{}));
    BOOST_TEST(!unanswered(three));
    BOOST_TEST(!take(Stopped{common(state_).ticket, Report{}}));
    BOOST_TEST(!answered(one, Halted{}));
    BOOST_TEST(!answered(one, Joined{}));
    BOOST_TEST(!take(Reorganized{common(state_).ticket, {"task"}}));
    BOOST_TEST(!take(Started{common(state_).ticket}));
    BOOST_TEST(!answered(one, Installed{}));
    BOOST_TEST_REQUIRE(seen_.status == Status::Normal);
  }

  [[nodiscard]] const View& seen() const { return seen_; }

 private:
  Config config_;
  Protocol state_;
  View seen_;
  std::map<NodeId, CallNumber> calls_;
};

struct Coordinating : Coordinator {
  Coordinating() { coordinates(); }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(nothing_of_an_election_is_idle, Coordinator) {
  coordinates();
}

BOOST_FIXTURE_TEST_CASE(a_check_that_finds_all_as_it_was_is_idle, Coordinating) {
  BOOST_TEST(take(Expired{Timer::check}));
  BOOST_TEST(seen().procedure == Wait::Checking);
  BOOST_TEST(answered(one, Normality{true}));
  BOOST_TEST(unanswered(three));  // node 3 is down, as before
  BOOST_TEST(seen().procedure == Wait::Idle);
}

BOOST_FIXTURE_TEST_CASE(a_check_that_finds_something_is_not, Coordinating) {
  BOOST_TEST(take(Expired{Timer::check}));
  BOOST_TEST(!answered(one, Normality{false}));
  Coordinating of_a_lost_member;
  BOOST_TEST(of_a_lost_member.take(Expired{Timer::check}));
  BOOST_TEST(!of_a_lost_member.unanswered(one));
}

BOOST_FIXTURE_TEST_CASE(a_question_that_is_answered_is_idle, Coordinating) {
  BOOST_TEST(take(Received{{three, Incarnation{1}, two, CallNumber{1}, AreYouThere{}}}));
}

// Refusals, lost nodes and the owner's requests are always recorded.
BOOST_AUTO_TEST_CASE(all_else_is_told) {
  const Event events[] = {
      Received{{one, Incarnation{1}, two, CallNumber{9},
                NewCoordinator{{one, Incarnation{1}, 1}, Incarnation{1}, {9, one}}}},
      Received{{three, Incarnation{1}, two, CallNumber{9}, Halt{{three, Incarnation{1}, 1}}}},
      Failed{three, Incarnation{1}},
      Failed{one, Incarnation{1}},
      Paused{std::chrono::seconds(1)},
      ElectionAsked{"new disk"},
      Leaving{}};
  for (const Event& event : events) {
    Coordinating node;
    BOOST_TEST(!node.take(event), to_text(event));
  }
}

BOOST_AUTO_TEST_CASE(nothing_is_idle_while_the_application_does_not_work) {
  View node{Status::Normal, two, GroupNumber{1, two}, {}, {}, {}, Wait::Idle, Activity::Starting};
  BOOST_TEST(!journal::is_idle(node, Expired{Timer::check}, {}, node));
  node.application = Activity::Working;
  BOOST_TEST(journal::is_idle(node, Expired{Timer::check}, {}, node));
}
