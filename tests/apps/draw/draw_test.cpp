#include "apps/lab/draw.hpp"
#include "apps/verify/journal_files.hpp"
#include "core/journal/journal_builder.hpp"

#include <boost/test/unit_test.hpp>

/// `muster draw` on journals that the test builds: the drawing contains what the journals contain.

using namespace muster;
using journal::FaultKind;
using test::JournalBuilder;
using test::JournalFiles;
using test::Printed;
using test::recovered;

namespace {

Printed draw(const std::vector<journal::Line>& lines, apps::DrawOptions options = {}) {
  JournalFiles files;
  options.journals = {files.write("all.jsonl", JournalFiles::text_of(lines))};
  if (options.output.empty()) options.output = "-";
  if (options.format.empty()) options.format = "svg";
  return test::print(apps::draw, options);
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

Letter letter(std::uint32_t from, std::uint32_t to, std::uint64_t call, Message message) {
  return {NodeId{from}, {1}, NodeId{to}, {call}, std::move(message)};
}

// Node 1 asks node 2, which answers. The question of node 1 to node 3 never arrives.
JournalBuilder letters() {
  JournalBuilder story = recovered(3);
  const Letter ask = letter(1, 2, 1, AreYouThere{});
  const Letter lost = letter(1, 3, 2, Halt{});
  const Letter answer = letter(2, 1, 1, Answer{Here{}});
  story.step(1, Expired{}, {Send{ask, Bound::answer}, Send{lost, Bound::answer}});
  story.step(2, Received{ask}, {Send{answer, {}}});
  story.step(1, Received{answer});
  return story;
}

JournalBuilder bad_story() {
  JournalBuilder story = recovered(3);
  story.form({1, 2, 3});
  story.is_halted(1);
  story.joins(1, 2, {9, NodeId{2}});
  return story;
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_letter_is_one_arrow) {
  const Printed printed = draw(letters().lines);
  BOOST_TEST(printed.code == 0, printed);
  BOOST_TEST(count(printed.out,
                   "class=\"arrow call\" data-message=\"AreYouThere\" data-from=\"1\" "
                   "data-to=\"2\"") == 1U);
  BOOST_TEST(count(printed.out, "class=\"arrow answer\" data-message=\"Answer\"") == 1U);
  BOOST_TEST(count(printed.out, "class=\"arrow call lost\" data-message=\"Halt\"") == 1U);
  BOOST_TEST(count(printed.out, "data-message=") == 3U);
  BOOST_TEST(count(printed.out, "class=\"lane\"") == 3U);
  BOOST_TEST(printed.complains("3 nodes, 3 letters (1 never received), 0 violations"), printed);
}

BOOST_AUTO_TEST_CASE(the_same_journal_gives_the_same_bytes) {
  for (const char* format : {"svg", "html", "mermaid", "shiviz"}) {
    apps::DrawOptions options;
    options.format = format;
    BOOST_TEST(draw(bad_story().lines, options).out == draw(bad_story().lines, options).out);
  }
}

BOOST_AUTO_TEST_CASE(a_violation_is_marked_on_its_nodes) {
  const Printed printed = draw(bad_story().lines);
  BOOST_TEST(count(printed.out, "data-assertion=\"1a\"") >= 2U, printed.err);
  BOOST_TEST(count(draw(letters().lines).out, "data-assertion=") == 0U);
}

BOOST_AUTO_TEST_CASE(what_an_application_notes_stands_at_its_lane) {
  JournalBuilder story = recovered(2);
  story.says(1, journal::RemarkKind::note, "invoice 1-1 of the customer with the longest name");
  const Printed svg = draw(story.lines);
  BOOST_TEST(count(svg.out, "invoice 1-1 of the customer ...") == 1u);  // beside the lane
  BOOST_TEST(count(svg.out, "node 1: invoice 1-1 of the customer with the longest name") == 2u);
  BOOST_TEST(count(svg.out, "data-assertion") == 0u);
  apps::DrawOptions options;
  options.format = "mermaid";
  BOOST_TEST(draw(story.lines, options).says("Note over node1: invoice 1-1 of the customer"));
}

BOOST_AUTO_TEST_CASE(what_is_broken_is_marked_as_a_violation) {
  JournalBuilder story = recovered(2);
  story.says(2, journal::RemarkKind::broken, "invoice 1-1 twice");
  story.lines.emplace_back(journal::Finding{story.now(), "two lamps shine"});
  const Printed svg = draw(story.lines);
  BOOST_TEST(count(svg.out, "data-assertion=\"application\"") == 1u);
  BOOST_TEST(count(svg.out, ">broken: invoice 1-1 twice<") == 1u);
  BOOST_TEST(count(svg.out, "application is violated:") >= 2u);
}

BOOST_AUTO_TEST_CASE(a_journal_is_not_drawn_over) {
  JournalFiles files;
  apps::DrawOptions options;
  options.journals = {files.write("all.jsonl", JournalFiles::text_of(letters().lines))};
  options.output = options.journals.front().string();
  options.format = "svg";
  const Printed printed = test::print(apps::draw, options);
  BOOST_TEST(printed.code == 2);
  BOOST_TEST(printed.complains("all.jsonl is one of the journals; choose another"), printed);
}

BOOST_AUTO_TEST_CASE(journals_without_lines_are_not_drawn) {
  BOOST_TEST(draw({}).complains("there is nothing to draw: these journals have no lines"));
}

// The text about the violation in the last line needs more lines than there are beside the lanes.
BOOST_AUTO_TEST_CASE(notes_end_above_the_legend) {
  const std::string svg = draw(bad_story().lines).out;
  const auto number_behind = [&](std::size_t at, const char* before) {
    return std::stoi(svg.substr(svg.find(before, at) + std::string(before).size()));
  };
  const auto legend = svg.find("<g transform=\"translate(0 ");
  const auto note = svg.rfind("class=\"note violated\"", legend);
  BOOST_REQUIRE(note != std::string::npos && legend != std::string::npos);
  BOOST_TEST(number_behind(note, " y=\"") < number_behind(legend, "translate(0 "));
}

BOOST_AUTO_TEST_CASE(nodes_that_are_not_there_are_not_drawn) {
  apps::DrawOptions options;
  options.nodes = {9};
  const Printed printed = draw(letters().lines, options);
  BOOST_TEST(printed.code == 1);
  BOOST_TEST(printed.complains("these journals have no line of the given nodes in the given time"),
             printed);
}

BOOST_AUTO_TEST_CASE(some_nodes_and_some_time) {
  apps::DrawOptions options;
  options.nodes = {1, 2};
  const Printed two = draw(letters().lines, options);
  BOOST_TEST(count(two.out, "class=\"lane\"") == 2U);
  BOOST_TEST(count(two.out, "data-message=") == 2U);
  options.from = "1s";
  BOOST_TEST(draw(letters().lines, options).code == 1);
  options.from = "soon";
  BOOST_TEST(draw(letters().lines, options).code == 2);
}

BOOST_AUTO_TEST_CASE(text_is_escaped) {
  JournalBuilder story = letters();
  story.step(1, HookFailed{{1}, Hook::start, "</script><b> & \""});
  for (const char* format : {"svg", "html"}) {
    apps::DrawOptions options;
    options.format = format;
    BOOST_TEST(count(draw(story.lines, options).out, "</script><b>") == 0U);
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_character_of_xml_is_replaced) {
  JournalBuilder story = letters();
  story.step(1, HookFailed{{1}, Hook::start, "so\xEF\xBF\xBEso\xEF\xBF\xBFso\x01"});
  const std::string svg = draw(story.lines).out;
  for (const char* none : {"\xEF\xBF\xBE", "\xEF\xBF\xBF", "\x01"})
    BOOST_TEST(count(svg, none) == 0U);
  BOOST_TEST(count(svg, "so\xEF\xBF\xBDso\xEF\xBF\xBDso") > 0U);
}

BOOST_AUTO_TEST_CASE(shiviz_clocks_follow_the_letters) {
  apps::DrawOptions options;
  options.format = "shiviz";
  const Printed printed = draw(letters().lines, options);
  BOOST_TEST(printed.says("node2: receives AreYouThere") == false);
  BOOST_TEST(printed.says("node 2: receives AreYouThere from node 1: Send Answer: Here to 1"),
             printed);
  BOOST_TEST(printed.says("{\"node1\":6, \"node2\":6}\nnode 2: receives"), printed);
  BOOST_TEST(printed.says("{\"node1\":7, \"node2\":6}\nnode 1: receives"), printed);
}

BOOST_AUTO_TEST_CASE(mermaid_names_the_letters) {
  apps::DrawOptions options;
  options.format = "mermaid";
  const Printed printed = draw(letters().lines, options);
  for (const char* line : {"sequenceDiagram\n", "  node1->>node2: AreYouThere\n",
                           "  node2-->>node1: Answer: Here\n", "  node1-xnode3: Halt\n"})
    BOOST_TEST(printed.says(line), line << printed);
}
