#pragma once

#include "cluster.hpp"

#include <boost/asio/ip/tcp.hpp>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

/// Links between nodes of this process, which can be cut. During a cut the sent bytes wait, and no
/// node gets an error. After the cut these bytes arrive.

namespace muster::test {

class Links {
 public:
  Links();
  Links(const Links&) = delete;
  Links& operator=(const Links&) = delete;
  ~Links();

  /// From now on the node with these options reaches the other nodes over these links.
  void lead(net::NodeOptions& options);

  /// Cuts the links between the node and all others. No byte passes after the function has
  /// returned.
  void cut(NodeId node);
  void heal(NodeId node);
  /// Cuts the link between these two nodes only.
  void cut(NodeId one, NodeId other);
  /// From now on neither node reaches the other: the connections between them end, and their dials
  /// are refused.
  void refuse(NodeId one, NodeId other);

 private:
  using Tcp = boost::asio::ip::tcp;
  using Pair = std::pair<NodeId, NodeId>;
  struct Line;
  struct End;

  void accept(End& end);
  void on_thread(const std::function<void()>& change);
  [[nodiscard]] bool is_cut(const Pair& pair) const {
    return cut_.contains(pair.first) != cut_.contains(pair.second) || cut_pairs_.contains(pair);
  }

  /// The listening ends. The first node of a pair dials its end to reach the second node.
  std::map<Pair, std::unique_ptr<End>> ends_;
  std::vector<std::weak_ptr<Line>> lines_;
  std::set<NodeId> cut_;
  std::set<Pair> cut_pairs_;  ///< each pair in both orders
  Running running_;           ///< declared last, since its thread uses all members above
};

}  // namespace muster::test
