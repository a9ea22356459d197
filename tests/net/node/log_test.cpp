#include "cluster.hpp"

#include <record/node_log.hpp>  // of net/src

#include <muster/journal/news.hpp>
#include <muster/net/log.hpp>
#include <muster/values/text.hpp>

#include <boost/json/parse.hpp>

#include <algorithm>
#include <mutex>

/// The log of a node: which lines it has, how often, and at which level.

using namespace muster;
using namespace muster::test;

namespace {

/// The lines that nodes log, from any thread.
struct Log {
  explicit Log(std::uint32_t nodes)
      : cluster({.nodes = nodes, .alter = [this](NodeId, net::NodeOptions& node) {
                   node.log.level = LogLevel::info;
                   node.log.line = [this](LogLevel level, const std::string& text) {
                     note(level, text);
                   };
                 }}) {}
  void note(LogLevel level, const std::string& text) {
    {
      const std::lock_guard lock(mutex);
      lines.push_back(to_text(level) + ' ' + text);
    }
    cluster.bell.ring();
  }
  void await(const std::string& text) {
    cluster.await("\"" + text + "\"", [&] {
      const std::lock_guard lock(mutex);
      return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
        return line.find(text) != std::string::npos;
      });
    });
  }

  std::mutex mutex;  // guards lines
  std::vector<std::string> lines;
  Cluster cluster;
};

/// A log whose clock the test sets.
struct Clocked {
  net::NodeLog::Clock::time_point now{};
  std::vector<std::string> lines;
  net::NodeLog log{options(), [this] { return now; }};

  net::NodeOptions options() {
    net::NodeOptions options;
    options.log.level = LogLevel::warning;
    options.log.line = [this](LogLevel, const std::string& text) { lines.push_back(text); };
    return options;
  }
};

