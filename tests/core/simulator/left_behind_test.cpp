#include <muster/lab/simulator.hpp>
#include <muster/values/text.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>

// Worlds in which links stay cut: which nodes work there, and for how long two groups work at once.

namespace muster::test {
namespace {

using namespace std::chrono_literals;
using lab::Deed;
using What = Deed::What;
using muster::operator<<;

constexpr Duration from = 3s;  // when the world has settled and the faults begin
constexpr Duration to = 33s;

Deed kill(std::uint32_t node, Duration at = from) {
  return {at, What::kill, NodeId{node}};
}
Deed start(std::uint32_t node, Duration at = from + 2s) {
  return {at, What::start, NodeId{node}};
}
Deed cut(std::uint32_t low, std::uint32_t high, Duration at = from + 1s) {
  return {at, What::cut, NodeId{low}, NodeId{high}};
}
Deed refuse(std::uint32_t low, std::uint32_t high, Duration at = from) {
  return {at, What::refuse, NodeId{low}, NodeId{high}};
}

struct Given {
  const char* name;
  std::uint32_t nodes;
  std::vector<Deed> deeds;
  const char* work;  ///< the nodes that work in the end
};

// The worlds of docs/findings.md in which links stay cut.
std::vector<Given> worlds() {
  return {
      {"3 restarts behind a cut of 1-3", 3, {kill(3), cut(1, 3), start(3)}, "2 3"},
      {"1-3 is cut at peace", 3, {cut(1, 3)}, "2 3"},
      {"4 restarts behind a cut of 2-4", 4, {kill(4), cut(2, 4), start(4)}, "1 3 4"},
      {"3 and 4 restart behind a cut of 2-4",
       4,
       {kill(3), kill(4), cut(2, 4), start(3), start(4)},
       "1 3 4"},
      {"a chain at peace", 4, {cut(1, 3), cut(1, 4), cut(2, 4)}, "3 4"},
      {"4 restarts in a chain", 4, {kill(4), cut(1, 3), cut(1, 4), cut(2, 4), start(4)}, "3 4"},
      {"3 and 4 restart in a chain",
       4,
       {kill(3), kill(4), cut(1, 3), cut(1, 4), cut(2, 4), start(3), start(4)},
       "3 4"},
      {"5 restarts behind a cut of 2-5", 5, {kill(5), cut(2, 5), start(5)}, "1 3 4 5"},
      {"1 is cut from all but 2", 5, {cut(1, 3), cut(1, 4), cut(1, 5)}, "2 3 4 5"},
      {"1 is cut from all but 3", 5, {cut(1, 2), cut(1, 4), cut(1, 5)}, "2 3 4 5"},
      {"1 and 3 refuse each other when 3 restarts", 3, {refuse(1, 3), kill(3), start(3)}, "2 3"},
      {"node 1 alone does not know the authority of the others",
       5,
       {refuse(1, 5), refuse(1, 4), refuse(1, 3), refuse(1, 2), kill(5), start(5), kill(4, 8s),
        start(4, 9s), kill(3, 11s), start(3, 12s)},
       "2 3 4 5"},
  };
}

lab::SeedRun run(const Given& given, std::uint64_t seed, const lab::Simulation& like) {
  lab::Simulation simulation = like;
  simulation.least_nodes = simulation.most_nodes = given.nodes;
  simulation.allowed.clear();
  simulation.given = given.deeds;
  simulation.given.push_back({to, What::end});
  return lab::run_seed(simulation, seed);
}

/// The work of the applications, as the journals show it.
struct Works {
  std::string in_the_end;
  Duration apart{};  ///< the time in which two nodes worked for different groups
};

Works works(const lab::SeedRun& run) {
  std::map<NodeId, GroupNumber> at_work;
  Works works;
  Duration before{};
  const auto note = [&](Duration now) {
    const auto other = std::adjacent_find(
        at_work.begin(), at_work.end(),
        [](const auto& one, const auto& next) { return one.second != next.second; });
    if (other != at_work.end()) works.apart += now - before;
    before = now;
  };
  for (const journal::Line& line : run.lines) {
    note(journal::time_of(line));
    if (const auto* fault = std::get_if<journal::Fault>(&line);
        fault && fault->kind == journal::FaultKind::killed)
      at_work.erase(*fault->node);
    const auto* hook = std::get_if<journal::HookEdge>(&line);
    if (!hook) continue;
    if (hook->hook == Hook::start && hook->edge == journal::Edge::begin)
      at_work[hook->stamp.node] = *hook->group;
    if (hook->hook == Hook::stop && hook->edge == journal::Edge::end)
      at_work.erase(hook->stamp.node);
  }
  note(to);
  for (const auto& [node, group] : at_work)
    works.in_the_end += (works.in_the_end.empty() ? "" : " ") + to_text(node);
  return works;
}

/// The sentence of the left-behind violation; empty if there is none.
std::string left_behind(const lab::SeedRun& run) {
  verify::Foreseer foreseer;
  for (const journal::Line& line : run.lines) foreseer.take(line);
  std::string why;
  verify::Verifier verifier(
      foreseer.finish(), [](const verify::NotClaimed&) {},
      [&](const verify::Violated& violated) {
        if (violated.assertion == "left-behind" && why.empty()) why = violated.disagreement.why;
      });
  verifier.ask({"left-behind"});
  for (const journal::Line& line : run.lines) verifier.take(line, {"journal", 0}).value();
  verifier.finish();
  return why;
}

BOOST_AUTO_TEST_SUITE(links_that_stay_cut)

BOOST_AUTO_TEST_CASE(leave_two_groups_at_work_where_a_node_that_is_left_behind_does_not_notice_it) {
  for (const Given& given : worlds()) {
    lab::Simulation without;
    without.repairs.left_behind = false;
    const lab::SeedRun seen = run(given, 1, without);
    BOOST_TEST(works(seen).apart > 5s, given.name);
    BOOST_TEST(left_behind(seen) != "", given.name);
  }
}

BOOST_AUTO_TEST_CASE(leave_one_group_at_work_and_a_node_that_is_left_behind_at_work_no_more) {
  for (const Given& given : worlds()) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const lab::SeedRun seen = run(given, seed, {});
      const Works works = test::works(seen);
      BOOST_TEST_MESSAGE(given.name << ": apart for " << to_text(works.apart));
      BOOST_TEST(works.in_the_end == given.work, given.name);
      BOOST_TEST(works.apart < 3s, given.name);
      BOOST_TEST(left_behind(seen) == "", given.name);
    }
  }
}

