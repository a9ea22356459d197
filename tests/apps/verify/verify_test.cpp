#include "apps/journals/verify.hpp"
#include "apps/lab/commands.hpp"
#include "apps/verify/allocated.hpp"
#include "apps/verify/journal_files.hpp"
#include "core/journal/journal_builder.hpp"

#include <CLI/CLI.hpp>
#include <muster/claims/assertions.hpp>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <map>

/// `muster verify` on files: several journals and their segments, torn lines, exit codes, and both
/// kinds of report.

using namespace muster;
using journal::FaultKind;
using test::JournalBuilder;
using test::JournalFiles;
using test::Printed;
using test::recovered;

namespace {

constexpr std::chrono::milliseconds moment{1};

Printed verified(std::vector<std::filesystem::path> journals, bool json = false) {
  return test::print(apps::verify, apps::VerifyOptions{std::move(journals), json});
}

struct Files {
  JournalFiles files;
};

// A group of three nodes, then of two when node 3 is killed, then of three again.
JournalBuilder good_story() {
  JournalBuilder story = recovered(3);
  story.form({1, 2, 3});
  story.wait(settling_bound(story.config()));
  story.fault(FaultKind::killed, 3);
  story.reform({1, 2});
  story.recovers(3);
  for (std::uint32_t id : {1U, 2U}) story.is_halted(id);
  story.form({1, 2, 3});
  return story;
}

JournalBuilder bad_story() {
  JournalBuilder story = good_story();
  story.is_halted(1);
  story.joins(1, 2, {9, NodeId{2}});
  return story;
}

std::vector<boost::json::object> objects(const std::string& lines) {
  std::vector<boost::json::object> all;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);)
    all.push_back(boost::json::parse(line).as_object());
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(journals)

BOOST_FIXTURE_TEST_CASE(of_several_nodes_are_merged_by_time, Files) {
  std::vector<std::filesystem::path> paths = files.write_each(good_story().lines);
  BOOST_TEST_REQUIRE(paths.size() == 4u);
  const Printed once = verified(paths);
  ends_well(once, {" lines of 4 lives in 4 journals"});
  std::reverse(paths.begin(), paths.end());
  BOOST_TEST(verified(paths).out == once.out);
}

// The journals of nodes after kill -9. No journal of faults was written.
BOOST_FIXTURE_TEST_CASE(without_anybodys_word_of_what_killed_a_node_hold, Files) {
  JournalBuilder story = good_story();
  std::erase_if(story.lines, [](const journal::Line& line) {
    return std::holds_alternative<journal::Fault>(line);
  });
  const auto paths = files.write_each(story.lines);
  const Printed printed = verified(paths);
  BOOST_TEST(printed.code == 0, printed);
  BOOST_TEST(!printed.says("DOES NOT HOLD"), printed);
  const std::string hint =
      "hint: 1 life ended without a reason in any journal: if they were killed, also give the "
      "journal of";
  BOOST_TEST(printed.says(hint), printed);
  const Printed objects = verified(paths, true);
  BOOST_TEST(objects.complains(hint), objects);
  BOOST_TEST(!objects.says("hint"), objects);
  BOOST_TEST(!verified(files.write_each(good_story().lines)).says("hint"));
}

// Another program wrote the lines with spaces and with the keys in another order.
BOOST_FIXTURE_TEST_CASE(that_another_program_has_written_anew_are_the_same, Files) {
  const auto rewritten = [](const JournalBuilder& story) {
    std::string text;
    std::istringstream lines(JournalFiles::text_of(story.lines));
    for (std::string line; std::getline(lines, line);) {
      const boost::json::object object = boost::json::parse(line).as_object();
      std::string members;
      for (const auto& [key, value] : object)
        members = " \"" + std::string(key) + "\" : " + boost::json::serialize(value) +
                  (members.empty() ? " " : " ,") + members;
      text += "{" + members + "}\n";
    }
    return text;
  };
  for (const JournalBuilder& story : {good_story(), bad_story()}) {
    const Printed ours = verified({files.write("same.jsonl", story.lines)});
    const Printed theirs = verified({files.write("same.jsonl", rewritten(story))});
    BOOST_TEST(theirs.code == ours.code, theirs);
    BOOST_TEST(theirs.out == ours.out);
  }
}

