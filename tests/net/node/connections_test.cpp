#include "cluster.hpp"

#include <muster/net/admin.hpp>
#include <muster/net/status.hpp>
#include <muster/values/json.hpp>

#include <boost/json/parse.hpp>

#include <atomic>
#include <thread>

/// Connections between living nodes may break at any time. Nothing is lost, and no election begins.

using namespace muster;
using namespace muster::test;

namespace {

/// Breaks all connections of all nodes again and again. Each time it first waits until a letter has
/// passed. If no letter passed for T, assumption 8 would not hold and the nodes might begin an
/// election.
class Breaking {
 public:
  explicit Breaking(std::vector<std::string> sockets)
      : sockets_(std::move(sockets)), thread_([this] {
          while (!over_) {
            const std::uint64_t before = letters();
            for (const std::string& socket : sockets_)
              if (net::ask_admin(socket, Bell::generous, "break-connections")) ++broken_;
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

  /// The number of letters that all nodes have received; a node that is down counts as 0.
  [[nodiscard]] std::uint64_t letters() const {
    std::uint64_t all = 0;
    for (const std::string& socket : sockets_)
      if (const auto line = net::ask_admin(socket, Bell::generous)) {
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
  const TemporaryDirectory directory;
  const auto socket = [&](std::uint32_t id) {
    return (directory.path() / (std::to_string(id) + ".sock")).string();
  };
  Cluster cluster(
      {.alter = [&](NodeId id, net::NodeOptions& node) { node.admin.socket = socket(id.value); }});
  cluster.join_all();
  const std::size_t before[] = {cluster.journals.count(NodeId{2}),
                                cluster.journals.count(NodeId{3})};
  {
    const Breaking breaking({socket(1), socket(2), socket(3)});
    for (int round = 0; round < 5; ++round) {
      cluster.lose(1);
      cluster.join(1);
    }
    BOOST_TEST(breaking.broken() > 10);
  }
  for (std::uint32_t id = 2; id <= 3; ++id) {
    const auto lines = cluster.journals.lines(NodeId{id}, before[id - 2]);
    for (const Failed& failed : events<Failed>(lines)) BOOST_TEST(failed.node == NodeId{1});
    for (const Unanswered& unanswered : events<Unanswered>(lines))
      BOOST_TEST(unanswered.by == NodeId{1});
  }
  cluster.judge();
}

BOOST_AUTO_TEST_SUITE_END()
