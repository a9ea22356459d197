#include "apps/command.hpp"

#include <boost/json/parse.hpp>

// `muster check`.

namespace muster::apps {
namespace {

const std::string any_timeout =
    "check --nodes 2 --failures 0 --timeouts any --literal --channels fifo --start normal "
    "--strike counter-test --queue 3";

std::vector<boost::json::object> objects_of(const std::string& output) {
  std::vector<boost::json::object> objects;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with('{')) objects.push_back(boost::json::parse(line).as_object());
  return objects;
}

struct Checked : TestDirectory {
  [[nodiscard]] std::string file(const std::string& name) const { return (path / name).string(); }

  std::string journal = file("story.jsonl");
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(check, Checked)

BOOST_AUTO_TEST_CASE(two_nodes_that_may_fail_once_hold_in_all_worlds) {
  ends_well(muster("check --protocol bully --nodes 2 --failures 1 --queue 8 --liveness"),
            {"1a, 1b, works-apart, hook-grammar hold in all worlds",
             "2 can be reached from every world"});
}

BOOST_AUTO_TEST_CASE(a_counterexample_is_a_story_and_a_journal_that_the_other_commands_take) {
  const Ran checked = muster(any_timeout + " --out " + journal);
  says_why(checked, 1, "assertion 1a does not hold in this world");
  BOOST_TEST(says(checked, "node 1 Normal c=1, node 2 Normal c=2"), checked.output);
  BOOST_TEST(says(checked, "      here the search begins\n"), checked.output);
  BOOST_TEST(
      says(checked, "3 steps from the beginning of the search; 3 of them are letters, calls"),
      checked.output);
  ends_well(muster("replay " + journal));
  const Ran verified = muster("verify " + journal);
  BOOST_TEST(verified.code == 1, verified.output);
  BOOST_TEST(says(verified, "1a"), verified.output);
  const std::string drawing = file("story.svg");
  BOOST_TEST(muster("draw " + journal + " -o " + drawing).code == 0);
  BOOST_TEST(holds(drawing, "AreYouThere"));
}

BOOST_AUTO_TEST_CASE(as_json_the_last_line_has_the_figures) {
  const Ran ran = muster(any_timeout + " --json");
  const auto objects = objects_of(ran.output);
  BOOST_REQUIRE(objects.size() == 2u);
  BOOST_TEST(objects[0].at("assertion").as_string() == "1a");
  BOOST_TEST(!objects[0].at("holds").as_bool());
  BOOST_TEST(objects[0].at("counted").to_number<int>() == 3);
  BOOST_TEST(objects[0].at("steps").to_number<int>() ==
             objects[0].at("opening").to_number<int>() + 3);
  BOOST_TEST(!objects[0].at("claimed").as_bool());
  for (const char* field : {"states", "transitions", "depth", "exhausted", "seconds", "protocol"})
    BOOST_TEST(objects[1].contains(field), field);
}

BOOST_AUTO_TEST_CASE(a_state_that_nothing_leads_out_of_is_told) {
  const Ran ran = muster(
      "check --nodes 2 --failures 0 --timeouts 2 --literal --channels fifo --start normal --strike "
      "counter-test --assertion works-apart --queue 3 --liveness");
  says_why(ran, 1, "assertion");
  BOOST_TEST(says(ran, "wedged: from that world"), ran.output);
}

BOOST_AUTO_TEST_CASE(a_violation_is_told_with_the_numbers_of_its_story) {
  const Ran ran = muster(
      "check --nodes 2 --failures 2 --split-actions --assertion group-grows --strike safe-counter "
      "--out " +
      journal);
  says_why(ran, 1, "assertion group-grows does not hold in this world");
  const Ran verified = muster("verify " + journal);
  // The checker may make a node fail in the middle of a step. Its journal then contains that
  // failure.
  BOOST_TEST(says(verified, "hook-grammar holds"), verified.output);
  const std::string what = "node 1 accepted group 1.1 a second time";
  BOOST_TEST(says(ran, what), ran.output);
  BOOST_TEST(says(verified, what), verified.output);
}

BOOST_AUTO_TEST_CASE(the_place_of_a_story_is_looked_at_before_the_search) {
  says_why(muster(any_timeout + " --out /nonexistent/story.jsonl"), 74,
           "cannot write /nonexistent/story.jsonl: No such file or directory");
  std::ofstream(journal) << "an older story\n";
  ends_well(muster("check --nodes 2 --failures 0 --out " + journal));
  BOOST_TEST(!std::filesystem::exists(journal));
}

BOOST_AUTO_TEST_CASE(no_limit_is_negative_or_beyond_all_numbers) {
  for (const std::string number : {"-1", "99999999999999999999"})
    says_why(muster("check --limit-states " + number), 2,
             "expected a number of states, not " + number);
  says_why(muster("check --limit-memory -4GB"), 2,
           "expected a number of bytes, such as 4GB, not -4GB");
}

BOOST_AUTO_TEST_CASE(a_limit_that_ends_the_search_decides_nothing) {
  for (const std::string words :
       {"--limit-states 1000", "--limit-memory 1MB", "--limit-states 1000 --liveness",
        "--sessions --limit-states 500", "--limit-states 1000 --protocol invitation"}) {
    const Ran ran = muster("check " + words);
    says_why(ran, 9, "a limit ended the search after");
    BOOST_TEST(says(ran, "nothing is proven"), ran.output);
    BOOST_TEST(!says(ran, " hold"), ran.output);
    const auto objects = objects_of(muster("check --json " + words).output);
    BOOST_TEST_REQUIRE(!objects.empty());
    for (const auto& object : objects)
      if (object.contains("holds")) BOOST_TEST(object.at("holds").is_null(), words);
    ends_well(muster("check --accept-limit " + words), {"which proves nothing"});
  }
}

BOOST_AUTO_TEST_CASE(a_violation_within_a_limit_is_one) {
  says_why(muster(any_timeout + " --limit-states 100000 --accept-limit"), 1, "does not hold");
}

BOOST_AUTO_TEST_CASE(what_is_claimed_nowhere_in_this_world_decides_nothing) {
  for (const std::string more : {"", " --accept-limit"}) {
    const Ran ran = muster("check --nodes 2 --failures 0 --assertion 3a" + more);
    says_why(ran, 9, "3a: not claimed in this world");
  }
  const std::string few = "check --nodes 2 --failures 0 --repair report-refusals=off ";
  const auto objects = objects_of(muster(few + "--json").output);
  BOOST_TEST(objects.at(0).at("assertion") == "1a");
  BOOST_TEST(objects.at(0).at("holds").is_null());
  BOOST_TEST(objects.at(3).at("assertion") == "hook-grammar");
  BOOST_TEST(objects.at(3).at("holds").as_bool());
  ends_well(muster(few), {"not claimed in this world: 1a, 1b, works-apart"});
}

BOOST_AUTO_TEST_CASE(a_trouble_that_never_comes_about_decides_nothing) {
  const std::string no_end = "check --nodes 2 --start normal --failures 0 --differences 1";
  const std::string no_hook = "check --nodes 2 --start normal --failures 0 --hooks failing";
  for (const std::string more : {"", " --accept-limit", " --assertion works-apart"}) {
    says_why(muster(no_end + more), 9, "--differences: none occurred in this world");
    says_why(muster(no_end + " --restores 1" + more), 9,
             "--differences, --restores: none occurred");
  }
  says_why(muster(no_hook + " --cut 1-2 --losses 1"), 9, "--losses: none occurred");
  const auto objects = objects_of(muster(no_end + " --json").output);
  BOOST_TEST(objects.back().at("never") == boost::json::array({"--differences"}));
  ends_well(muster("check --nodes 2 --failures 1 --differences 1"));
  const std::string alone = "check --sessions --lives 1";
  ends_well(muster(alone));
  says_why(muster(alone + " --replays 1"), 9, "--replays: none occurred in this world");
  says_why(muster(alone + " --resets 1 --restores 1"), 9, "--resets, --restores: none occurred");
}

BOOST_AUTO_TEST_CASE(a_liveness_that_is_not_claimed_decides_nothing) {
  const Ran ran = muster("check --nodes 2 --failures 0 --duplicates 1 --liveness");
  says_why(ran, 9, "2: not claimed in this world");
}

BOOST_AUTO_TEST_CASE(every_protocol_is_searched_for_what_it_claims) {
  ends_well(muster("check --protocol invitation --nodes 2 --failures 1 --queue 6 --liveness"),
            {"3a, 3b, group-grows, hook-grammar hold in all worlds",
             "4 can be reached from every world"});
  const Ran textbook = muster("check --protocol textbook --nodes 3 --assertion 1a");
  says_why(textbook, 1, "assertion 1a does not hold in this world");
  BOOST_TEST(says(textbook, "not claimed in this world: 1a (no claim of --protocol textbook)"),
             textbook.output);
  says_all(muster("check --protocol textbook --nodes 2 --failures 0"),
           {"hook-grammar holds", "claims no other assertion about single worlds"});
}

BOOST_AUTO_TEST_CASE(a_violation_of_what_is_not_claimed_is_judged_where_it_is_asked_for) {
  journal = '\'' + file("a story.jsonl") + '\'';
  const Ran checked = muster("check --protocol textbook --assertion 1a --out " + journal);
  BOOST_TEST(says(checked, "muster verify --assertion 1a " + journal), checked.output);
  ends_well(muster("verify " + journal));
  const Ran asked = muster("verify --assertion 1a " + journal);
  says_why(asked, 1, "1a does not hold: node");
  const std::string drawing = file("story.svg");
  const std::string draw = "draw " + journal + " -o " + drawing;
  BOOST_TEST(says(muster(draw), ", 0 violations"));
  BOOST_TEST(says(muster(draw + " --assertion 1a"), ", 1 violation"));
}

BOOST_AUTO_TEST_CASE(what_is_not_claimed_in_a_world_is_said) {
  const std::string few = "check --nodes 2 --failures 0 --limit-states 500 --accept-limit ";
  const Ran claimed = muster(few);
  BOOST_TEST(!says(claimed, "not claimed"), claimed.output);
  const std::vector<std::pair<std::string, std::string>> worlds = {
      {"--losses 1", "1a (--losses, against assumption 8)"},
      {"--timeouts 1", "1a (--timeouts, against assumptions 8 and 9)"},
      {"--duplicates 1 --literal --assertion 1b",
       "1b (letters that come twice or out of order, against assumptions 6 and 7, without the "
       "switch tags)"},
      {"--assertion 3a", "3a (no claim of --protocol bully)"},
      {"--assertion quorum", "quorum (without --option quorum=majority)"},
      {"--protocol invitation --repair safe-counter=off --assertion 3b",
       "3b (without the switch safe_counter)"},
      {"--protocol invitation --literal --assertion group-grows",
       "group-grows (without the switch growing_numbers)"},
      {"--repair report-refusals=off",
       "1a, 1b, works-apart (without the switch report_refusals, beside stop_beside_halts)"},
      {"--repair report-refusals=off",
       "hook-grammar (P4: without the switch report_refusals, beside stop_beside_halts)"},
      {"--option quorum=majority --repair tags=off --assertion quorum",
       "quorum (an option while a switch is off: docs/explanation/options.md)"},
      {"--channels any --liveness", "2 (letters that come twice or out of order"},
      {"--losses 1 --liveness", "2 (--losses, against assumption 8)"},
      {"--protocol invitation --channels any --liveness",
       "4 (letters that come twice or out of order, against assumptions 6 and 7)"},
      {"--protocol textbook --losses 1 --liveness", "2 (--losses, against assumption 8)"}};
  const Ran heals = muster(few + "--protocol invitation --timeouts any --losses 1 --liveness");
  BOOST_TEST(!says(heals, "not claimed"), heals.output);
  for (const auto& [words, what] : worlds) {
    const Ran ran = muster(few + words);
    BOOST_TEST(says(ran, "not claimed in this world: " + what), ran.output);
  }
}

BOOST_AUTO_TEST_CASE(options_that_were_not_checked_together_are_refused) {
  const Ran ran = muster("check --option quorum=majority --option preempt=never");
  BOOST_TEST(ran.code == 2, ran.output);
  BOOST_TEST(says(ran, "the checker has not searched the two together"), ran.output);
}

// The checker and the verifier agree on when a group is accepted.
BOOST_AUTO_TEST_CASE(group_numbers_that_fall_in_the_invitation_fall_in_its_journal) {
  const Ran checked = muster(
      "check --protocol invitation --nodes 2 --failures 2 --strike safe-counter --out " + journal);
  says_why(checked, 1, "assertion group-grows does not hold");
  says_why(muster("verify " + journal), 1, "group-grows does not hold");
}

BOOST_AUTO_TEST_CASE(a_quorum_is_looked_at_where_it_is_asked_for) {
  const Ran checked = muster("check --nodes 2 --assertion quorum --out " + journal);
  says_why(checked, 1, "assertion quorum does not hold");
  says_why(muster("verify --assertion quorum " + journal), 1,
           "quorum does not hold: node 1 reorganizes a group of 1, but a quorum is 2");
}

// A node of the textbook Bully may wait for any number of calls at once.
BOOST_AUTO_TEST_CASE(a_world_in_which_too_many_calls_wait_is_cut) {
  const std::string line =
      "check --protocol textbook --nodes 2 --failures 1 --timeouts any --queue 2 --threads ";
  for (const std::string threads : {"1", "2"}) ends_well(muster(line + threads), {"cut)"});
}

BOOST_AUTO_TEST_CASE(lines_and_assumptions_are_listed) {
  says_all(muster("check --lines"),
           {"stop-ends-election", "h-test", "halts-descending", "self-timeout"});
  // The help must list the switches of both protocols, each with a sentence that explains it.
  const auto all = objects_of(muster("check --lines --json").output);
  BOOST_TEST(all.size() > 40u);
  for (const auto& line : all) BOOST_TEST(line.at("says").is_string(), line.at("line").as_string());
  says_all(muster("check --assumptions"),
           {"1a", "1b", "works-apart", "group-grows", "hook-grammar", "claimed in"});
}

BOOST_AUTO_TEST_CASE(a_line_may_be_written_as_in_the_paper) {
  for (const std::string line : {"status-test-of-NewCoordinator", "status-test-of-Ready", "tags",
                                 "normal-for-me", "halts-descending=rounds-with-incarnations"})
    BOOST_TEST(
        muster("check --nodes 2 --limit-states 100 --accept-limit --strike " + line).code == 0,
        line);
}

BOOST_AUTO_TEST_CASE(what_is_not_known_is_refused) {
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"--strike nothing", "--strike: there is no line 'nothing'"},
      {"--repair tags", "--repair: expected NAME=on or NAME=off"},
      {"--start 5", "--start: expected down, normal or a list of nodes from 1 to 3"},
      {"--start 1,", "--start: expected down, normal or a list of nodes from 1 to 3"},
      {"--start ''", "--start: expected down, normal or a list of nodes from 1 to 3"},
      {"--failures many", "--failures: expected unbounded or a number up to 14"},
      {"--channels tube", "--channels: unknown value 'tube'"},
      {"--timeouts many", "--timeouts: expected certain, any or a number up to 14, not 'many'"},
      {"--strike ignore-own-group",
       "--strike ignore-own-group belongs to the Invitation: add --protocol invitation"},
      {"--protocol textbook --strike tags", "--strike tags belongs to the Bully"},
      {"--protocol invitation --strike halts-descending=parallel",
       "--strike halts-descending=parallel belongs to the Bully"},
      {"--repair safe_counter=off", "this protocol has no switch of that name"},
      {"--protocol textbook --literal", "--literal: the textbook protocol has no switches"},
      {"--failed-hooks 1 --hooks slow", "--failed-hooks needs --hooks failing"},
      {"--ticks 3", "--ticks bounds clocks, but no node reads a clock here"}};
  for (const auto& [words, why] : refused) says_why(muster("check " + words), 2, why);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::apps