BOOST_FIXTURE_TEST_CASE(of_all_nodes_in_one_file_give_the_same, Files) {
  const JournalBuilder story = bad_story();
  const Printed one = verified({files.write("all.jsonl", story.lines)}, true);
  const Printed each = verified(files.write_each(story.lines), true);
  BOOST_TEST(one.code == 1);
  BOOST_TEST(each.code == 1);
  const auto first = objects(one.out);
  const auto second = objects(each.out);
  BOOST_TEST_REQUIRE(first.size() == second.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    BOOST_TEST(first[i].at("assertion") == second[i].at("assertion"));
    BOOST_TEST(first[i].at("holds") == second[i].at("holds"));
    BOOST_TEST((first[i].if_contains("at") == nullptr || first[i].at("at") == second[i].at("at")));
  }
}

// Lines with the same time keep their order in the file. Here all lines have the same time.
BOOST_FIXTURE_TEST_CASE(keep_their_order_where_times_are_equal, Files) {
  std::string text = JournalFiles::text_of(good_story().lines);
  constexpr std::string_view key = "\"t_ns\":";
  for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + 1)) {
    const std::size_t digits = at + key.size();
    text.replace(digits, text.find(',', digits) - digits, "7");
  }
  const Printed printed = verified({files.write("all.jsonl", text)});
  BOOST_TEST(printed.code == 0, printed);
}