Words said(const std::vector<News>& all) {
  Words lines;
  for (const News& one : all) lines.push_back(to_text(one.level) + ' ' + one.text);
  return lines;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(logs)

BOOST_AUTO_TEST_CASE(each_election_is_told_with_its_cause_and_each_group_with_its_members) {
  Log log(2);
  const GroupNumber both = log.cluster.join_all();
  log.await("info node 2 begins an election: node 2 recovered");
  log.await("info node 2 is Normal in group " + to_text(both) + " under node 2, members 1 2");
  log.await("info node 1 is Normal in group " + to_text(both) + " under node 2");
  const GroupNumber alone = log.cluster.lose(2);
  log.await("info node 1 begins an election: node 2 failed");
  log.await("info node 1 is Normal in group " + to_text(alone) + " under node 1, members 1");
  log.cluster.leave(1);
  log.await("info node 1 was told to leave in order");
  BOOST_TEST(log.lines.back() == "info node 1 leaves its group");
}

// The node goes on. The log, the status and the journal of the node report the broken invariant.
BOOST_AUTO_TEST_CASE(what_an_application_says_is_broken_is_told_by_log_status_and_journal) {
  Log log(1);
  const GroupNumber group = log.cluster.join(1);
  Services& services = log.cluster.stage.services(NodeId{1});
  services.note("invoice 1-1");
  services.broken("invoice 1-1 twice");
  log.await("warning node 1: its application reports a broken invariant: invoice 1-1 twice");
  services.broken("invoice 1-2 twice");
  const auto says = [&](journal::RemarkKind kind, const char* text) {
    log.cluster.await_line(1, text, 0, [&](const journal::Line& line) {
      const auto* remark = std::get_if<journal::Remark>(&line);
      return remark && remark->kind == kind && remark->text == text;
    });
  };
  says(journal::RemarkKind::note, "invoice 1-1");
  says(journal::RemarkKind::broken, "invoice 1-2 twice");
  const std::string status = log.cluster.node(1).status_json();
  BOOST_TEST(status.find("\"broken\":\"invoice 1-1 twice\"") != std::string::npos, status);
  BOOST_TEST(log.cluster.node(1).view().group == group);
  log.cluster.judge({"application"});
}

BOOST_AUTO_TEST_CASE(a_hook_that_fails_is_told_with_its_reason) {
  Log log(1);
  log.cluster.stage.play(NodeId{1}, Hook::start, fails);
  log.cluster.start(1);
  log.await("warning node 1 goes on: its start failed: as it was told");
  log.await(
      "warning node 1 stands back: its hooks failed repeatedly, the last time its start failed: as "
      "it was told; fix the application");
}

BOOST_AUTO_TEST_CASE(a_refusal_is_told_with_who_and_why) {
  Newsreel news(NodeId{2});
  const Letter letter{NodeId{1}, Incarnation{1}, NodeId{2}, CallNumber{7},
                      Answer{Refused{"leaving"}}};
  BOOST_TEST(said(news.take(Received{letter}, {})) ==
             Words{"warning node 2 is refused: node 1 refused: leaving"});
}

BOOST_AUTO_TEST_CASE(a_node_that_pauses_for_differing_nodes_is_told) {
  Newsreel news(NodeId{1});
  View after;
  const auto told_of = [&](NodeSet differ, Wait procedure) {
    after.procedure = procedure;
    return said(news.take(Differing{std::move(differ), {}}, after));
  };
  BOOST_TEST(told_of({NodeId{2}, NodeId{3}}, Wait::Outvoted) ==
             Words{"warning node 1 takes no part, because many nodes differ from it: "
                   "node 2, node 3 differ from node 1"});
  BOOST_TEST(told_of({NodeId{3}}, Wait::Rejoining) ==
             Words{"info node 1 waits until the nodes that differ have stopped: node 3 differs "
                   "from node 1"});
  BOOST_TEST(told_of({}, Wait::SeekingHigher) ==
             Words{"info node 1 begins an election: no other node differs any more"});
}

BOOST_FIXTURE_TEST_CASE(the_same_matter_is_told_so_often_and_then_how_many_were_left_out, Clocked) {
  for (int i = 0; i < 5; ++i) log.tell(LogLevel::warning, "matter", "told", 2);
  BOOST_TEST(lines.size() == 2u);
  log.warn("another matter");
  BOOST_TEST(lines.size() == 3u);
  now += std::chrono::seconds(11);
  log.tell(LogLevel::warning, "matter", "told", 2);
  BOOST_TEST(lines.back() == "told (3 lines like this one were left out before it)");
  log.tell(LogLevel::warning, "matter", "told", 2);
  BOOST_TEST(lines.back() == "told");
}

BOOST_FIXTURE_TEST_CASE(what_matters_less_than_the_level_is_not_told, Clocked) {
  log.tell(LogLevel::info, "matter", "told");
  BOOST_TEST(lines.empty());
  log.fatal("always");
  BOOST_TEST(lines.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_line_of_text_has_time_and_level) {
  const std::string line = net::log_line(LogFormat::text, LogLevel::warning, NodeId{3}, "a\nb");
  BOOST_TEST(line.size() == 24 + std::string(" warning muster: a b\n").size());
  BOOST_TEST(line.ends_with("Z warning muster: a b\n"));
}

// Text from a program or a file could clear a terminal, or look like further lines.
BOOST_AUTO_TEST_CASE(a_line_of_text_has_no_control_characters) {
  const std::string line = net::log_line(LogFormat::text, LogLevel::warning, NodeId{3},
                                         "\x1b[2J\rno\x7f \xc2\x9b 1 \xc3\xa9\xff");
  BOOST_TEST(line.ends_with(" warning muster: ?[2J?no? ? 1 \xc3\xa9?\n"), line);
}

BOOST_AUTO_TEST_CASE(a_line_of_json_is_one_object_whatever_it_says) {
  for (const std::string& text : {std::string("says \"no\"\nand \\ \x01"), std::string(10'000, 'x'),
                                  std::string(10'000, '\x01')}) {
    const std::string line = net::log_line(LogFormat::json, LogLevel::error, NodeId{3}, text);
    BOOST_TEST(line.size() < 4095u);
    BOOST_TEST(line.find('\n') == line.size() - 1);
    const auto object = boost::json::parse(line).as_object();
    BOOST_TEST(object.at("level").as_string() == "error");
    BOOST_TEST(object.at("node").as_int64() == 3);
    const std::string said(object.at("text").as_string());
    BOOST_TEST(said.substr(0, 500) == text.substr(0, 500));
  }
}

BOOST_AUTO_TEST_CASE(a_line_of_json_is_utf_8_whatever_it_says) {
  const auto line =
      boost::json::parse(net::log_line(LogFormat::json, LogLevel::info, {}, "no \xff"));
  BOOST_TEST(line.at("text").as_string() ==
             "no \xef\xbf\xbd"
             "ff");
}

// The handler is called before the process ends, in addition to the line in the log.
BOOST_FIXTURE_TEST_CASE(an_embedded_node_is_told_of_the_fault_that_ends_its_process, Nodes<1>) {
  const auto process = spawn(1, {"stop=fail", "tells_fatal"});
  BOOST_TEST(process->wait() == 76);
  const auto errors = process->errors();
  BOOST_TEST_REQUIRE(errors.size() == 2u);
  BOOST_TEST(says(errors[0], " error muster: node 1: "));
  BOOST_TEST(errors[1].starts_with("told: node 1: "), errors[1]);
}

BOOST_AUTO_TEST_SUITE_END()
