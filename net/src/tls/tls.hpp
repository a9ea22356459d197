#pragma once

#include "tls/channel.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace muster::net {

/// By what the connections of a node are proven and encrypted; by nothing, where it has no
/// credentials. They may be renewed at any time: connections that are there keep theirs.
class Tls {
 public:
  void renew(std::shared_ptr<const Credentials> credentials) {
    credentials_ = std::move(credentials);
  }
  [[nodiscard]] const std::shared_ptr<const Credentials>& credentials() const {
    return credentials_;
  }

  /// For one connection; none where there are no credentials.
  [[nodiscard]] std::unique_ptr<Channel> channel(Side side,
                                                 std::optional<NodeId> wanted = {}) const {
    return credentials_ ? std::make_unique<Channel>(credentials_, side, wanted) : nullptr;
  }

 private:
  std::shared_ptr<const Credentials> credentials_;
};

}  // namespace muster::net