BOOST_FIXTURE_TEST_CASE(are_read_with_all_their_segments, Files) {
  const std::vector<journal::Line> lines = good_story().lines;
  std::vector<std::string> names{"all.jsonl"};
  for (int number = 1; number <= 11; ++number)
    names.push_back("all.jsonl." + std::to_string(number));
  for (std::size_t i = 0; i < lines.size(); ++i)
    files.write(names[i * names.size() / lines.size()], JournalFiles::text_of({lines[i]}), true);
  files.write("all.jsonl.old", "not a segment");
  const Printed printed = verified({files.path("all.jsonl")});
  ends_well(printed, {std::to_string(lines.size()) + " lines of 4 lives in 1 journal"});
  // Here the command line names every segment, as when a shell expands `*`.
  const Printed starred = verified({files.path("all.jsonl.10"), files.path("all.jsonl"),
                                    files.path("all.jsonl.1"), files.path("all.jsonl")});
  BOOST_TEST(starred.out == printed.out);
  // The oldest segments were removed.
  std::filesystem::remove(files.path("all.jsonl"));
  BOOST_TEST(verified({files.path("all.jsonl")}).complains("all.jsonl.1:1: "));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(torn_lines)

// The journal alone does not show whether the process was killed or its disk was full.
std::string halfway(int lines) {
  return "as after a kill or on a full disk: " + std::to_string(lines) + "\n";
}

// The last line of a killed process, torn at every length.
BOOST_AUTO_TEST_CASE(are_passed_over_at_the_end_of_a_file) {
  JournalBuilder story(1);
  story.recovers(1);
  const std::string before = JournalFiles::text_of(story.lines);
  story.form({1});
  const std::string whole = JournalFiles::text_of(story.lines);
  const std::size_t end = whole.find('\n', before.size());
  for (std::size_t length = before.size() + 1; length < end; ++length) {
    JournalFiles files;
    ends_well(verified({files.write("n1.jsonl", whole.substr(0, length))}), {halfway(1)});
  }
}

BOOST_FIXTURE_TEST_CASE(are_passed_over_before_the_next_life, Files) {
  JournalBuilder story(1);
  story.recovers(1);
  const std::string first = JournalFiles::text_of(story.lines);
  story.lines.clear();
  story.wait(moment);
  story.recovers(1);
  const std::string second = JournalFiles::text_of(story.lines);
  const std::string torn = first.substr(0, first.size() - 30) + '\n';
  ends_well(verified({files.write("n1.jsonl", torn + second)}), {halfway(1)});
  // The next life can begin in the next segment.
  files.write("n2.jsonl", torn);
  files.write("n2.jsonl.1", second);
  BOOST_TEST(verified({files.path("n2.jsonl")}).code == 0);
}

// A whole line that only lacks its newline is not torn. An error in it is reported.
BOOST_FIXTURE_TEST_CASE(are_none_that_are_whole_but_for_their_end, Files) {
  const std::string nodes = files.write("nodes.jsonl", good_story().lines);
  const auto with = [&](const std::string& text) {
    return verified({nodes, files.write("faults.jsonl", text)});
  };
  const Printed whole = with("{\"t_ns\":4,\"fault\":\"reset\",\"node\":3}");
  BOOST_TEST(whole.code == 0, whole);
  BOOST_TEST(!whole.says("halfway"), whole);
  fails(with("{\"t_ns\":4,\"fault\":\"kiled\",\"node\":3}"), {"faults.jsonl:1: "});
  fails(with("{\"fault\":\"killed\",\"node\":3}"), {"faults.jsonl:1: t_ns is missing"});
}

// The last line of the life is torn. The life ends with that line, and the next life is not
// reported as a violation.
BOOST_FIXTURE_TEST_CASE(are_not_the_end_of_a_life, Files) {
  JournalBuilder story = recovered(2);
  story.form({1, 2});
  std::string text = JournalFiles::text_of(story.lines);
  story.lines.clear();
  story.step(2, Expired{});
  const std::string last = JournalFiles::text_of(story.lines);
  // The beginning of this line can still be read.
  text += last.substr(0, last.size() / 2 + 40) + '\n';
  story.lines.clear();
  story.wait(moment);
  story.recovers(2);
  const std::string next_life = JournalFiles::text_of(story.lines);
  ends_well(verified({files.write("all.jsonl", text + next_life)}), {halfway(1)});
}

BOOST_FIXTURE_TEST_CASE(are_named_anywhere_else, Files) {
  std::string text = JournalFiles::text_of(good_story().lines);
  const std::size_t third = text.find('\n', text.find('\n') + 1) + 1;
  text.erase(third + 40, 10);
  const Printed printed = verified({files.write("all.jsonl", text)});
  fails(printed, {"all.jsonl:3: "});
  BOOST_TEST(std::count(printed.err.begin(), printed.err.end(), '\n') == 1);
}

BOOST_FIXTURE_TEST_CASE(without_a_time_are_named_too, Files) {
  const std::string text = "garbage\n" + JournalFiles::text_of({good_story().lines[1]});
  BOOST_TEST(verified({files.write("all.jsonl", text)}).complains("all.jsonl:1: t_ns is missing"));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(exit_codes)

BOOST_FIXTURE_TEST_CASE(one_where_something_does_not_hold, Files) {
  const Printed printed = verified({files.write("all.jsonl", bad_story().lines)});
  BOOST_TEST(printed.code == 1);
  BOOST_TEST(printed.says("1a           DOES NOT HOLD"), printed);
  BOOST_TEST(printed.complains("1a does not hold: node 1 Reorganization c=2, node 2 Normal c=3"),
             printed);
}

BOOST_FIXTURE_TEST_CASE(nine_where_nothing_could_be_checked, Files) {
  BOOST_TEST(verified({files.write("empty.jsonl", "")}).code == 9);
  JournalBuilder faults(1);
  faults.fault(FaultKind::killed, 1);
  is_undecided(verified({files.write("faults.jsonl", faults.lines)}),
               {"there is nothing in these journals to check"});
}

BOOST_FIXTURE_TEST_CASE(nine_where_there_is_no_journal_of_a_node, Files) {
  const auto paths = files.write_each(good_story().lines);
  const Printed alone = verified({paths.at(1)});
  is_undecided(alone, {"nodes cannot be compared: there is no journal of nodes 2, 3"});
  BOOST_TEST(alone.says("1a           not checked     there is no journal of nodes 2, 3"), alone);
  BOOST_TEST(alone.says("group-grows  holds"), alone);
  for (const boost::json::object& object : objects(verified({paths.at(1)}, true).out))
    if (object.at("assertion") == "works-apart") BOOST_TEST(object.at("holds").is_null());
  const Printed two = verified({paths.at(0), paths.at(1), paths.at(2)});
  is_undecided(two,
               {"not all nodes were checked: there is no journal of node 3, which others heard"});
  BOOST_TEST(two.says("1a           holds"), two);
  BOOST_TEST(two.says("not claimed of some nodes"), two);
}

BOOST_FIXTURE_TEST_CASE(nine_where_what_was_asked_for_could_not_be_checked, Files) {
  apps::VerifyOptions options{{files.write("all.jsonl", recovered(3).lines)}};
  options.assertions = {"quorum"};
  is_undecided(test::print(apps::verify, options),
               {"quorum was asked for and could not be checked"});
}

BOOST_FIXTURE_TEST_CASE(two_where_there_is_no_such_file, Files) {
  const Printed printed = verified({files.path("nowhere.jsonl")});
  BOOST_TEST(printed.code == 2);
  BOOST_TEST(printed.complains("nowhere.jsonl: there is no such journal file"), printed);
  BOOST_TEST(verified({files.path("no/where.jsonl")}).code == 2);
  BOOST_TEST(verified({files.path("")}).code == 2);
}

BOOST_FIXTURE_TEST_CASE(two_where_it_is_no_file_and_one_where_it_is_no_journal, Files) {
  const Printed directory = verified({files.path("")});
  BOOST_TEST(directory.complains("is a directory: name the journals in it"), directory);
  BOOST_TEST(verified({"/dev/null"}).complains("/dev/null: cannot be read twice"));
  fails(verified({files.write("bytes.jsonl", "\x01\x02\n\x03\x04\n")}),
        {"bytes.jsonl:1: t_ns is missing, so this is no line of a journal"});
}

BOOST_AUTO_TEST_CASE(seventy_four_where_it_cannot_be_read) {
  // A regular file whose first page nobody can read, not even root.
  const Printed printed = verified({"/proc/self/mem"});
  BOOST_TEST(printed.code == 74);
  BOOST_TEST(printed.complains("/proc/self/mem: cannot be read: "), printed);
}

// The machine restarted between the two lives, so its clock started again too.
BOOST_FIXTURE_TEST_CASE(a_clock_that_goes_back_is_named, Files) {
  JournalBuilder story(1);
  story.wait(std::chrono::seconds(5));
  story.recovers(1);
  const std::string before = JournalFiles::text_of(story.lines);
  JournalBuilder after(1);
  after.recovers(1);
  fails(verified({files.write("n1.jsonl", before + JournalFiles::text_of(after.lines))}),
        {"t_ns goes back by 5.000 s, so the machine was restarted"});
}

BOOST_FIXTURE_TEST_CASE(of_the_command_line, Files) {
  const std::string good = files.write("g.jsonl", good_story().lines);
  const std::string bad = files.write("b.jsonl", bad_story().lines);
  const auto run = [](const std::string& words) {
    CLI::App app;
    int code = -1;
    apps::add_verify_command(app, code);
    app.parse(words);
    return code;
  };
  BOOST_TEST(run("verify " + good) == 0);
  BOOST_TEST(run("verify --json " + bad) == 1);
  BOOST_CHECK_THROW(run("verify"), CLI::ParseError);
}

BOOST_AUTO_TEST_SUITE_END()

// The test asks for an assertion that only the Invitation algorithm claims, and not the Bully.
BOOST_FIXTURE_TEST_CASE(what_is_asked_for_is_judged_too, Files) {
  apps::VerifyOptions options{{files.write("all.jsonl", bad_story().lines)}};
  BOOST_TEST(!test::print(apps::verify, options).says("3a"));
  options.assertions = {"3a", "1a"};
  const Printed asked = test::print(apps::verify, options);
  BOOST_TEST(asked.says("3a           holds"), asked);
  BOOST_TEST(asked.says("1a           DOES NOT HOLD"), asked);
  BOOST_TEST(asked.out.find("1a  ") == asked.out.rfind("1a  "), asked);
}

BOOST_AUTO_TEST_SUITE(reports)

BOOST_FIXTURE_TEST_CASE(in_json_one_object_a_line, Files) {
  JournalBuilder story = good_story();
  const Duration from = story.now();
  story.fault(FaultKind::paused, 1);
  story.wait(moment);
  story.fault(FaultKind::resumed, 1);
  story.is_halted(1, Paused{story.now() - from});
  const Printed printed = verified(files.write_each(story.lines), true);
  BOOST_TEST(printed.code == 0, printed);
  BOOST_TEST(printed.err == "");
  std::map<std::string, boost::json::object> verdicts;
  std::size_t not_claimed = 0;
  for (const boost::json::object& object : objects(printed.out)) {
    const std::string assertion(object.at("assertion").as_string());
    if (object.at("holds").is_null()) {
      ++not_claimed;
      BOOST_TEST(object.at("why") == "assumption 9: node 1 paused");
      BOOST_TEST(object.at("to_ns").as_int64() - object.at("from_ns").as_int64() > 1'000'000);
    } else {
      BOOST_TEST(verdicts.emplace(assertion, object).second);
    }
  }
  BOOST_TEST(not_claimed == 3u);
  BOOST_TEST(verdicts.size() == 7u);
  BOOST_TEST(verdicts["2"].at("bound_ns") == settling_bound(story.config()).count());
}

BOOST_FIXTURE_TEST_CASE(in_text_one_line_an_assertion, Files) {
  JournalBuilder story = good_story();
  for (int round = 0; round < 2; ++round) {
    story.wait(2 * moment);
    story.step(1, Paused{moment});
  }
  const Printed printed = verified(files.write_each(story.lines));
  BOOST_TEST(printed.code == 0, printed);
  for (const char* begin : {"\n1a           holds", "\n1b           holds", "\n2            holds",
                            "\nworks-apart  holds", "\ngroup-grows  holds", "\ndurable      holds",
                            "\nhook-grammar holds"})
    BOOST_TEST(printed.says(begin), begin << printed);
  BOOST_TEST(printed.says("not claimed: 1a, 1b, works-apart (2 times, 0.002 s in all): "
                          "assumption 9: node 1 paused"),
             printed);
  BOOST_TEST(printed.says(", after a time without faults of "), printed);
}

BOOST_AUTO_TEST_SUITE_END()

// A journal that is much larger than the memory that `muster verify` may use to read it.
BOOST_FIXTURE_TEST_CASE(memory_does_not_grow_with_the_journal, Files) {
  JournalBuilder story = recovered(3);
  story.form({1, 2, 3});
  const auto path = files.write("all.jsonl", story.lines);
  const auto append = [&](std::uintmax_t size) {
    while (std::filesystem::file_size(path) < size) {
      story.lines.clear();
      for (std::uint32_t step = 0; step < 3000; ++step) story.step(1 + step % 3, Expired{});
      files.write("all.jsonl", JournalFiles::text_of(story.lines), true);
    }
    story.lines.clear();
    story.lines.shrink_to_fit();
  };
  const auto most_while_reading = [&] {
    test::most_bytes_allocated();
    BOOST_TEST(verified({path}).code == 0);
    return test::most_bytes_allocated();
  };
  append(1'000'000);
  const std::size_t small = most_while_reading();
  append(16'000'000);
  BOOST_TEST(most_while_reading() < small + 100'000);
  BOOST_TEST(small < 4'000'000u);
}
