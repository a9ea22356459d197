#include "hosts.hpp"

#include <muster/values/text.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>

/// The promises to an application (docs/architecture.md, P1 to P8; docs/reference/failures.md), for
/// every style in which it can be written and on each host.

using namespace muster;
using namespace std::chrono_literals;
using test::Act;
using test::Call;
using test::Host;
namespace data = boost::unit_test::data;

namespace {

/// Checks that P2 held in all lives of all nodes, and that no permit of the old group was valid
/// during a `stop`.
void check_order(Host& host) {
  std::map<std::pair<NodeId, unsigned>, bool> stop_owed;
  for (const Call& call : host.script().calls()) {
    const auto life = stop_owed.try_emplace({call.node, call.life}, true).first;
    BOOST_TEST(!call.beside_another);
    BOOST_TEST(!(call.hook == Hook::stop && call.held_valid_permit));
    BOOST_TEST((call.hook == Hook::stop) == life->second,
               "node " << call.node.value << " was asked to " << to_text(call.hook)
                       << " where a stop was " << (life->second ? "" : "not ") << "owed");
    if (call.hook != Hook::reorganize) life->second = call.hook == Hook::start;
  }
}

/// Checks that every definition for which a node started was returned by a `reorganize` in time.
void check_definitions(Host& host) {
  for (const Call& call : host.script().calls()) {
    if (call.hook != Hook::start) continue;
    BOOST_TEST_REQUIRE(call.group.has_value());
    BOOST_CHECK(call.definition.data == test::definition_of(*call.group));
  }
}

void check_end(Host& host) {
  check_order(host);
  check_definitions(host);
  host.judge();
}

bool has(const std::vector<std::string>& failures, const std::string& hook,
         const std::string& words) {
  return std::any_of(failures.begin(), failures.end(), [&](const std::string& failure) {
    return failure.starts_with(hook + ": ") && failure.find(words) != std::string::npos;
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(conformance)

BOOST_DATA_TEST_CASE(a_life_begins_with_one_stop_and_each_start_is_followed_by_one,
                     data::make(test::every_case()), made) {
  const auto host = made.host();
  host->join_all(3);
  host->kill(3);
  host->await_group({1, 2});
  host->start(3);
  host->await_group({1, 2, 3});
  for (std::uint32_t id = 1; id <= 3; ++id) {
    BOOST_TEST(host->script().count(NodeId{id}, Hook::start) > 0u);
    BOOST_TEST(host->failures(id).empty());
  }
  check_end(*host);
}

BOOST_DATA_TEST_CASE(reports_and_definitions_arrive_byte_for_byte, data::make(test::every_case()),
                     made) {
  const auto host = made.host();
  host->join_all(3);
  std::size_t members = 0;
  for (const Call& call : host->script().calls())
    for (const Member& member : call.members) {
      BOOST_CHECK(member.holdings.report.data == test::report_of(member.node));
      ++members;
    }
  BOOST_TEST(members >= 3u);
  check_end(*host);
}

BOOST_DATA_TEST_CASE(permits_are_revoked_before_a_stop, data::make(test::every_case()), made) {
  const auto host = made.host();
  host->join_all(3);
  host->kill(3);
  host->await_group({1, 2});
  BOOST_TEST(host->script().permits_kept() >= 5);
  check_end(*host);
}

BOOST_DATA_TEST_CASE(a_reorganize_that_throws_has_failed_and_is_started_over,
                     data::make(test::every_case()), made) {
  const auto host = made.host({.nodes = 2});
  host->script().tell(NodeId{2}, Hook::reorganize, Act::throws);
  host->join_all(2);
  BOOST_TEST(has(host->failures(2), "reorganize", test::thrown));
  BOOST_TEST(host->failures(2).size() == 1u);
  check_end(*host);
}

BOOST_DATA_TEST_CASE(a_start_that_throws_at_the_coordinator_is_started_over,
                     data::make(test::every_case()), made) {
  const auto host = made.host({.nodes = 2});
  host->script().tell(NodeId{2}, Hook::start, Act::throws);
  host->join_all(2);
  BOOST_TEST(has(host->failures(2), "start", test::thrown));
  check_end(*host);
}

BOOST_DATA_TEST_CASE(a_start_that_throws_at_a_member_is_told_to_the_coordinator,
                     data::make(test::every_case()), made) {
  const auto host = made.host({.nodes = 2});
  host->start(2);
  host->await_group({2});
  host->script().tell(NodeId{1}, Hook::start, Act::throws);
  host->start(1);
  host->await_group({1, 2});
  BOOST_TEST(has(host->failures(1), "start", test::thrown));
  BOOST_TEST(host->failures(2).empty());
  bool told = false;
  for (const Received& received : test::events<Received>(host->lines(2))) {
    const auto* answer = std::get_if<Answer>(&received.letter.message);
    const auto* refused = answer ? std::get_if<Refused>(&answer->result) : nullptr;
    told = told || (refused && refused->why.find(test::thrown) != std::string::npos);
  }
  BOOST_TEST(told);
  check_end(*host);
}

BOOST_DATA_TEST_CASE(a_hook_that_drops_its_done_has_failed, data::make(test::cases_with_done()),
                     made) {
  const auto host = made.host({.nodes = 2});
  host->script().tell(NodeId{2}, Hook::reorganize, Act::drops);
  host->script().tell(NodeId{2}, Hook::start, Act::drops);
  host->join_all(2);
  BOOST_TEST(
      has(host->failures(2), "reorganize", "the hook dropped its Done without completing it"));
  BOOST_TEST(has(host->failures(2), "start", "the hook dropped its Done without completing it"));
  check_end(*host);
}

BOOST_DATA_TEST_CASE(after_three_failures_in_a_row_the_node_stands_back,
                     data::make(test::every_case()), made) {
  const auto host = made.host({.nodes = 1, .short_back_off = true});
  host->script().tell(NodeId{1}, Hook::reorganize, Act::throws, 3);
  host->start(1);
  host->await_group({1});
  const auto calls = host->script().calls();
  BOOST_TEST(calls.back().life > 1u);
  BOOST_TEST(host->failures(1).size() == 3u);
  check_end(*host);
}

BOOST_DATA_TEST_CASE(a_definition_that_is_too_large_is_refused_and_not_cut,
                     data::make(test::every_case()), made) {
  const auto host = made.host({.nodes = 2});
  host->script().tell(NodeId{2}, Hook::reorganize, Act::large);
  host->join_all(2);
  BOOST_TEST(has(host->failures(2), "reorganize", "its definition"));
  BOOST_TEST(has(host->failures(2), "reorganize", "large"));
  check_end(*host);
}

BOOST_DATA_TEST_CASE(a_reorganize_is_cancelled_and_its_late_result_dropped,
                     data::make(test::cases_that_wait()), made) {
  const auto host = made.host();
  host->script().tell(NodeId{2}, Hook::reorganize, Act::waits);
  host->start(1);
  host->start(2);
  host->await("the reorganize of node 2",
              [&] { return host->script().count(NodeId{2}, Hook::reorganize) > 0; });
  host->start(3);
  host->await_group({1, 2, 3});
  BOOST_TEST(host->failures(2).empty());
  check_end(*host);
}

BOOST_DATA_TEST_CASE(a_start_is_cancelled_and_followed_by_one_stop,
                     data::make(test::cases_that_wait()), made) {
  const auto host = made.host({.nodes = 2});
  host->script().tell(NodeId{1}, Hook::start, Act::waits);
  host->start(1);
  host->await("the start of node 1",
              [&] { return host->script().count(NodeId{1}, Hook::start) > 0; });
  host->start(2);
  host->await_group({1, 2});
  check_end(*host);
}

BOOST_DATA_TEST_CASE(a_reorganize_that_overruns_is_cancelled_and_started_over,
                     data::make(test::cases_that_wait()), made) {
  const auto host = made.host({.nodes = 1, .reorganize_deadline = 500ms});
  host->script().tell(NodeId{1}, Hook::reorganize, Act::waits);
  host->start(1);
  host->await_group({1});
  BOOST_TEST(has(host->failures(1), "reorganize", "it overran"));
  check_end(*host);
}

BOOST_AUTO_TEST_SUITE_END()
