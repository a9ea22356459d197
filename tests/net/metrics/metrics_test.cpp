#include "metrics/metrics.hpp"

#include <boost/test/unit_test.hpp>

#include <fstream>
#include <sstream>

// The counters as text. Tests with real parsers are in tests/apps/watching.

namespace muster::net {

BOOST_AUTO_TEST_SUITE(metrics)

BOOST_AUTO_TEST_CASE(are_in_the_manual_as_the_code_has_them) {
  std::ostringstream manual;
  manual << std::ifstream(MUSTER_DOCUMENTS "/reference/metrics.md").rdbuf();
  BOOST_TEST(manual.str().find(table_of_metrics()) != std::string::npos,
             "the table of docs/reference/metrics.md is to be:\n"
                 << table_of_metrics());
}

static bool tells(const Metrics& counted, const std::string& line) {
  const Scrape scrape{counted, NodeId{1}};
  return text_of(scrape, TextFormat::classic).find('\n' + line + '\n') != std::string::npos;
}

BOOST_AUTO_TEST_CASE(a_gap_in_work_is_from_one_right_to_the_next) {
  using namespace std::chrono_literals;
  Metrics counted(1s);
  counted.hook(2s, Hook::stop, journal::Edge::begin, false);
  counted.hook(2s + 3ms, Hook::stop, journal::Edge::end, false);
  counted.hook(3s, Hook::start, journal::Edge::begin,
               false);  // this `start` never began, since the node was halted before
  BOOST_TEST(counted.without_work(4s) == 3s);
  counted.hook(4s, Hook::start, journal::Edge::failed, false);
  counted.hook(5s, Hook::start, journal::Edge::begin, true);
  BOOST_TEST(counted.without_work(6s) == 0s);
  counted.ceased(7s);
  counted.ceased(8s);
  BOOST_TEST(counted.without_work(9s) == 2s);
  BOOST_TEST(tells(counted, "muster_work_gap_seconds_bucket{le=\"2.5\"} 0"));
  BOOST_TEST(tells(counted, "muster_work_gap_seconds_bucket{le=\"5.0\"} 1"));
  BOOST_TEST(tells(counted, "muster_work_gap_seconds_sum 4"));
  BOOST_TEST(tells(counted, "muster_hook_seconds_bucket{hook=\"stop\",le=\"0.0025\"} 0"));
  BOOST_TEST(tells(counted, "muster_hook_seconds_bucket{hook=\"stop\",le=\"0.005\"} 1"));
  BOOST_TEST(tells(counted, "muster_hook_seconds_count{hook=\"start\"} 1"));
  BOOST_TEST(tells(counted, "muster_hook_failures_total{hook=\"start\"} 1"));
}

BOOST_AUTO_TEST_CASE(what_one_life_has_counted_is_added_to_the_next) {
  Metrics counted({});
  Traffic traffic;
  traffic.in.count(host::Carried{1, 0, {{}, {}, {}, {}, Halt{}, {}}}, 100);
  traffic.in.count(host::Carried{1, 0, {{}, {}, {}, {}, Halt{}, {}}}, 20);
  traffic.out.count(host::Refusal{host::RefusalReason::clone, "", 0}, 9);
  Counters counters;
  counters.sessions = 2;
  counted.life_over(counters, traffic);
  counted.life_over(counters, traffic);
  BOOST_TEST(counted.counters.sessions == 4u);
  Scrape scrape{counted, NodeId{1}};
  scrape.traffic = counted.traffic;
  const std::string text = text_of(scrape, TextFormat::open_metrics);
  for (const char* line : {"muster_frames_total{direction=\"in\",kind=\"Halt\"} 4",
                           "muster_frame_bytes_total{direction=\"in\",kind=\"Halt\"} 240",
                           "muster_refusals_total{direction=\"out\",reason=\"clone\"} 2",
                           "muster_refusals_total{direction=\"in\",reason=\"clone\"} 0"})
    BOOST_TEST(text.find(std::string("\n") + line + '\n') != std::string::npos, line);
  BOOST_TEST(text.ends_with("\n# EOF\n"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::net
