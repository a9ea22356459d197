#include "accepted.hpp"

#include <chrono>
#include <string>

/// How a configuration sets the options of docs/explanation/options.md.

namespace muster::apps {

namespace {

using namespace std::chrono_literals;

Expected<NodeConfig> configured(const std::string& keys) {
  return parse_config("[node]\nid = 1\ndata = \"n1\"\n[cluster]\nname = \"demo\"\n" + keys +
                          "\n[cluster.nodes]\n1 = \"127.0.0.1:7101\"\n2 = \"127.0.0.1:7102\"\n",
                      "/c/n.toml");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(config_options)

BOOST_AUTO_TEST_CASE(are_off_and_leave_no_trace_until_they_are_chosen) {
  const auto usual = configured("").value();
  BOOST_TEST(usual.core().options == Options{.calm = 1s});
  const auto told =
      configured("quorum = \"off\"\npreempt = \"paper\"\nresume = \"ready\"\nsettle = \"0s\"")
          .value();
  BOOST_TEST(told.cluster.canonical() == usual.cluster.canonical());
}

BOOST_AUTO_TEST_CASE(that_are_chosen_stand_in_the_text_that_nodes_compare_and_are_written_back) {
  const auto chosen =
      configured("preempt = \"after 5m\"\nresume = \"all\"\nsettle = \"5s\"").value();
  BOOST_TEST(chosen.core().options ==
             (Options{Preempt::after, 5min, Quorum::off, 5s, Resume::all, {}, 1s}));
  const std::string canonical = chosen.cluster.canonical();
  for (const char* line : {"\npreempt=after 5min\n", "\nresume=all\n", "\nsettle=5s\n"})
    BOOST_TEST(canonical.find(line) != std::string::npos, line);
  const NodeConfig again = written_and_read(chosen, "/c/m.toml");
  BOOST_TEST(again.cluster.canonical() == canonical);
}

BOOST_AUTO_TEST_CASE(a_quorum_stands_there_with_its_clocks) {
  const auto chosen = configured("quorum = \"majority\"\nclock_drift = \"500ppm\"").value();
  BOOST_TEST(chosen.core().options.quorum == Quorum::majority);
  BOOST_TEST(chosen.core().options.clock_drift.millionths == 500u);
  const std::string canonical = chosen.cluster.canonical();
  for (const char* line : {"\nquorum=majority\n", "\nclock_drift=500ppm\n"})
    BOOST_TEST(canonical.find(line) != std::string::npos, line);
  const NodeConfig again = written_and_read(chosen, "/c/m.toml");
  BOOST_TEST(again.cluster.canonical() == canonical);
}

BOOST_AUTO_TEST_CASE(a_quorum_is_refused_with_what_was_not_checked_with_it) {
  const std::string quorum = "quorum = \"majority\"\n";
  for (const char* other : {"preempt = \"never\"", "resume = \"all\"", "settle = \"5s\""})
    refused(configured(quorum + other), "the checker has not searched the two together");
  refused(configured("clock_drift = \"500ppm\""), "quorum = \"majority\"");
  refused(configured(quorum + "clock_drift = \"1 %\""), "such as \"10000ppm\"");
  refused(configured(quorum + "clock_drift = \"200000ppm\""), "at most");
}

BOOST_AUTO_TEST_CASE(are_refused_with_what_is_expected) {
  refused(configured("quorum = \"most\""), "/c/n.toml:6: quorum = \"most\": expected \"off\"");
  refused(configured("preempt = \"after\""), "such as \"after 5m\"");
  refused(configured("preempt = \"after 0s\""), "such as \"after 5m\"");
  refused(configured("resume = \"some\""), "\"ready\" or \"all\"");
  refused(configured("settle = 5"), "settle = 5");
  refused(configured("settle = \"later\""), "a duration up to");
}

BOOST_AUTO_TEST_CASE(are_of_the_bully_with_every_switch_on) {
  refused(configured("quorum = \"majority\"\nliteral = true"), "literal = false");
  refused(configured("resume = \"all\"\nprotocol = \"invitation\""), "of the Bully alone");
  BOOST_TEST(configured("quorum = \"off\"\nprotocol = \"invitation\"").has_value());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(config_hold_down)

BOOST_AUTO_TEST_CASE(it_is_on_where_nothing_is_said) {
  BOOST_TEST(configured("").value().cluster.hold_down == 1s);
}

BOOST_AUTO_TEST_CASE(it_is_off_at_zero_and_written_so_that_it_is_read_back) {
  const NodeConfig off = configured("hold_down = \"0s\"").value();
  BOOST_TEST(off.cluster.hold_down == 0s);
  BOOST_TEST(parse_config(write_config(off), "/c/n.toml").value().cluster.hold_down == 0s);
  BOOST_TEST(off.cluster.canonical() != configured("").value().cluster.canonical());
}

BOOST_AUTO_TEST_CASE(it_is_refused_beyond_five_minutes) {
  BOOST_TEST(configured("hold_down = \"5min\"").value().cluster.hold_down == 5min);
  const auto longer = configured("hold_down = \"301s\"");
  refused(longer, "/c/n.toml:6: hold_down = \"301s\"");
  refused(longer, "of at least 0 and up to 5min");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::apps
