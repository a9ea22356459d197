#include "apps/lab/replay.hpp"
#include "apps/lab/commands.hpp"
#include "apps/verify/journal_files.hpp"

#include <CLI/CLI.hpp>
#include <muster/values/json.hpp>

#include <boost/json/parse.hpp>

#include <algorithm>
#include <sstream>

/// `muster replay` on journals that the protocol itself made.

using namespace muster;
using test::JournalFiles;
using test::Printed;

namespace {

/// A node, and the journal that it writes. A test can give any event to each life of this node.
class Alone {
 public:
  explicit Alone(std::uint32_t id = 1) {
    config_.self = NodeId{id};
    config_.nodes = {NodeId{id}, NodeId{id + 1}};
  }

  std::vector<journal::Line> lines;
  bully::State state;

  void begins_life() {
    ++safe_.incarnation.value;
    seq_ = 0;
    state = {};
    header(false);
    give(Recovered{safe_});
  }

  void header(bool in_a_life) {
    lines.emplace_back(journal::Header{++now_, config_.self, safe_.incarnation,
                                       journal::Clock::monotonic, config_,
                                       in_a_life ? std::optional<Protocol>(state) : std::nullopt});
  }

  void give(const Event& event) {
    const journal::Stamp stamp = next();
    const Actions actions = bully::step(config_, state, event);
    lines.emplace_back(journal::Step{stamp, event, actions, bully::view(config_, state)});
    for (const Action& action : actions) {
      const auto* save = std::get_if<Save>(&action);
      if (!save) continue;
      safe_ = save->safe;
      lines.emplace_back(journal::Performed{next()});
    }
  }

  void gap(std::size_t lost) { lines.emplace_back(journal::Gap{next(), lost, state}); }

  /// The node pauses, and the journal loses the lines of that pause. The next line reports the gap,
  /// in the same segment or in a new one.
  void loses_a_pause(bool in_a_new_segment) {
    const std::size_t kept = lines.size();
    give(Paused{Duration(7)});
    const std::size_t lost = lines.size() - kept;
    lines.resize(kept);
    if (in_a_new_segment) {
      header(true);
      std::get<journal::Header>(lines.back()).gap = lost;
    }
    gap(lost);
  }
  /// From Recovered to Normal; the other node does not answer.
  void becomes_normal() {
    begins_life();
    give(Unanswered{NodeId{config_.self.value + 1}, state.calls});
    give(Stopped{state.ticket, Report{"held"}});
    give(Reorganized{state.ticket, {"task"}});
    give(Started{state.ticket});
    BOOST_TEST_REQUIRE(state.s == Status::Normal);
  }

 private:
  journal::Stamp next() { return {++now_, config_.self, safe_.incarnation, ++seq_}; }