// Here a Check takes T, so the next Check begins before this one ends. So no Check is quiet.
BOOST_AUTO_TEST_CASE(leave_no_coordinator_at_work_that_asks_one_node_after_the_other) {
  lab::Simulation one_by_one;
  one_by_one.repairs.parallel_calls = false;
  const Given given{
      "3 and 4 restart behind cuts of 2-4 and 1-2",
      4,
      {kill(3), kill(4), cut(2, 4), cut(1, 2), start(4, from + 2s), start(3, from + 2s)},
      "1 3 4"};
  for (std::uint64_t seed = 1; seed <= 12; ++seed)
    BOOST_TEST(works(run(given, seed, one_by_one)).in_the_end == given.work);
}

// The link 2-3 of three nodes is cut. Nodes 2 and 3 halt node 1 in turn, and only a quorum ends
// that.
BOOST_AUTO_TEST_CASE(leave_rivals_of_whom_nothing_is_claimed_without_a_quorum) {
  const Given rivals{"2-3 is cut at peace", 3, {cut(2, 3)}, ""};
  BOOST_TEST(works(run(rivals, 1, {})).apart > 5s);
  lab::Simulation with_quorum;
  with_quorum.options.quorum = Quorum::majority;
  BOOST_TEST(works(run(rivals, 1, with_quorum)).apart == Duration());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::test
