#pragma once

#include "apps/postgres/server/options.hpp"
#include "apps/postgres/server/session.hpp"

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <map>
#include <optional>
#include <string>

namespace muster::postgres {

struct Written {
  bool by_group = false;         ///< a group has had a primary
  std::optional<Copies> copies;  ///< the list in force; none: that version did not record it
};

/// Asks the nodes' databases one question at a time, over one session to each.
class Databases {
 public:
  explicit Databases(const InstanceOptions& options) : options_(options) {}

  SqlExpected<Answer> ask(NodeId node, const std::string& statement,
                          Duration bound = std::chrono::seconds(2));
  /// The group for which that node is an open primary. A later group may exist: a node that was
  /// paused does not know of a group that began meanwhile. None: the node is no open primary, or
  /// does not answer.
  std::optional<GroupNumber> is_open_for(NodeId node);
  /// Reads the greatest term that this node knows: whether a group has had a primary, and under
  /// which node list. The error says why the node does not answer.
  SqlExpected<Written> written(NodeId node);

 private:
  SqlExpected<Written> written_in_rows(NodeId node);

  const InstanceOptions& options_;
  boost::asio::io_context context_{1};
  std::map<NodeId, std::optional<Session>> sessions_;
};

}  // namespace muster::postgres
