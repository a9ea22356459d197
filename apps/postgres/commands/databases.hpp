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
  bool by_group = false;         ///< after `create`
  std::optional<Copies> copies;  ///< none: of a version that did not say
};

/// One question after the other to the databases of the nodes, over a session to each.
class Databases {
 public:
  explicit Databases(const InstanceOptions& options) : options_(options) {}

  SqlExpected<Answer> ask(NodeId node, const std::string& statement,
                          Duration bound = std::chrono::seconds(2));
  /// The group for which it acknowledges commits, or would: one that stood still may not know of a
  /// later one. None: it is no open primary, or does not answer.
  std::optional<GroupNumber> is_open_for(NodeId node);
  /// By what its greatest row was written. The error says why it does not answer.
  SqlExpected<Written> written(NodeId node);

 private:
  const InstanceOptions& options_;
  boost::asio::io_context context_{1};
  std::map<NodeId, std::optional<Session>> sessions_;
};

}  // namespace muster::postgres
