#include "cluster.hpp"
#include "hanging_disk.hpp"
#include "judge.hpp"
#include "written_in.hpp"

#include <muster/values/text.hpp>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <fstream>

/// The journals of real nodes: segments, lives, torn lines, and files that cannot be written.

using namespace muster;
using namespace muster::test;
namespace fs = std::filesystem;

namespace {

std::vector<journal::Line> parsed(const fs::path& file) {
  std::vector<journal::Line> lines;
  std::ifstream in(file);
  for (std::string text; std::getline(in, text);) {
    auto line = journal::parse_line(text);
    BOOST_TEST_REQUIRE(line.has_value(), text);
    lines.push_back(std::move(*line));
  }
  return lines;
}

fs::path segment(const fs::path& file, int number) {
  return number == 0 ? file : fs::path(file.string() + "." + std::to_string(number));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(journals)

BOOST_FIXTURE_TEST_CASE(a_life_is_told_from_its_first_line_to_its_last, Judged<1>) {
  join(1);
  leave(1);
  const auto lines = journals.lines(NodeId{1});
  const auto* header = std::get_if<journal::Header>(&lines.front());
  BOOST_TEST_REQUIRE(header != nullptr);
  BOOST_TEST(header->clock == journal::Clock::monotonic);
  BOOST_TEST(!header->state.has_value());
  Config config{options_of(1).config, {}};
  config.options.calm = options_of(1).lives.calm;
  BOOST_TEST(header->config == config);
  BOOST_TEST(is_step<Recovered>(lines.at(1)));
  BOOST_TEST(ended_in(lines).code == 0);
}

// Each segment can be replayed alone, from the state in its first line.
BOOST_AUTO_TEST_CASE(segments_begin_with_the_state_before_their_first_step) {
  Cluster cluster({.nodes = 2, .journal_limit = 4096});
  cluster.start(1);
  for (int round = 0; round < 3; ++round) {
    cluster.join(2);
    cluster.lose(2);
  }
  cluster.leave(1);
  const fs::path file = journal_of(cluster.directory(), NodeId{1});
  int segments = 0;
  for (; fs::exists(segment(file, segments)); ++segments) {
    const auto lines = parsed(segment(file, segments));
    const auto* header = std::get_if<journal::Header>(&lines.front());
    BOOST_TEST_REQUIRE(header != nullptr);
    BOOST_TEST(header->state.has_value() == (segments > 0));
    Protocol state = header->state.value_or(begin(header->config));
    for (const journal::Line& line : lines) {
      const auto* step = std::get_if<journal::Step>(&line);
      if (!step) continue;
      BOOST_CHECK(muster::step(header->config, state, step->event, step->at) == step->actions);
      BOOST_CHECK(view(header->config, state) == step->view);
    }
  }
  BOOST_TEST(segments > 3);
  cluster.judge();
}

std::string json_of(net::Node& node, const std::string& key) {
  const boost::json::value status = boost::json::parse(node.status_json());
  return boost::json::serialize(status.at(key));
}

/// A cluster in which one node writes its journal to another directory. The test reads only the
/// journals of the other nodes.
struct Elsewhere {
  explicit Elsewhere(std::uint32_t id, std::uint32_t nodes) : cluster(options(id, nodes)) {
    file = fs::path(cluster.make_directory("elsewhere")) / "journal.jsonl";
  }

  ClusterOptions options(std::uint32_t id, std::uint32_t nodes) {
    ClusterOptions options{.nodes = nodes};
    options.timings.check_every = std::chrono::milliseconds(20);
    options.alter = [this, id](NodeId node, net::NodeOptions& of_node) {
      if (node == NodeId{id}) of_node.journal->file = file;
    };
    return options;
  }
  void await_group_of_coordinator(std::uint32_t id, const NodeSet& up) {
    cluster.await("a group under node " + std::to_string(id), [&] {
      const View view = cluster.node(id).view();
      return view.status == Status::Normal && view.up == up;
    });
  }

  fs::path file;
  Cluster cluster;
};

BOOST_AUTO_TEST_CASE(one_that_cannot_be_written_goes_on_when_it_can_and_tells_of_the_gap) {
  Elsewhere nodes(1, 2);
  fs::remove(nodes.file.parent_path());
  nodes.cluster.start_all();
  nodes.await_group_of_coordinator(2, {NodeId{1}});
  BOOST_TEST(json_of(nodes.cluster.node(1), "journal_dropped") != "0");
  fs::create_directory(nodes.file.parent_path());
  nodes.cluster.await("lines",
                      [&] { return std::ranges::count(written_in(nodes.file), '\n') > 10; });
  nodes.cluster.leave(1);
  const auto lines = parsed(nodes.file);
  const auto& header = std::get<journal::Header>(lines.at(0));
  const auto& gap = std::get<journal::Gap>(lines.at(1));
  BOOST_TEST(header.state.has_value());
  BOOST_TEST(header.gap == gap.lines);
  BOOST_TEST(gap.stamp.seq == gap.lines + 1);
  BOOST_TEST(std::holds_alternative<journal::Step>(lines.at(2)));
  for (const std::string& complaint : test::replay(lines)) BOOST_TEST_ERROR(complaint);
}

// The node is coordinator, then member, and then coordinator again.
BOOST_AUTO_TEST_CASE(one_on_a_disk_that_hangs_holds_nobody_up) {
  Elsewhere nodes(2, 3);
  const HangingDisk disk(nodes.file);
  nodes.cluster.start(1);
  nodes.cluster.start(2);
  nodes.await_group_of_coordinator(2, {NodeId{1}});
  for (int round = 0; round < 2; ++round) {
    nodes.cluster.start(3);
    nodes.await_group_of_coordinator(3, {NodeId{1}, NodeId{2}});
    nodes.cluster.kill(3);
    nodes.await_group_of_coordinator(2, {NodeId{1}});
  }
  nodes.cluster.leave(2);
}

// All other steps are in the journal. The journal can be replayed and passes all checks.
BOOST_AUTO_TEST_CASE(one_of_changes_leaves_idle_checks_out) {
  ClusterOptions options;
  options.timings.check_every = std::chrono::milliseconds(20);
  options.alter = [](NodeId id, net::NodeOptions& node) {
    if (id == NodeId{1}) node.journal->detail = journal::Detail::changes;
  };
  Cluster cluster(std::move(options));
  cluster.start(1);
  cluster.join(2);
  cluster.journals.read_all();
  const std::size_t before = cluster.journals.count(NodeId{1});
  std::size_t at = cluster.journals.count(NodeId{2});
  for (int heard = 0; heard < 5; ++heard)
    at = cluster.await_line(2, "an answer to a Check", at, is_step<Received>) + 1;
  cluster.journals.read_all();
  BOOST_TEST(cluster.journals.count(NodeId{1}) == before);
  cluster.join(3);
  cluster.await_line(1, "a gap", before, is_line<journal::Gap>);
  BOOST_TEST(json_of(cluster.node(1), "journal_dropped") == "0");
  cluster.judge();
}

BOOST_AUTO_TEST_CASE(the_oldest_segments_are_deleted_and_the_rest_replays) {
  const auto keep = [](NodeId, net::NodeOptions& node) { node.journal->keep = 40'000; };
  Cluster cluster({.nodes = 2, .journal_limit = 4096, .alter = keep});
  const fs::path file = journal_of(cluster.directory(), NodeId{1});
  cluster.start(1);
  do {
    cluster.join(2);
    cluster.lose(2);
  } while (fs::exists(file));
  cluster.leave(1);
  std::uint64_t all = 0;
  for (const auto& entry : fs::directory_iterator(cluster.directory()))
    if (entry.path().filename().string().starts_with(file.filename().string()))
      all += entry.file_size();
  BOOST_TEST(all < 40'000u);
  cluster.judge();
}

// The view and the status that others get agree with the journal.
BOOST_FIXTURE_TEST_CASE(the_view_and_the_status_are_those_of_the_last_step, Judged<2>) {
  const GroupNumber group = join_all();
  const View shown = node(2).view();
  BOOST_TEST(shown.group == group);
  BOOST_TEST(shown.up == NodeSet{NodeId{1}});
  const std::string status = node(2).status_json();
  for (const char* part : {"\"node\":2", "\"status\":\"Normal\"", "\"coordinator\":2", "\"up\":[1]",
                           "\"incarnation\":1", "\"protocol\":\"bully\"", "\"as_of_ns\":"})
    BOOST_TEST(status.find(part) != std::string::npos, part << " in " << status);
}

BOOST_AUTO_TEST_SUITE_END()
