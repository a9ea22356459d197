#pragma once

#include "cluster.hpp"

#include <boost/asio/ip/tcp.hpp>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

/// The lines between nodes of this process, which can be cut: what is sent waits, nobody is told,
/// and when they are healed it goes on.

namespace muster::test {

class Links {
 public:
  Links();
  Links(const Links&) = delete;
  Links& operator=(const Links&) = delete;
  ~Links();

  /// From now on `options` reaches the other nodes over lines of ours.
  void lead(net::NodeOptions& options);

  /// Nothing passes between the node and the others, from when this returns.
  void cut(NodeId node);
  void heal(NodeId node);
  /// The same between two nodes alone.
  void cut(NodeId one, NodeId other);
  /// Neither of the two reaches the other: their connections end, and what dials is refused.
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

  std::map<Pair, std::unique_ptr<End>> ends_;  ///< at which the first dials the second
  std::vector<std::weak_ptr<Line>> lines_;
  std::set<NodeId> cut_;
  std::set<Pair> cut_pairs_;  ///< each pair in both orders
  Running running_;           ///< last: its thread uses all of the above
};

}  // namespace muster::test
