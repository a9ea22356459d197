#include <muster/claims/hook_grammar.hpp>
#include <muster/values/text.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <functional>

/// The hook grammar on one life that the test makes. Each case removes a line, moves it, or changes
/// it.

using namespace muster;
using journal::Edge;
using journal::PermitsEdge;

namespace {

using Wrong = HookGrammar::Wrong;
using LineOfLife = std::function<Wrong(HookGrammar&)>;
using Life = std::vector<LineOfLife>;

constexpr NodeId self{1};
constexpr GroupNumber group{16, self};
const Definition task{"task"};

LineOfLife step(Event event, Actions actions = {}) {
  return [=](HookGrammar& life) { return life.step(event, actions); };
}

Wrong performed(HookGrammar& life) {
  return life.performed();
}

LineOfLife hook(Hook hook, Edge edge, std::uint64_t ticket,
                std::optional<GroupNumber> about = group, NodeSet members = {self}) {
  journal::HookEdge line{{}, hook, edge, about, Ticket{ticket}, {}};
  if (hook == Hook::reorganize && edge == Edge::begin) {
    line.members.emplace();
    for (NodeId member : members) line.members->push_back({member, {}, {}, {}, true});
  }
  return [=](HookGrammar& life) { return life.hook(line); };
}

LineOfLife permits(PermitsEdge edge) {
  return [=](HookGrammar& life) { return life.permits(edge, group); };
}

Action stop(std::uint64_t ticket, bool owed = true) {
  return Stop{Ticket{ticket}, {StopReason::own_election, {}}, owed};
}

Action save(const Definition& definition = task) {
  return Save{{Incarnation{1}, 32, Assigned{definition, group}, {}, {}}};
}

const Action reorganize = Reorganize{Ticket{2}, group, {{self, Incarnation{1}, {}}}};
const Action start = Start{Ticket{3}, task, group};

// The lines of a life that forms a group of one node and is halted. The tests below refer to lines
// by these names.
enum Place {
  recovered,
  first_stop_begins,
  first_stop_ends,
  first_stopped,
  reorganize_begins,
  reorganize_ends,
  reorganized,
  save_performed,
  start_begins,
  start_ends,
  started,
  halted,
  revoked,
  stop_begins,
  returned,
  stop_ends,
  stopped,
};

Life good_life() {
  return {
      step(Recovered{{Incarnation{1}, 0, {}, {}, {}}}, {stop(1)}),
      hook(Hook::stop, Edge::begin, 1, std::nullopt),
      hook(Hook::stop, Edge::end, 1, std::nullopt),
      step(Stopped{Ticket{1}, Report{"nothing"}}, {reorganize}),
      hook(Hook::reorganize, Edge::begin, 2),
      hook(Hook::reorganize, Edge::end, 2),
      step(Reorganized{Ticket{2}, task}, {save(), start}),
      performed,
      hook(Hook::start, Edge::begin, 3),
      hook(Hook::start, Edge::end, 3),
      step(Started{Ticket{3}}),
      step(Received{}, {stop(4)}),
      permits(PermitsEdge::revoked),
      hook(Hook::stop, Edge::begin, 4),
      permits(PermitsEdge::returned),
      hook(Hook::stop, Edge::end, 4),
      step(Stopped{Ticket{4}, Report{"something"}}),
  };
}

struct GoodLife {
  Life life = good_life();
};

// The sentence about the first violation; empty if there is none.
std::string first_wrong(const Life& life, HookGrammar grammar = {}) {
  for (const LineOfLife& line : life)
    if (const Wrong wrong = line(grammar)) return *wrong;
  return "";
}

std::string without(Place place) {
  Life life = good_life();
  life.erase(life.begin() + place);
  return first_wrong(life);
}

std::string with(Place place, LineOfLife other) {
  Life life = good_life();
  life[place] = std::move(other);
  return first_wrong(life);
}

// The life with the line at `from` moved before the line at `to`.
std::string earlier(Place from, Place to) {
  Life life = good_life();
  std::rotate(life.begin() + to, life.begin() + from, life.begin() + from + 1);
  return first_wrong(life);
}

std::string with_before(Place place, LineOfLife other) {
  Life life = good_life();
  life.insert(life.begin() + place, std::move(other));
  return first_wrong(life);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_life_as_it_should_be) {
  BOOST_TEST(first_wrong(good_life()) == "");
  Life again = good_life();
  again.resize(recovered + 1);
  for (int round = 0; round < 2; ++round) {  // a life has any number of groups
    const Life life = good_life();
    again.insert(again.end(), life.begin() + 1, life.end());
    again.push_back(step(Expired{Timer::check}, {stop(1)}));
  }
  again.resize(stopped + 1);
  BOOST_TEST(first_wrong(again) == "");
}

BOOST_AUTO_TEST_CASE(it_works_from_the_beginning_of_start_to_the_end_of_stop) {
  const Life life = good_life();
  HookGrammar grammar;
  for (std::size_t place = 0; place < life.size(); ++place) {
    BOOST_TEST(!life[place](grammar));
    BOOST_TEST(grammar.works_for().has_value() == (place >= start_begins && place < stop_ends));
    BOOST_TEST(grammar.permits_are_valid() == (place >= start_begins && place < revoked));
    BOOST_TEST(grammar.has_ceased() ==
               ((place >= first_stop_ends && place < start_begins && place != reorganize_begins) ||
                place >= stop_ends));
  }
}

BOOST_AUTO_TEST_SUITE(p1_permits)

BOOST_AUTO_TEST_CASE(are_revoked_before_stop_begins) {
  BOOST_TEST(without(revoked) ==
             "stop (ticket 4) begins while permits of group 16.1 are valid (P1)");
  BOOST_TEST(earlier(stop_begins, revoked) ==
             "stop (ticket 4) begins while permits of group 16.1 are valid (P1)");
}

BOOST_AUTO_TEST_CASE(are_returned_after_they_were_revoked) {
  BOOST_TEST(earlier(returned, revoked) ==
             "the last permit of group 16.1 is returned, but none was revoked (P1)");
}

BOOST_FIXTURE_TEST_CASE(are_returned_before_stop_is_over, GoodLife) {
  std::swap(life[returned], life[stop_ends]);
  std::swap(life[stop_ends], life[stopped]);
  BOOST_TEST(first_wrong(life) == "the last permit of group 16.1 is returned after Stopped (P1)");
}

BOOST_FIXTURE_TEST_CASE(are_revoked_where_a_cancelled_start_owes_a_stop, GoodLife) {
  life.resize(start_begins + 1);
  life.push_back(step(Received{}, {stop(4)}));
  life.push_back(permits(PermitsEdge::revoked));
  life.push_back(hook(Hook::start, Edge::failed, 3));
  life.push_back(hook(Hook::stop, Edge::begin, 4));
  life.push_back(hook(Hook::stop, Edge::end, 4));
  life.push_back(step(Stopped{Ticket{4}, Report{""}}));
  BOOST_TEST(first_wrong(life) == "");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(p2_stops_and_starts)

BOOST_FIXTURE_TEST_CASE(a_life_begins_with_a_stop, GoodLife) {
  life[recovered] = step(Recovered{}, {reorganize});
  life.erase(life.begin() + first_stop_begins, life.begin() + reorganize_begins);
  BOOST_TEST(first_wrong(life) == "reorganize (ticket 2) begins, but a stop is owed (P2)");
  life = good_life();
  life[recovered] = step(Recovered{}, {start});
  life.erase(life.begin() + first_stop_begins, life.begin() + start_begins);
  BOOST_TEST(first_wrong(life) == "start (ticket 3) begins, but a stop is owed (P2)");
}

BOOST_AUTO_TEST_CASE(a_start_is_followed_by_a_stop_before_the_next_start) {
  const Action next = Start{Ticket{4}, task, group};
  Life life = good_life();
  life[halted] = step(Expired{}, {next});
  life[revoked] = hook(Hook::start, Edge::begin, 4);
  BOOST_TEST(first_wrong(life) == "start (ticket 4) begins, but a stop is owed (P2)");
}

BOOST_FIXTURE_TEST_CASE(a_start_that_failed_owes_a_stop_too, GoodLife) {
  life[start_ends] = hook(Hook::start, Edge::failed, 3);
  life[started] = step(HookFailed{Ticket{3}, Hook::start, "no space"});
  BOOST_TEST(first_wrong(life) == "");
  life[halted] = step(Expired{}, {Reorganize{Ticket{4}, group, {{self, Incarnation{1}, {}}}}});
  life[revoked] = hook(Hook::reorganize, Edge::begin, 4);
  BOOST_TEST(first_wrong(life) == "reorganize (ticket 4) begins, but a stop is owed (P2)");
}

BOOST_FIXTURE_TEST_CASE(exactly_one_stop_follows_a_start, GoodLife) {
  life.push_back(step(Expired{}, {stop(5)}));
  life.push_back(hook(Hook::stop, Edge::begin, 5));
  BOOST_TEST(first_wrong(life) == "stop (ticket 5) begins, but none is owed (P2)");
}

BOOST_AUTO_TEST_CASE(none_is_called_that_was_not_owed) {
  BOOST_TEST(with(halted, step(Received{}, {stop(4, false)})) ==
             "stop (ticket 4) begins, but none is owed (P2)");
}

BOOST_FIXTURE_TEST_CASE(hooks_never_overlap, GoodLife) {
  life.erase(life.begin() + start_ends, life.begin() + halted);
  BOOST_TEST(first_wrong(life) == "stop (ticket 4) begins while start (ticket 3) runs");
}

BOOST_FIXTURE_TEST_CASE(a_cancelled_reorganize_owes_no_stop, GoodLife) {
  life.resize(reorganize_begins + 1);
  life.push_back(step(Received{}, {stop(3, false)}));
  life.push_back(hook(Hook::reorganize, Edge::end, 2));
  life.push_back(step(Stopped{Ticket{3}, std::nullopt}));
  BOOST_TEST(first_wrong(life) == "");
  std::swap(life[reorganize_begins + 2], life[reorganize_begins + 3]);
  BOOST_TEST(first_wrong(life) == "Stopped was given while reorganize (ticket 2) runs");
}

BOOST_AUTO_TEST_CASE(what_ends_has_begun) {
  BOOST_TEST(without(first_stop_begins) == "stop (ticket 1) ends, but was not running");
  BOOST_TEST(with(stop_ends, hook(Hook::stop, Edge::end, 1)) ==
             "stop (ticket 1) ends, but was not running");
  BOOST_TEST(with(stop_ends, hook(Hook::start, Edge::failed, 4)) ==
             "start (ticket 4) ends, but was not running");
}

BOOST_AUTO_TEST_CASE(what_begins_was_asked_for_last) {
  BOOST_TEST(with(recovered, step(Recovered{})) ==
             "stop (ticket 1) begins, but nothing was asked for last");
  BOOST_TEST(with(start_begins, hook(Hook::start, Edge::begin, 2)) ==
             "start (ticket 2) begins, but start (ticket 3) was asked for last");
}

// No `start` may begin after a Halt was accepted.
BOOST_AUTO_TEST_CASE(no_start_begins_after_a_stop_was_asked_for) {
  BOOST_TEST(with_before(start_begins, step(Received{}, {stop(4)})) ==
             "start (ticket 3) begins, but stop (ticket 4) was asked for last");
}

BOOST_AUTO_TEST_CASE(each_is_about_its_own_group) {
  const GroupNumber other{17, self};
  BOOST_TEST(with(reorganize_begins, hook(Hook::reorganize, Edge::begin, 2, other)) ==
             "reorganize (ticket 2) begins for group 17.1, but was asked for group 16.1");
  BOOST_TEST(with(start_begins, hook(Hook::start, Edge::begin, 3, other)) ==
             "start (ticket 3) begins for group 17.1, but was asked for group 16.1");
  BOOST_TEST(with(stop_begins, hook(Hook::stop, Edge::begin, 4, other)) ==
             "stop (ticket 4) begins for group 17.1, but group 16.1 was started");
  BOOST_TEST(with(first_stop_begins, hook(Hook::stop, Edge::begin, 1, group)) ==
             "stop (ticket 1) begins for group 16.1, but nothing was started");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(the_protocol_is_told_what_has_happened)

BOOST_AUTO_TEST_CASE(stopped_comes_after_the_end_of_stop) {
  BOOST_TEST(without(stop_ends) == "Stopped was given while stop (ticket 4) runs");
  Life life = good_life();
  life.erase(life.begin() + stop_begins, life.begin() + stopped);
  BOOST_TEST(first_wrong(life) == "Stopped was given, but stop (ticket 4) has not ended");
}

BOOST_FIXTURE_TEST_CASE(a_stop_that_is_owed_gives_a_report, GoodLife) {
  life.erase(life.begin() + stop_begins, life.begin() + stopped);
  life[stop_begins] = step(Stopped{Ticket{4}, std::nullopt});
  BOOST_TEST(first_wrong(life) == "Stopped was given without a report, but a stop is owed");
}

BOOST_FIXTURE_TEST_CASE(stopped_comes_after_permits_were_revoked, GoodLife) {
  life.erase(life.begin() + revoked, life.begin() + stopped);
  BOOST_TEST(first_wrong(life) == "Stopped was given while permits of group 16.1 are valid");
}

BOOST_AUTO_TEST_CASE(reorganized_and_started_come_after_their_ends) {
  BOOST_TEST(without(reorganize_ends) ==
             "Reorganized was given, but reorganize (ticket 2) has not ended");
  BOOST_TEST(earlier(started, start_ends) ==
             "Started was given, but start (ticket 3) has not ended");
}

// P7: a late result is no violation in itself. The node drops the result because its ticket is old,
// and `replay` checks that.
BOOST_AUTO_TEST_CASE(an_old_end_may_come_late) {
  BOOST_TEST(with_before(halted, step(Reorganized{Ticket{2}, task})) == "");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(p4_a_reorganize_sees_every_member)

BOOST_AUTO_TEST_CASE(no_more_and_no_less) {
  BOOST_TEST(with(reorganize_begins, hook(Hook::reorganize, Edge::begin, 2, group, {})) ==
             "reorganize (ticket 2) is given {}, but the members are {1} (P4)");
  BOOST_TEST(
      with(reorganize_begins, hook(Hook::reorganize, Edge::begin, 2, group, {self, NodeId{2}})) ==
      "reorganize (ticket 2) is given {1, 2}, but the members are {1} (P4)");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(p5_a_definition_is_durable_before_start)

BOOST_AUTO_TEST_CASE(its_save_is_performed) {
  const std::string early = "start (ticket 3) begins before its definition is durable (P5)";
  BOOST_TEST(without(save_performed) == early);
  BOOST_TEST(earlier(start_begins, save_performed) == early);
  BOOST_TEST(with(reorganized, step(Reorganized{Ticket{2}, task}, {save({"other"}), start})) ==
             early);
}

BOOST_FIXTURE_TEST_CASE(start_is_repeatable_with_what_was_saved_before, GoodLife) {
  life[recovered] = step(Recovered{{Incarnation{2}, 16, Assigned{task, group}, {}, {}}}, {stop(1)});
  life[reorganized] = step(Reorganized{Ticket{2}, task}, {start});
  life.erase(life.begin() + save_performed);
  BOOST_TEST(first_wrong(life) == "");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(steps_do_not_overlap)

BOOST_AUTO_TEST_CASE(a_step_begins_when_the_saves_before_it_are_performed) {
  BOOST_TEST(with_before(save_performed, step(Expired{})) ==
             "a step began before the Save of the previous step was performed");
}

BOOST_AUTO_TEST_CASE(what_is_performed_was_asked_for) {
  BOOST_TEST(with_before(start_begins, performed) ==
             "a Save was performed that the last step did not ask for");
}

BOOST_FIXTURE_TEST_CASE(each_save_is_performed, GoodLife) {
  life[reorganized] = step(Reorganized{Ticket{2}, task}, {save({"other"}), save(), start});
  BOOST_TEST(first_wrong(life) == "start (ticket 3) begins before its definition is durable (P5)");
  life.insert(life.begin() + save_performed, performed);
  BOOST_TEST(first_wrong(life) == "");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(a_life_whose_beginning_is_not_known)

// A segment may begin at any line of a life. The rest of a correct life is correct, whatever the
// `application` in the state was.
BOOST_AUTO_TEST_CASE(is_not_wrong_before_a_hook_begins) {
  const struct {
    Place place;
    Activity application;
    std::uint64_t ticket;
  } segments[] = {{first_stop_begins, Activity::Stopping, 1},
                  {first_stop_ends, Activity::Stopping, 1},
                  {reorganize_ends, Activity::Reorganizing, 2},
                  {save_performed, Activity::Starting, 3},
                  {start_ends, Activity::Starting, 3},
                  {started, Activity::Starting, 3},
                  {halted, Activity::Working, 3},
                  {revoked, Activity::Stopping, 4},
                  {stop_ends, Activity::Stopping, 4},
                  {stopped, Activity::Stopping, 4}};
  for (const auto& segment : segments) {
    bully::State state;
    state.application = segment.application;
    state.ticket = Ticket{segment.ticket};
    state.g = group;
    Life rest = good_life();
    rest.erase(rest.begin(), rest.begin() + segment.place);
    BOOST_TEST(first_wrong(rest, HookGrammar(state)) == "", "segment at " << segment.place);
  }
}

BOOST_AUTO_TEST_CASE(is_checked_again_from_the_first_hook_on) {
  bully::State state;
  state.application = Activity::Working;
  state.ticket = Ticket{3};
  state.g = group;
  HookGrammar grammar(state);
  BOOST_TEST(grammar.works_for() == group);
  Life rest = good_life();
  rest.erase(rest.begin(), rest.begin() + halted);
  rest.erase(rest.end() - 2);  // the end of `stop`
  BOOST_TEST(first_wrong(rest, grammar) == "Stopped was given while stop (ticket 4) runs");
}

BOOST_AUTO_TEST_CASE(is_what_is_left_when_lines_are_missing) {
  HookGrammar grammar;
  Life life = good_life();
  for (int place = recovered; place <= first_stopped; ++place)
    BOOST_TEST(!life[static_cast<std::size_t>(place)](grammar));
  grammar.lines_are_missing();
  life.erase(life.begin(), life.begin() + started);
  BOOST_TEST(first_wrong(life, grammar) == "");
}

BOOST_AUTO_TEST_SUITE_END()
