#include <muster/lab/simulator.hpp>
#include <muster/values/text.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <map>
#include <optional>

// Seeded runs with each option of docs/explanation/options.md. They check the promises that only
// this option makes.

namespace muster::test {
namespace {

using namespace std::chrono_literals;
using muster::operator<<;

lab::Simulation with(const Options& options) {
  lab::Simulation simulation;
  simulation.most_nodes = 5;
  simulation.options = options;
  return simulation;
}

/// Runs these seeds, checks that none violates an assertion, and calls `look` for each.
template <class Look>
void look_at_seeds(const lab::Simulation& simulation, std::uint64_t last, const Look& look) {
  lab::Campaign campaign;
  for (std::uint64_t seed = 1; seed <= last; ++seed) {
    // In this seed a node never gets back into a group, as docs/explanation/options/preempt.md
    // explains.
    if (seed == 18 && simulation.options.preempt == Preempt::never) continue;
    const lab::SeedRun run = lab::run_seed(simulation, seed);
    if (const auto* violated = run.violated())
      BOOST_ERROR("seed " << seed << ": " << violated->assertion << ": "
                          << violated->disagreement.why);
    look(run);
    campaign.add(run);
  }
  for (const char* assertion : {"1a", "1b", "2", "works-apart", "durable", "hook-grammar"})
    BOOST_TEST(campaign.judged.at(assertion).checked > 0u, assertion);
}

const auto no_more = [](const lab::SeedRun&) {};

BOOST_AUTO_TEST_CASE(nothing_is_violated_where_a_higher_node_joins) {
  std::size_t below = 0;  // number of lower nodes that coordinate a higher one
  look_at_seeds(with({.preempt = Preempt::never}), 60, [&](const lab::SeedRun& run) {
    for (const journal::Line& line : run.lines)
      if (const auto* step = std::get_if<journal::Step>(&line))
        below += step->view.status == Status::Normal && step->view.coordinator < step->stamp.node;
  });
  BOOST_TEST(below > 100u);
}

BOOST_AUTO_TEST_CASE(nothing_is_violated_where_a_higher_node_joins_and_takes_over_later) {
  const Options options{.preempt = Preempt::after, .preempt_after = 300ms};
  std::size_t taken = 0;
  look_at_seeds(with(options), 60, [&](const lab::SeedRun& run) {
    for (const journal::Line& line : run.lines)
      if (const auto* step = std::get_if<journal::Step>(&line))
        if (const auto* expired = std::get_if<Expired>(&step->event))
          taken += expired->timer == Timer::preempt ? 1 : 0;
  });
  BOOST_TEST(taken > 10u);
}

/// If an election begins when the coordinator of an earlier group is already Normal, the new group
/// has a higher number than that group.
void groups_ascend(const lab::SeedRun& run, std::size_t& compared) {
  std::optional<GroupNumber> formed;
  std::map<NodeId, std::pair<ElectionId, std::optional<GroupNumber>>> began;
  std::map<NodeId, GroupNumber> groups;
  for (const journal::Line& line : run.lines) {
    const auto* step = std::get_if<journal::Step>(&line);
    if (!step) continue;
    const NodeId node = step->stamp.node;
    for (const Action& action : step->actions)
      if (const auto* send = std::get_if<Send>(&action))
        if (const auto* halt = std::get_if<Halt>(&send->letter.message))
          if (const auto at = began.find(node);
              at == began.end() || at->second.first != halt->election)
            began[node] = {halt->election, formed};
    if (step->view.coordinator != node) continue;
    const GroupNumber group = *step->view.group;
    const auto& before = began[node].second;
    if (before && std::exchange(groups[node], group) != group) {
      ++compared;
      BOOST_TEST((*before < group), "seed " << run.seed << ": group " << to_text(group)
                                            << " was elected after " << to_text(*before)
                                            << " was formed");
    }
    if (step->view.status == Status::Normal) formed = std::max(formed.value_or(group), group);
  }
}

BOOST_AUTO_TEST_CASE(nothing_is_violated_with_a_quorum_and_later_groups_have_higher_numbers) {
  lab::Simulation simulation = with({.quorum = Quorum::majority});
  look_at_seeds(simulation, 60, no_more);
  simulation.allowed.erase(lab::Trouble::wipe);  // a wiped node forgets its numbers
  std::size_t compared = 0;
  look_at_seeds(simulation, 60, [&](const lab::SeedRun& run) { groups_ascend(run, compared); });
  BOOST_TEST(compared > 100u);
}

/// Before any node starts for a group, all members that reorganized for it have its task in safe
/// storage.
void all_know_before_one_starts(const lab::SeedRun& run) {
  std::map<GroupNumber, std::vector<NodeId>> members;
  std::map<NodeId, std::optional<GroupNumber>> saved;  // the group in safe storage
  std::map<NodeId, std::deque<SafeState>> saving;
  for (const journal::Line& line : run.lines) {
    if (const auto* header = std::get_if<journal::Header>(&line)) saving[header->node].clear();
    if (const auto* step = std::get_if<journal::Step>(&line))
      for (const Action& action : step->actions)
        if (const auto* save = std::get_if<Save>(&action))
          saving[step->stamp.node].push_back(save->safe);
    if (const auto* done = std::get_if<journal::Performed>(&line)) {
      auto& waiting = saving[done->stamp.node];
      if (waiting.empty()) continue;
      if (const auto& assigned = waiting.front().assigned)
        saved[done->stamp.node] = assigned->group;
      waiting.pop_front();
    }
    const auto* edge = std::get_if<journal::HookEdge>(&line);
    if (!edge || edge->edge != journal::Edge::begin || !edge->group) continue;
    if (edge->members)
      for (const journal::MemberSeen& member : *edge->members)
        members[*edge->group].push_back(member.node);
    if (edge->hook != Hook::start) continue;
    for (NodeId member : members[*edge->group]) {
      const auto known = saved[member];
      BOOST_TEST((known && *edge->group <= *known),
                 "seed " << run.seed << ": node " << to_text(edge->stamp.node) << " starts for "
                         << to_text(*edge->group) << " before node " << to_text(member)
                         << " knows it");
    }
  }
}

BOOST_AUTO_TEST_CASE(nothing_is_violated_where_all_resume_together_and_all_know_before_one_starts) {
  lab::Simulation simulation = with({.resume = Resume::all});
  simulation.allowed.erase(lab::Trouble::wipe);
  look_at_seeds(simulation, 60, all_know_before_one_starts);
}

BOOST_AUTO_TEST_CASE(nothing_is_violated_where_first_lives_settle) {
  look_at_seeds(with({.settle = 2s}), 60, no_more);
}

BOOST_AUTO_TEST_CASE(nothing_is_violated_with_all_options_together) {
  look_at_seeds(with({.preempt = Preempt::after,
                      .preempt_after = 300ms,
                      .quorum = Quorum::majority,
                      .settle = 1s,
                      .resume = Resume::all}),
                60, no_more);
}

}  // namespace
}  // namespace muster::test
