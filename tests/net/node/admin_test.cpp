#include "cluster.hpp"

#include <muster/journal/history.hpp>
#include <muster/net/admin.hpp>
#include <muster/values/json.hpp>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <future>

/// The requests of a node's owner, and the data that the node stores for its owner.

using namespace muster;
using namespace muster::test;

namespace {

/// Nodes whose owner is the test.
struct Owned {
  explicit Owned(std::uint32_t nodes)
      : cluster({.nodes = nodes, .alter = [this](NodeId id, net::NodeOptions& node) {
                   node.admin.socket = socket(id.value);
                 }}) {}
  [[nodiscard]] std::filesystem::path socket(std::uint32_t id) const {
    return directory.path() / ("n" + std::to_string(id) + ".sock");
  }
  [[nodiscard]] std::string say(std::uint32_t id, std::string_view word) const {
    return net::ask_admin(socket(id), Bell::generous, word).value();
  }

  TemporaryDirectory directory;
  Cluster cluster;
};

std::string key(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(history::cells) + std::string(20 - digits.size(), '0') + digits;
}

Bytes cell(std::uint64_t number) {
  history::Entry entry;
  entry.number = number;
  Bytes bytes;
  write_json(bytes.data, entry);
  return bytes;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(owner)

BOOST_AUTO_TEST_CASE(a_drained_node_can_still_be_ended_in_order) {
  Owned nodes(2);
  nodes.cluster.join_all();
  BOOST_TEST(nodes.say(2, "drain") == "{}");
  nodes.cluster.await_group({1});
  BOOST_TEST(nodes.say(2, "drain") == "{}");
  BOOST_TEST(says(nodes.say(2, "step-down 1"), "refused"));
  BOOST_TEST(says(nodes.say(2, "step-down soon"), "refused"));
  nodes.cluster.leave(2);
  nodes.cluster.judge();
}

BOOST_AUTO_TEST_CASE(history_is_told_some_at_a_time) {
  Owned nodes(1);
  for (std::uint64_t number = 1; number <= 9; ++number)
    nodes.cluster.cells(1).cells[key(number)] = cell(number);
  nodes.cluster.join(1);
  const auto numbers = [&](const std::string& word) {
    std::string all;
    std::istringstream lines(nodes.say(1, word));
    for (std::string line; std::getline(lines, line);)
      all += boost::json::serialize(boost::json::parse(line).at("number")) + ' ';
    return all;
  };
  BOOST_TEST(numbers("history 3") == "8 9 10 ");
  BOOST_TEST(numbers("history 3 8") == "5 6 7 ");
  BOOST_TEST(numbers("history 3 3") == "1 2 ");
  BOOST_TEST(numbers("history 3 1") == "");
  BOOST_TEST(numbers("history") == "1 2 3 4 5 6 7 8 9 10 ");
}

BOOST_FIXTURE_TEST_CASE(history_keeps_the_last_ten_thousand, Nodes<1>) {
  auto& cells = this->cells(1).cells;
  for (std::uint64_t number = 1; number <= 10'000; ++number) cells[key(number)] = cell(number);
  cells["of the application"] = {"precious"};
  join(1);
  leave(1);
  BOOST_TEST(cells.size() == 10'001u);
  BOOST_TEST(!cells.contains(key(1)));
  BOOST_TEST(cells.contains(key(2)));
  BOOST_REQUIRE(cells.contains(key(10'001)));
  BOOST_TEST(says(cells[key(10'001)].data, "\"evidence\":\"node 1 recovered\""));
  BOOST_TEST(cells["of the application"].data == "precious");
}

BOOST_FIXTURE_TEST_CASE(an_application_is_shown_no_cell_of_the_node_s_own, Nodes<1>) {
  auto& cells = this->cells(1).cells;
  cells[key(1)] = cell(1);
  cells["mine"] = {"precious"};
  join(1);
  std::promise<std::vector<std::pair<std::string, Bytes>>> shown;
  stage.services(NodeId{1}).scan("", [&](auto found) { shown.set_value(found); });
  const auto found = shown.get_future().get();
  BOOST_REQUIRE(found.size() == 1u);
  BOOST_TEST(found[0].first == "mine");
}

BOOST_AUTO_TEST_SUITE_END()
