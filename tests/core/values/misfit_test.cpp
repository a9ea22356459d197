#include <muster/protocol/cluster_text.hpp>
#include <muster/protocol/misfit.hpp>

#include <boost/test/unit_test.hpp>

#include <set>

// Bounds and periods that contradict each other are reported before a node starts with them.

namespace muster::test {
namespace {

using namespace std::chrono_literals;

/// Changes one of the default timings. Returns "timing: expected" for a timing that does not fit
/// the others; empty if all fit together.
std::string wrong(Duration Timings::*which, Duration length) {
  Timings timings;
  timings.*which = length;
  const auto found = misfit(timings);
  return found ? found->key + ": " + found->expected : "";
}

BOOST_AUTO_TEST_SUITE(timings)

BOOST_AUTO_TEST_CASE(what_ships_fits) {
  BOOST_TEST(!misfit(Timings{}).has_value());
}

BOOST_AUTO_TEST_CASE(nothing_takes_no_time) {
  BOOST_TEST(wrong(&Timings::T, 0ms) == "T: longer than 0");
  BOOST_TEST(wrong(&Timings::stop_deadline, -1ns) == "stop_deadline: longer than 0");
  BOOST_TEST(wrong(&Timings::stop_deadline, 1ns) == "");
}

BOOST_AUTO_TEST_CASE(nothing_takes_longer_than_a_day) {
  BOOST_TEST(wrong(&Timings::T, Duration::max()) == "T: at most 86400 s");
  BOOST_TEST(wrong(&Timings::stop_deadline, longest_time + 1ns) ==
             "stop_deadline: at most 86400 s");
  BOOST_TEST(wrong(&Timings::stop_deadline, longest_time) == "");
}

BOOST_AUTO_TEST_CASE(a_coordinator_that_keeps_to_T_is_not_suspected) {
  BOOST_TEST(wrong(&Timings::coordinator_timeout, 50ms) ==
             "coordinator_timeout: longer than check_every = 50 ms, best check_every + T = 150 ms");
  BOOST_TEST(
      wrong(&Timings::coordinator_timeout, 99ms) ==
      "coordinator_timeout: at least T = 100 ms: a coordinator that is slow within T would be "
      "suspected");
  BOOST_TEST(wrong(&Timings::coordinator_timeout, 100ms) == "");
}

BOOST_AUTO_TEST_CASE(a_reorganization_has_time_for_a_question) {
  BOOST_TEST(wrong(&Timings::reorganize_deadline, 99ms) ==
             "reorganize_deadline: at least T = 100 ms: a question to a member may take that long");
  BOOST_TEST(wrong(&Timings::reorganize_deadline, 100ms) == "");
}

BOOST_AUTO_TEST_CASE(a_T_that_no_timer_keeps_to_is_none) {
  BOOST_TEST(wrong(&Timings::T, 999us) == "T: at least \"1ms\"");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(configurations)

Config good() {
  Config config;
  config.self = {2};
  config.nodes = {{1}, {2}, {3}};
  return config;
}

template <class Change>
std::string wrong_after(const Change& change) {
  Config config = good();
  change(config);
  const auto found = misfit(config);
  return found ? found->key + ": " + found->expected : "";
}

BOOST_AUTO_TEST_CASE(that_ship_fit) {
  BOOST_TEST(wrong_after([](Config&) {}) == "");
  BOOST_TEST(wrong_after([](Config& config) { config.repairs = Repairs::none(); }) == "");
  BOOST_TEST(wrong_after([](Config& config) { config.options.quorum = Quorum::majority; }) == "");
}

BOOST_AUTO_TEST_CASE(have_nodes_with_ids_from_1_on_of_which_this_is_one) {
  BOOST_TEST(wrong_after([](Config& config) { config.nodes = {}; }) == "nodes: at least one");
  BOOST_TEST(wrong_after([](Config& config) { config.nodes.insert({0}); }) ==
             "nodes: ids from 1 on, not 0");
  BOOST_TEST(wrong_after([](Config& config) { config.self = {4}; }) ==
             "id: one of the ids of the nodes: 1 2 3");
  BOOST_TEST(wrong_after([](Config& config) {
               for (std::uint32_t id = 1; id <= 65; ++id) config.nodes.insert({id});
             }) == "nodes: at most 64 nodes, not 65");
}

BOOST_AUTO_TEST_CASE(have_no_switch_off_that_breaks_an_assertion_and_no_line_taken_out) {
  BOOST_TEST(wrong_after([](Config& config) {
               config.repairs.report_refusals = false;
             }).starts_with("report_refusals: true, or stop_beside_halts = false"));
  BOOST_TEST(wrong_after([](Config& config) {
               config.invitation_repairs.safe_counter = false;
             }).starts_with("safe_counter: true"));
}

BOOST_AUTO_TEST_CASE(have_options_of_the_bully_as_it_ships_alone) {
  const auto quorum = [](Config& config) { config.options.quorum = Quorum::majority; };
  BOOST_TEST(wrong_after([&](Config& config) {
               quorum(config);
               config.protocol = ProtocolName::invitation;
             }) == "quorum: \"off\": any other is an option of the Bully alone");
  BOOST_TEST(wrong_after([&](Config& config) {
               quorum(config);
               config.repairs.proofs = false;
             }).starts_with("quorum: \"off\", or literal = false"));
}

BOOST_AUTO_TEST_CASE(wait_no_longer_than_a_day) {
  BOOST_TEST(wrong_after([](Config& config) { config.options.settle = Duration::max(); }) ==
             "settle: from 0 s to 86400 s");
  BOOST_TEST(wrong_after([](Config& config) { config.options.preempt = Preempt::after; }) ==
             "preempt_after: from 1 ns to 86400 s");
  BOOST_TEST(wrong_after([](Config& config) { config.options.settle = longest_time; }) == "");
}

BOOST_AUTO_TEST_CASE(have_importance_of_the_textbook_for_nodes_that_there_are) {
  BOOST_TEST(wrong_after([](Config& config) {
               config.importance[{1}] = 7;
             }).starts_with("importance: none"));
  BOOST_TEST(wrong_after([](Config& config) {
               config.protocol = ProtocolName::textbook;
               config.importance[{4}] = 7;
             }) == "4: one of the ids in [cluster.nodes]: 1 2 3");
}

std::string wrong_address(const std::string& second, bool insecure = false) {
  const auto found = misfit({{{1}, "127.0.0.1:7101"}, {{2}, second}}, {{1}, {2}}, insecure);
  return found ? found->key + ": " + found->expected.substr(0, 24) : "";
}

BOOST_AUTO_TEST_CASE(have_an_address_of_its_own_for_each_node) {
  for (const char* good_one : {"127.0.0.1:7102", "[::1]:7102", "127.9.9.9:1", "localhost:7102"})
    BOOST_TEST(wrong_address(good_one) == "", good_one);
  for (const char* bad :
       {"", "127.0.0.1", "127.0.0.1:", ":7102", "::1:7102", "127.0.0.1:0", "127.0.0.1:65536",
        "127.0.0.1:http", "-x:7102", "two words:7102", "a/b:7102"})
    BOOST_TEST(wrong_address(bad) == "2: a host and a port from 1", bad);
  BOOST_TEST(wrong_address("127.0.0.1:7101") == "2: an address of its own: n");
  for (const char* far : {"10.0.0.2:7102", "[2001:db8::1]:7102", "example:7102", "0.0.0.0:7102"}) {
    BOOST_TEST(wrong_address(far) == "2: a loopback address, or i", far);
    BOOST_TEST(wrong_address(far, true) == "", far);
  }
  BOOST_TEST(misfit({{{1}, "127.0.0.1:7101"}}, {{1}, {2}}, false)->key == "2");
  BOOST_TEST(misfit({{{1}, "127.0.0.1:7101"}, {{3}, "127.0.0.1:7103"}}, {{1}}, false)->key == "3");
}

// A peer may have told the node numbers near the largest possible one.
BOOST_AUTO_TEST_CASE(is_a_store_whose_numbers_are_used_up) {
  SafeState safe;
  safe.incarnation.value = safe.counter_limit = highest_number - most_lives_ahead;
  BOOST_TEST(!misfit(safe).has_value());
  ++safe.counter_limit;
  BOOST_TEST(misfit(safe)->key == "counter_limit");
  ++safe.incarnation.value;
  BOOST_TEST(misfit(safe)->key == "incarnation");
}

// Older nodes do not know this switch, so their texts do not contain it.
BOOST_AUTO_TEST_CASE(text_has_left_behind_only_if_it_is_off) {
  const auto has_it = [](Repairs repairs) {
    Config config = good();
    config.repairs = repairs;
    return cluster_text(cluster_lines(config)).find("left_behind") != std::string::npos;
  };
  Repairs off;
  off.left_behind = false;
  BOOST_TEST(!has_it(Repairs{}));
  BOOST_TEST(!has_it(Repairs::none()));
  BOOST_TEST(has_it(off));
}

// The text that nodes compare contains all settings that `step` may use, except the node's own id.
BOOST_AUTO_TEST_CASE(that_differ_have_texts_that_differ) {
  const std::string usual = cluster_text(cluster_lines(good()));
  const auto text_after = [](const auto& change) {
    Config config = good();
    change(config);
    return cluster_text(cluster_lines(config));
  };
  BOOST_TEST(text_after([](Config& config) { config.self = {3}; }) == usual);
  std::set<std::string> texts{usual};
  const auto differs = [&](const auto& change) { return texts.insert(text_after(change)).second; };
  BOOST_TEST(differs([](Config& config) { config.nodes.insert({4}); }));
  BOOST_TEST(differs([](Config& config) { config.protocol = ProtocolName::invitation; }));
  BOOST_TEST(differs([](Config& config) { config.repairs = Repairs::none(); }));
  BOOST_TEST(differs([](Config& config) { config.options.quorum = Quorum::majority; }));
  BOOST_TEST(differs([](Config& config) { config.options.preempt = Preempt::never; }));
  BOOST_TEST(differs([](Config& config) { config.options.resume = Resume::all; }));
  BOOST_TEST(differs([](Config& config) { config.options.settle = 1s; }));
  BOOST_TEST(differs([](Config& config) { config.importance[{1}] = 1; }));
  Timings timings;
  for_each_field(timings, [&](const char* name, Duration& length) {
    length += 1ms;
    BOOST_TEST(differs([&](Config& config) { config.timings = timings; }), name);
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::test
