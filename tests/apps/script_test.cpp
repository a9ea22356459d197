#include "apps/cluster/script.hpp"

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <ostream>

namespace muster::apps {
namespace {

using namespace std::chrono_literals;

struct Refused {
  std::string line;
  std::string expected;
};
std::ostream& operator<<(std::ostream& out, const Refused& refused) {
  return out << refused.line;
}

const std::vector<Refused> refusals{
    {"jump", "wait, run, kill, start, pause or resume"},
    {"wait", "wait normal [within 10s]"},
    {"wait quiet", "wait normal"},
    {"wait normal within", "wait normal [within 10s]"},
    {"wait normal within soon", "wait normal [within 10s]"},
    {"wait normal for 10s", "wait normal [within 10s]"},
    {"run", "run 2s"},
    {"run 2", "run 2s"},
    {"run 2s 3s", "run 2s"},
    {"kill", "after kill"},
    {"kill nobody", "not nobody"},
    {"kill 0", "not 0"},
    {"kill 02", "not 02"},
    {"kill 3 for 2s", "for only after pause"},
    {"pause 3 for", "not for"},
    {"pause 3 for long", "a duration after for"},
    {"pause for 2s", "after pause"},
};

std::string texts(const Script& script) {
  std::string all;
  for (const ScriptStep& step : script) all += step.text + ";";
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(script)

BOOST_DATA_TEST_CASE(is_refused_with_its_line, boost::unit_test::data::make(refusals), refused) {
  const auto script = parse_script("run 1s\n# comment\n" + refused.line + "\n", "s.txt");
  BOOST_REQUIRE(script.has_error());
  BOOST_TEST(static_cast<int>(script.error().code) == 2);
  BOOST_TEST(script.error().what.rfind("s.txt:3: " + refused.line, 0) == 0u, script.error().what);
  BOOST_TEST(script.error().what.find(refused.expected) != std::string::npos, script.error().what);
}

BOOST_AUTO_TEST_CASE(is_refused_in_one_line_that_ends) {
  const auto script = parse_script("\x1b[2J " + std::string(9000, 'x'), "s.txt");
  BOOST_TEST(script.error().what.starts_with("s.txt:1: ?[2J xxx"), script.error().what);
  BOOST_TEST(script.error().what.size() < 1000u);
}

BOOST_AUTO_TEST_CASE(is_read) {
  const auto script = parse_script(
      "# a comment\n\n  wait normal within 3s  # and another\nkill coordinator, 2 lowest\r\n"
      "pause highest-member for 700ms\nstart all\nresume 4\nrun 2s",
      "s.txt");
  BOOST_REQUIRE_MESSAGE(script.has_value(), (script ? "" : script.error().what));
  BOOST_REQUIRE_EQUAL(script->size(), 6u);
  BOOST_TEST(std::get<WaitNormal>(script->at(0).what).within == 3s);
  BOOST_TEST(script->at(0).text == "wait normal within 3s");
  BOOST_TEST(script->at(0).place == "s.txt:3");
  const Act& kill = std::get<Act>(script->at(1).what);
  BOOST_TEST(kill.verb == Verb::kill);
  BOOST_TEST(
      (kill.nodes == std::vector<Chosen>{Selector::coordinator, NodeId{2}, Selector::lowest}));
  BOOST_TEST(std::get<Act>(script->at(2).what).lasting == 700ms);
  BOOST_TEST(std::get<Run>(script->at(5).what).time == 2s);
}

BOOST_AUTO_TEST_CASE(the_default_one_is_one_and_pauses_for_long_enough) {
  Timings timings;
  const auto script = parse_script(default_script(timings), "default");
  BOOST_REQUIRE_MESSAGE(script.has_value(), (script ? "" : script.error().what));
  bool paused = false;
  for (const ScriptStep& step : *script) {
    const auto* act = std::get_if<Act>(&step.what);
    if (act == nullptr || act->verb != Verb::pause) continue;
    paused = true;
    BOOST_TEST(act->lasting == timings.coordinator_timeout + 4 * timings.T);
  }
  BOOST_TEST(paused);
}

BOOST_AUTO_TEST_CASE(random_ones_are_the_same_for_a_seed_and_end_with_all_nodes_up) {
  const NodeSet nodes{NodeId{1}, NodeId{2}, NodeId{3}, NodeId{4}, NodeId{5}};
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    RandomScript left(seed, nodes, {});
    RandomScript right(seed, nodes, {});
    NodeSet live = nodes;
    for (int i = 0; i < 40; ++i) {
      const Script steps = left.next();
      BOOST_REQUIRE_EQUAL(texts(steps), texts(right.next()));
      const Act& act = std::get<Act>(steps.front().what);
      const NodeId node = std::get<NodeId>(act.nodes.front());
      BOOST_REQUIRE_EQUAL(live.contains(node), act.verb != Verb::start);
      if (act.verb == Verb::kill) live.erase(node);
      if (act.verb == Verb::start) live.insert(node);
    }
    const std::string end = texts(left.end());
    BOOST_TEST((end.find("start all;") != std::string::npos) == (live != nodes));
  }
  BOOST_TEST(texts(RandomScript(1, nodes, {}).next()) != texts(RandomScript(2, nodes, {}).next()));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::apps