  Config config_;
  SafeState safe_;
  Duration now_{};
  std::uint64_t seq_ = 0;
};

Alone a_normal_life(std::uint32_t id = 1) {
  Alone node(id);
  node.becomes_normal();
  return node;
}

struct NormalLife {
  Alone node = a_normal_life();
  apps::ReplayOptions options;
};

Printed replay(std::vector<std::filesystem::path> journals, apps::ReplayOptions options = {}) {
  options.journals = std::move(journals);
  return test::print(apps::replay, options);
}

Printed replay(const std::vector<journal::Line>& lines, apps::ReplayOptions options = {}) {
  JournalFiles files;
  return replay({files.write("n1.jsonl", lines)}, std::move(options));
}

std::size_t steps_in(const std::vector<journal::Line>& lines) {
  return static_cast<std::size_t>(std::count_if(
      lines.begin(), lines.end(),
      [](const journal::Line& line) { return std::holds_alternative<journal::Step>(line); }));
}

journal::Step& last_step(std::vector<journal::Line>& lines) {
  return std::get<journal::Step>(lines.back());
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_life_is_replayed_exactly, NormalLife) {
  const Printed printed = replay(node.lines);
  BOOST_TEST(printed.code == 0, printed);
  BOOST_TEST(printed.out == "5 steps of 1 life replayed exactly\n");
}

BOOST_AUTO_TEST_CASE(several_lives_in_one_file) {
  Alone node;
  for (int life = 0; life < 3; ++life) node.becomes_normal();
  BOOST_TEST(replay(node.lines).out == "15 steps of 3 lives replayed exactly\n");
}

BOOST_AUTO_TEST_CASE(several_nodes_in_one_file_and_in_several) {
  const Alone one = a_normal_life(1);
  const Alone two = a_normal_life(2);
  std::vector<journal::Line> mixed;
  for (std::size_t i = 0; i < one.lines.size(); ++i) {
    mixed.push_back(one.lines[i]);
    mixed.push_back(two.lines[i]);
  }
  mixed.emplace_back(journal::Fault{Duration(99), journal::FaultKind::killed, NodeId{1}, {}});
  BOOST_TEST(replay(mixed).out == "10 steps of 2 lives replayed exactly\n");
  JournalFiles files;
  // A journal of faults contains nothing to replay.
  BOOST_TEST(replay(files.write_each(mixed)).out == "10 steps of 2 lives replayed exactly\n");
}

// Replay compares everything again after a line that reports a gap, whether the missing lines were
// left out or lost.
BOOST_FIXTURE_TEST_CASE(replay_starts_again_after_a_gap, NormalLife) {
  node.loses_a_pause(false);
  node.give(ElectionAsked{"to see"});
  BOOST_TEST(replay(node.lines).out == "6 steps of 1 life replayed exactly\n");
  last_step(node.lines).view.status = Status::Normal;
  BOOST_TEST(replay(node.lines).code == 1);
}

// A segment may begin with a gap. The state in the segment's first line is then not the state after
// the line before.
BOOST_FIXTURE_TEST_CASE(a_segment_may_begin_with_a_gap, NormalLife) {
  node.loses_a_pause(true);
  node.give(ElectionAsked{"to see"});
  BOOST_TEST(replay(node.lines).out == "6 steps of 1 life replayed exactly\n");
}

BOOST_FIXTURE_TEST_CASE(a_torn_last_line_of_each_life, NormalLife) {
  std::string text = JournalFiles::text_of(node.lines);
  text.resize(text.size() - 20);
  text += '\n';
  node.lines.clear();
  node.becomes_normal();
  text += JournalFiles::text_of(node.lines);
  text.resize(text.size() - 20);
  JournalFiles files;
  const Printed printed = replay({files.write("n1.jsonl", text)});
  BOOST_TEST(printed.code == 0, printed);
  BOOST_TEST(printed.out == "8 steps of 2 lives replayed exactly, torn lines: 2\n");
}

BOOST_AUTO_TEST_SUITE(segments)

BOOST_FIXTURE_TEST_CASE(go_on_in_a_life, NormalLife) {
  const std::size_t first = node.lines.size();
  node.header(true);
  for (int i = 0; i < 3; ++i) node.give(Expired{Timer::check});
  JournalFiles files;
  const auto path = files.write(
      "n1.jsonl", JournalFiles::text_of({node.lines.begin(),
                                         node.lines.begin() + static_cast<std::ptrdiff_t>(first)}));
  const auto next = files.write(
      "n1.jsonl.1", JournalFiles::text_of({node.lines.begin() + static_cast<std::ptrdiff_t>(first),
                                           node.lines.end()}));
  BOOST_TEST(replay({path}).out == "8 steps of 1 life replayed exactly\n");
  // Replay needs no earlier segment, since the first line of each segment contains the state. The
  // oldest segment may have been removed.
  BOOST_TEST(replay({next}).out == "3 steps of 1 life replayed exactly\n");
}

BOOST_FIXTURE_TEST_CASE(that_begin_with_another_state_are_named, NormalLife) {
  node.header(true);
  std::get<bully::State>(*std::get<journal::Header>(node.lines.back()).state).counter += 1;
  fails(replay(node.lines), {":" + std::to_string(node.lines.size()) + ": the segment differs"});
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(a_difference)

BOOST_FIXTURE_TEST_CASE(of_the_actions_is_named_with_both, NormalLife) {
  last_step(node.lines).actions.emplace_back(Disarm{Timer::retry});
  const Printed printed = replay(node.lines);
  fails(printed, {"n1.jsonl:" + std::to_string(node.lines.size()) + ": the actions differ"});
  BOOST_TEST(printed.says("recorded: " + to_json(last_step(node.lines).actions)), printed);
  BOOST_TEST(printed.says("replayed: ["), printed);
  BOOST_TEST(printed.says("4 steps of 1 life replayed exactly, 1 step not replayed"), printed);
}

BOOST_FIXTURE_TEST_CASE(of_the_state_is_named_with_both, NormalLife) {
  last_step(node.lines).view.procedure = Wait::Probing;
  const Printed printed = replay(node.lines);
  fails(printed, {": the state differs"});
  BOOST_TEST(printed.says("\"procedure\":\"Probing\""), printed);
}

BOOST_FIXTURE_TEST_CASE(of_an_event_shows_in_what_follows, NormalLife) {
  for (journal::Line& line : node.lines)
    if (auto* step = std::get_if<journal::Step>(&line))
      if (auto* event = std::get_if<Reorganized>(&step->event)) event->definition = {"another"};
  BOOST_TEST(replay(node.lines).code == 1);
}

// A difference ends the replay of its life only. The first difference of each life is reported.
BOOST_AUTO_TEST_CASE(is_reported_once_a_life) {
  Alone node;
  for (int life = 0; life < 3; ++life) {
    node.becomes_normal();
    if (life < 2) last_step(node.lines).view.procedure = Wait::Probing;
    node.give(Expired{Timer::check});
  }
  apps::ReplayOptions options;
  options.json = true;
  const Printed printed = replay(node.lines, options);
  BOOST_TEST(printed.code == 1);
  std::istringstream lines(printed.out);
  std::vector<boost::json::object> objects;
  for (std::string line; std::getline(lines, line);)
    objects.push_back(boost::json::parse(line).as_object());
  BOOST_TEST_REQUIRE(objects.size() == 3u);
  BOOST_TEST(objects[0].at("differs") == "state");
  BOOST_TEST(objects[0].at("recorded").at("procedure") == "Probing");
  BOOST_TEST(objects[0].at("replayed").at("procedure") == "Idle");
  BOOST_TEST(objects[2].at("exact") == 14);
  BOOST_TEST(objects[2].at("passed_over") == 4);
  BOOST_TEST(objects[2].at("differences") == 2);
}

BOOST_AUTO_TEST_SUITE_END()

// If lines are missing, replay cannot compare until the next segment or life begins.
BOOST_FIXTURE_TEST_CASE(steps_after_missing_lines_are_passed_over, NormalLife) {
  node.lines.erase(node.lines.begin() + 2);
  node.header(true);
  node.give(Expired{Timer::check});
  const Printed printed = replay(node.lines);
  BOOST_TEST(printed.code == 0, printed);
  BOOST_TEST(printed.out ==
             "2 steps of 1 life replayed exactly, 3 steps skipped, because lines before them are "
             "missing\n");
}

BOOST_FIXTURE_TEST_CASE(a_line_that_cannot_stand_there_is_named, NormalLife) {
  node.lines.erase(node.lines.begin());
  fails(replay(node.lines),
        {"n1.jsonl:1: node 1 in life 1: the first line of this life is missing"});
}

BOOST_AUTO_TEST_CASE(without_a_step_there_is_nothing_to_replay) {
  BOOST_TEST(replay(std::vector<journal::Line>{}).code == 9);
  JournalFiles files;
  BOOST_TEST(replay({files.path("nowhere.jsonl")}).code == 2);
}

BOOST_AUTO_TEST_SUITE(options)

BOOST_FIXTURE_TEST_CASE(until_stops_and_shows_the_state, NormalLife) {
  options.until = 2;
  ends_well(replay(node.lines, options),
            {"node 1 after seq 2\n  s: Reorganization", "2 steps of 1 life replayed exactly"});
}

BOOST_FIXTURE_TEST_CASE(until_a_step_that_is_not_there_shows_the_state_after_the_last, NormalLife) {
  options.until = 1000;
  ends_well(replay(node.lines, options), {"\n  s: Normal"});
}

BOOST_FIXTURE_TEST_CASE(until_a_time_shows_the_state_then, NormalLife) {
  options.until_time = Duration(1);
  for (const bool state : {false, true}) {
    options.state = state;
    ends_well(replay(node.lines, options),
              {"node 1 after seq 1\n  s: ", "1 step of 1 life replayed exactly"});
  }
}

BOOST_FIXTURE_TEST_CASE(the_states_after_the_end_in_json, NormalLife) {
  options.state = options.json = true;
  const Printed printed = replay(node.lines, options);
  BOOST_TEST(printed.says("\"state\":{\"s\":\"Normal\""), printed);
}

BOOST_AUTO_TEST_CASE(journals_are_walked_through_together_in_the_order_of_their_times) {
  const Alone one = a_normal_life(1);
  const Alone two = a_normal_life(2);
  JournalFiles files;
  const auto first = files.write("n1.jsonl", one.lines);
  const auto second = files.write("n2.jsonl", two.lines);
  std::istringstream walk("\ns\n3\nq\n");
  apps::ReplayOptions options;
  options.step = true;
  options.walk = &walk;
  const Printed printed = replay({first, second}, options);
  ends_well(printed, {"step 1: [Enter] next", "step 2: ", "node 2 after seq 1\n  s: "});
  BOOST_TEST(!printed.says("step 3: "), printed);
  BOOST_TEST(printed.says("step 5: "), printed);
  BOOST_TEST(printed.says("5 steps of 2 lives replayed exactly"), printed);
}

BOOST_FIXTURE_TEST_CASE(step_shows_each_step_s_line_in_json, NormalLife) {
  options.step = options.json = true;
  const Printed printed = replay(node.lines, options);
  std::string steps;
  for (const journal::Line& line : node.lines)
    if (std::holds_alternative<journal::Step>(line)) journal::append_line(steps, line);
  BOOST_TEST(printed.out.starts_with(steps + "{\"holds\":true,\"exact\":"), printed);
}

BOOST_FIXTURE_TEST_CASE(step_shows_each_step, NormalLife) {
  options.step = true;
  const Printed printed = replay(node.lines, options);
  BOOST_TEST(printed.says("node 1 seq 1: Recovered{"), printed);
  BOOST_TEST(printed.says("    Start{ticket: "), printed);
  BOOST_TEST(printed.says("  = View{status: Normal"), printed);
  BOOST_TEST(static_cast<std::size_t>(std::count(printed.out.begin(), printed.out.end(), '=')) ==
             steps_in(node.lines));
}

BOOST_FIXTURE_TEST_CASE(on_the_command_line, NormalLife) {
  JournalFiles files;
  const std::string path = files.write("n1.jsonl", node.lines);
  const auto run = [](const std::string& words) {
    CLI::App app;
    int code = -1;
    apps::add_replay_command(app, code);
    app.parse(words);
    return code;
  };
  BOOST_TEST(run("replay " + path) == 0);
  BOOST_TEST(run("replay --json --until 3 " + path) == 0);
  BOOST_TEST(run("replay --state --until 1s " + path) == 0);
  BOOST_CHECK_THROW(run("replay --until soon " + path), CLI::ParseError);
  BOOST_CHECK_THROW(run("replay"), CLI::ParseError);
}

BOOST_AUTO_TEST_SUITE_END()
