#include "cluster.hpp"

#include <muster/net/admin.hpp>
#include <muster/net/status.hpp>
#include <muster/values/json.hpp>
#include <muster/values/text.hpp>

#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <thread>

/// Connections that break between living nodes, whenever they may, lose nothing and start nothing.

using namespace muster;
using test::Cluster;
using test::ClusterOptions;

namespace {

/// Breaks all connections of all nodes that are up, over and over, each time that a letter has come
/// through: where none does for T the nodes are apart (assumption 8), and may say so.
class Breaking {
 public:
  explicit Breaking(std::vector<std::string> sockets)
      : sockets_(std::move(sockets)), thread_([this] {
          while (!over_) {
            const std::uint64_t before = letters();
            for (const std::string& socket : sockets_)
              if (net::ask_admin(socket, test::Bell::generous, "break-connections")) ++broken_;
            for (int looks = 0; looks < most_looks && !over_ && letters() == before; ++looks)
              continue;
          }
        }) {}
  Breaking(const Breaking&) = delete;
  Breaking& operator=(const Breaking&) = delete;
  ~Breaking() {
    over_ = true;
    thread_.join();
  }
  [[nodiscard]] int broken() const { return broken_; }

 private:
  static constexpr int most_looks = 100;

  /// What all have received; a node that is down has received nothing.
  [[nodiscard]] std::uint64_t letters() const {
    std::uint64_t all = 0;
    for (const std::string& socket : sockets_)
      if (const auto line = net::ask_admin(socket, test::Bell::generous)) {
        boost::system::error_code none;
        const auto status = read_json<net::NodeStatus>(boost::json::parse(*line, none));
        if (status) all += status->counters.letters_in;
      }
    return all;
  }

  std::vector<std::string> sockets_;
  std::atomic<bool> over_ = false;
  std::atomic<int> broken_ = 0;
  std::thread thread_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(connections)

BOOST_AUTO_TEST_CASE(broken_at_any_point_of_an_election_they_lose_nothing_and_start_nothing) {
  ClusterOptions options{.nodes = 3};
  std::string directory;
  const auto socket = [&](NodeId id) { return directory + "/" + to_text(id) + ".sock"; };
  options.alter = [&](NodeId id, net::NodeOptions& node) { node.admin_socket = socket(id); };
  Cluster cluster(std::move(options));
  directory = cluster.directory().string();
  cluster.start_all();
  cluster.await_group({1, 2, 3});
  std::size_t before[4] = {};
  for (std::uint32_t id = 1; id <= 3; ++id) before[id] = cluster.journals.count(NodeId{id});
  {
    const Breaking breaking({socket(NodeId{1}), socket(NodeId{2}), socket(NodeId{3})});
    for (int round = 0; round < 5; ++round) {
      cluster.kill(1);
      cluster.await_group({2, 3});
      cluster.start(1);
      cluster.await_group({1, 2, 3});
    }
    BOOST_TEST(breaking.broken() > 10);
  }
  for (std::uint32_t id = 2; id <= 3; ++id) {
    auto lines = cluster.journals.lines(NodeId{id});
    lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(before[id]));
    for (const Failed& failed : test::events<Failed>(lines)) BOOST_TEST((failed.node == NodeId{1}));
    for (const Unanswered& unanswered : test::events<Unanswered>(lines))
      BOOST_TEST((unanswered.by == NodeId{1}));
  }
  cluster.judge();
}

BOOST_AUTO_TEST_SUITE_END()
