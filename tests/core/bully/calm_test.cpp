// Calm (docs/explanation/options/calm.md): a node that lives but makes its group reorganize again
// and again is kept out for longer and longer times.

#include "core/bully/clocked.hpp"

#include <numeric>

namespace {

using namespace muster;
using namespace muster::test;

const Options calm{.calm = 1s};

/// The highest node of a cluster, which is its coordinator.
class Coordinator : public Clocked {
 public:
  explicit Coordinator(std::uint32_t nodes = 5, Options options = calm)
      : Clocked(nodes, nodes, options) {
    all.resize(nodes - 1);
    std::iota(all.begin(), all.end(), 1U);
    reorganizes(all);
  }

  /// Runs the node until it is Normal. The nodes in `here` answer its Halts, and its members answer
  /// its later calls.
  void reorganizes(const std::vector<std::uint32_t>& here) {
    halts(here);
    for (NodeId j : members()) answered(j.value, Joined{});
    if (state.application == Activity::Stopping) end_hook();
    BOOST_REQUIRE(runs<bully::Reorganizing>());
    end_hook();
    for (NodeId j : members()) answered(j.value, Installed{});
    end_hook();
    BOOST_REQUIRE(state.s == Status::Normal);
  }
  /// Runs up to the election point, where the applications of the nodes in `here` have ceased.
  /// `counter` is the highest group counter that these nodes have seen.
  void halts(const std::vector<std::uint32_t>& here, std::uint64_t counter = 0) {
    while (runs<bully::HaltingLower>()) {
      const NodeId j = std::get<bully::HaltingLower>(state.procedure).node;
      const bool is_here = std::find(here.begin(), here.end(), j.value) != here.end();
      if (is_here)
        answered(j.value, Halted{counter, {ceased}});
      else
        unanswered(j.value);
    }
  }
  void checks() { give(Expired{Timer::check}); }
  /// The coordinator makes a Check. The member `silent` does not answer, and the other members
  /// answer as they should.
  void is_silent(std::uint32_t silent) {
    checks();
    for (std::uint32_t j : all)
      if (j != silent && members().contains(id(j))) answered(j, Normality{true});
    unanswered(silent);
  }
  /// The coordinator makes a Check. The members in `silent` do not answer, in this order, and the
  /// others do.
  void are_silent(const std::vector<std::uint32_t>& silent) {
    checks();
    const std::map<NodeId, Letter> asked = out;
    for (std::uint32_t j : all)
      if (std::find(silent.begin(), silent.end(), j) == silent.end()) answered(j, Normality{true});
    for (std::uint32_t j : silent) {
      const CallNumber call = asked.at(id(j)).call;
      BOOST_TEST(bully::awaits(state, call));
      give(Unanswered{id(j), call});
    }
  }
  /// Runs to the answers to Ready.
  void makes_ready() {
    for (NodeId j : members()) answered(j.value, Joined{});
    if (state.application == Activity::Stopping) end_hook();
    end_hook();
    BOOST_REQUIRE(runs<bully::MakingReady>());
  }
  void loses(std::uint32_t lost) {
    is_silent(lost);
    reorganizes(all_but(lost));
  }
  void admits(std::uint32_t back) {
    checks();
    answered(back, Normality{false});
    reorganizes(all);
  }

  [[nodiscard]] NodeSet members() const {
    NodeSet members;
    for (const Member& member : state.up) members.insert(member.node);
    return members;
  }
  [[nodiscard]] std::vector<std::uint32_t> all_but(std::uint32_t one) const {
    std::vector<std::uint32_t> others;
    for (std::uint32_t j : all)
      if (j != one) others.push_back(j);
    return others;
  }
  [[nodiscard]] auto held() const { return bully::view(config, state).held.by_node; }

  std::vector<std::uint32_t> all;
  bool ceased = true;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(calm_, Coordinator)

BOOST_AUTO_TEST_CASE(it_is_held_for_twice_as_long_with_each_time_up_to_sixty_times) {
  BOOST_TEST(held_after(0, {1s, 60s}) == 0s);
  BOOST_TEST(held_after(1, {1s, 60s}) == 0s);
  BOOST_TEST(held_after(2, {1s, 60s}) == 1s);
  BOOST_TEST(held_after(5, {1s, 60s}) == 8s);
  BOOST_TEST(held_after(8, {1s, 60s}) == 60s);
  BOOST_TEST(held_after(1000, {1s, 60s}) == 60s);
  BOOST_TEST(held_after(1000, {}) == 0s);
}

BOOST_AUTO_TEST_CASE(the_first_time_in_an_hour_costs_nothing) {
  loses(1);
  BOOST_TEST(held().empty());
  admits(1);
  now += calm_memory;
  loses(1);
  BOOST_TEST(held().empty());
}

BOOST_AUTO_TEST_CASE(the_second_time_it_is_held) {
  loses(1);
  admits(1);
  loses(1);
  BOOST_TEST(held().at(id(1)).until == now + 1s);
  now += 1s - 1ms;
  checks();
  answered(1, Normality{false});
  BOOST_TEST(state.s == Status::Normal);
  BOOST_TEST(!runs<bully::HaltingLower>());
  now += 1ms;
  admits(1);
  BOOST_TEST(members().contains(id(1)));
  BOOST_TEST(held().empty());
}

BOOST_AUTO_TEST_CASE(a_held_node_that_may_work_on_its_own_is_halted) {
  loses(1);
  admits(1);
  loses(1);
  const auto own = *state.c;
  checks();
  answered(1, Normality{false});
  BOOST_REQUIRE(sent<Halt>() == std::vector{1U});
  BOOST_TEST(own < std::get<Halt>(out.at(id(1)).message).election);
  BOOST_TEST(state.c == own);
}

BOOST_AUTO_TEST_CASE(it_is_left_out_of_an_election_when_its_application_has_ceased) {
  for (int i = 0; i < 2; ++i) {
    checks();
    answered(1, Normality{false});
    if (i == 0) reorganizes(all);
  }
  BOOST_TEST(held().empty());  // only a coordinator lists them
  halts(all);
  BOOST_TEST(!members().contains(id(1)));
  BOOST_TEST(held().contains(id(1)));
}

BOOST_AUTO_TEST_CASE(until_that_has_it_is_waited_for_and_then_left_out) {
  ceased = false;
  for (int i = 0; i < 2; ++i) {
    checks();
    answered(1, Normality{false});
    if (i == 0) reorganizes(all);
  }
  halts(all);
  BOOST_REQUIRE(members().contains(id(1)));
  for (std::uint32_t j : all_but(1)) answered(j, Joined{});
  BOOST_TEST(!runs<bully::Reorganizing>());
  answered(1, Joined{});
  if (state.application == Activity::Stopping) end_hook();
  BOOST_TEST(runs<bully::Reorganizing>());
  BOOST_TEST(!members().contains(id(1)));
}

BOOST_AUTO_TEST_CASE(what_had_ceased_before_another_halted_it_may_be_at_work_again) {
  loses(4);
  admits(4);
  loses(4);
  is_silent(1);
  answered(4, Halted{0, {true}});
  called(3, Halt{{id(3), {1}, 1}});
  BOOST_REQUIRE(runs<bully::Idle>());
  give(Expired{Timer::coordinator});
  unanswered(3);
  ceased = false;
  halts(all);
  BOOST_TEST(members().contains(id(4)));
}

BOOST_AUTO_TEST_CASE(a_death_beside_it_makes_it_no_less_to_blame) {
  loses(1);
  admits(1);
  is_silent(1);
  give(Failed{id(2), {1}});
  reorganizes({3, 4});
  BOOST_TEST(held().contains(id(1)));
}

BOOST_AUTO_TEST_CASE(a_new_life_begins_with_a_clean_record) {
  loses(1);
  BOOST_TEST(state.by_options.calm.unsteady.contains(id(1)));
  give(Received{{id(1), {2}, config.self, {1}, AreYouThere{}, {}}});
  BOOST_TEST(!state.by_options.calm.unsteady.contains(id(1)));
}

BOOST_AUTO_TEST_CASE(a_member_that_refuses_its_part_again_is_left_out) {
  checks();
  answered(1, Normality{false});
  for (int i = 0; i < 2; ++i) {
    halts(all);
    if (i == 0) answered(1, Refused{"stopped meanwhile"});
  }
  BOOST_TEST(!members().contains(id(1)));
}

BOOST_AUTO_TEST_CASE(proven_deaths_and_new_lives_do_not_count) {
  for (std::uint64_t life = 1; life < 5; ++life) {
    give(Failed{id(1), {life}});
    reorganizes(all_but(1));
    const auto answers = [&](NodeId j, Result result) {
      give(Received{{j,
                     {j == id(1) ? life + 1 : 1},
                     config.self,
                     out.at(j).call,
                     Answer{std::move(result)},
                     {}}});
    };
    give(Received{{id(1), {life + 1}, config.self, {1}, AreYouThere{}, {}}});
    answers(id(1), Normality{false});
    while (runs<bully::HaltingLower>())
      answers(std::get<bully::HaltingLower>(state.procedure).node, Halted{});
    BOOST_REQUIRE(members().contains(id(1)));
    for (NodeId j : members()) answers(j, Joined{});
    end_hook();
    end_hook();
    for (NodeId j : members()) answers(j, Installed{});
    if (state.s != Status::Normal) end_hook();
    BOOST_REQUIRE(state.s == Status::Normal);
  }
  BOOST_TEST(state.by_options.calm.unsteady.empty());
}

BOOST_AUTO_TEST_CASE(a_machine_that_refuses_is_a_proof_too) {
  for (int i = 0; i < 3; ++i) {
    checks();
    unanswered(1, Unheard::refused);
    reorganizes(all_but(1));
    BOOST_TEST(held().empty());
    admits(1);
  }
}

BOOST_AUTO_TEST_CASE(half_of_the_cluster_is_left_at_work) {
  for (std::uint32_t j : {1U, 2U}) {
    loses(j);
    admits(j);
    is_silent(j);
    reorganizes(all_but(j));
    now += 100ms;
    if (j == 1) {
      BOOST_TEST(held().contains(id(1)));
      now += 1s;
      admits(1);
    }
  }
  BOOST_TEST(held().contains(id(2)));

  Coordinator of_two(3);
  of_two.loses(1);
  of_two.admits(1);
  of_two.loses(1);
  BOOST_TEST(of_two.held().contains(id(1)));
}

BOOST_AUTO_TEST_CASE(a_suspended_node_is_admitted_if_too_few_would_be_left) {
  loses(1);
  admits(1);
  loses(1);
  for (std::uint64_t dead : {4U, 3U}) {
    give(Failed{id(static_cast<std::uint32_t>(dead)), {1}});
    std::vector<std::uint32_t> here = {1, 2};
    if (dead == 4) here.push_back(3);
    reorganizes(here);
  }
  BOOST_TEST(members().contains(id(1)));
}

BOOST_AUTO_TEST_CASE(a_node_that_loses_more_than_it_keeps_is_to_blame_itself) {
  is_silent(1);
  reorganizes({});
  BOOST_TEST(members().empty());
  checks();
  answered(1, Normality{false});
  reorganizes(all);
  is_silent(1);
  halts({});
  BOOST_REQUIRE(state.leaving);
  BOOST_TEST(*state.leaving == LeaveCause::unsteady);
}

// The coordinator's link was down, but comes back during its election. So all nodes answer its
// Halts.
BOOST_AUTO_TEST_CASE(a_coordinator_that_no_member_answers_blames_itself) {
  are_silent(all);
  reorganizes(all);
  BOOST_TEST(held().empty());
  are_silent({3, 1, 4, 2});
  halts(all);
  BOOST_TEST(!state.by_options.calm.unsteady.contains(id(3)));
  BOOST_REQUIRE(state.leaving);
  BOOST_TEST(*state.leaving == LeaveCause::unsteady);
}

BOOST_AUTO_TEST_CASE(of_several_silent_members_none_is_blamed_and_the_coordinator_neither) {
  for (const std::vector<std::uint32_t>& silent :
       {std::vector{1U, 2U}, std::vector{4U, 3U, 1U}, std::vector{2U, 4U}}) {
    for (int i = 0; i < 3; ++i) {
      are_silent(silent);
      reorganizes(all);
    }
  }
  BOOST_TEST(state.by_options.calm.unsteady.empty());
}

BOOST_AUTO_TEST_CASE(a_member_that_is_silent_when_it_is_halted_is_silent_too) {
  for (int i = 0; i < 3; ++i) {
    is_silent(1);
    halts({1, 2, 3});
    reorganizes({1, 2, 3});
    checks();
    answered(4, Normality{false});
    reorganizes(all);
  }
  BOOST_TEST(!state.by_options.calm.unsteady.contains(id(1)));
}

BOOST_AUTO_TEST_CASE(of_two_nodes_nobody_knows_which_is_silent) {
  Coordinator of_two(2);
  for (int i = 0; i < 4; ++i) {
    of_two.loses(1);
    of_two.admits(1);
  }
  BOOST_TEST(of_two.state.by_options.calm.unsteady.empty());
}

BOOST_AUTO_TEST_CASE(a_member_that_another_candidate_has_taken_is_not_blamed) {
  for (int i = 0; i < 3; ++i) {
    checks();
    answered(1, Normality{false});
    halts(all, state.counter + 1);
    reorganizes(all);
  }
  BOOST_TEST(state.by_options.calm.unsteady.empty());
}

// Another candidate has halted these members, and they have not joined it yet.
BOOST_AUTO_TEST_CASE(of_several_members_that_say_no_none_is_blamed) {
  for (int i = 0; i < 3; ++i) {
    checks();
    const CallNumber call = out.at(id(2)).call;
    answered(1, Normality{false});
    give(Received{{id(2), {1}, config.self, call, Answer{Normality{false}}, {}}});
    reorganizes(all);
  }
  BOOST_TEST(state.by_options.calm.unsteady.empty());
}

BOOST_AUTO_TEST_CASE(a_member_that_another_candidate_has_taken_first_may_refuse) {
  for (int i = 0; i < 3; ++i) {
    give(ElectionAsked{"once more"});
    halts(all);
    const std::uint64_t group = state.g->counter;
    answered(1, Refused{"not halted by this election"});
    if (runs<bully::BackingOff>()) give(Expired{Timer::retry});
    if (state.application == Activity::Stopping) end_hook();
    halts(all, group);
    reorganizes(all);
  }
  BOOST_TEST(state.by_options.calm.unsteady.empty());
}

BOOST_AUTO_TEST_CASE(a_member_whose_start_fails_is_left_out_the_second_time_and_nobody_backs_off) {
  give(ElectionAsked{"a new task"});
  for (int i = 0; i < 2; ++i) {
    halts(all);
    BOOST_TEST(members().contains(id(1)));
    makes_ready();
    answered(1, Refused{"start failed: no room"});
    BOOST_TEST(!runs<bully::BackingOff>());
    if (state.application == Activity::Stopping) end_hook();
  }
  halts(all);
  BOOST_TEST(!members().contains(id(1)));
  reorganizes(all_but(1));
  BOOST_TEST(held().contains(id(1)));
}

BOOST_AUTO_TEST_CASE(a_coordinator_that_pauses_again_and_again_leaves_for_a_while) {
  give(Paused{200ms});
  BOOST_TEST(!state.leaving);
  if (state.application == Activity::Stopping) end_hook();
  while (runs<bully::SeekingHigher>()) unanswered(5);
  reorganizes(all);
  give(Paused{200ms});
  end_hook();
  BOOST_REQUIRE(asked<Leave>());
  BOOST_TEST(asked<Leave>()->cause == LeaveCause::unsteady);
}

BOOST_AUTO_TEST_CASE(nobody_leaves_where_too_few_would_go_on) {
  Coordinator node(3);
  node.loses(2);
  for (int i = 0; i < 4; ++i) {
    node.give(Paused{200ms});
    BOOST_REQUIRE(!node.state.leaving);
    if (node.state.application == Activity::Stopping) node.end_hook();
    node.reorganizes({1});
  }
}

// If the node still remembered this loss, it would take it for a new loss at a later election
// point.
BOOST_AUTO_TEST_CASE(a_loss_is_forgotten_with_its_election) {
  Coordinator node;
  node.is_silent(1);
  BOOST_REQUIRE(node.state.by_options.calm.loss);
  node.give(Leaving{});
  BOOST_TEST(!node.state.by_options.calm.loss);
}

BOOST_AUTO_TEST_CASE(without_it_nobody_is_held) {
  Coordinator node(5, Options{});
  for (int i = 0; i < 4; ++i) {
    node.loses(1);
    node.admits(1);
  }
  BOOST_TEST(node.state.by_options.calm.unsteady.empty());
}

BOOST_AUTO_TEST_SUITE_END()
