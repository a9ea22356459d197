#pragma once

#include "tls/channel.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace muster::net {

/// Encrypts and authenticates the connections of a node. Without credentials connections are plain.
/// The credentials can be renewed at any time; existing connections keep the earlier ones.
class Tls {
 public:
  void renew(std::shared_ptr<const Credentials> credentials) {
    credentials_ = std::move(credentials);
  }
  [[nodiscard]] const std::shared_ptr<const Credentials>& credentials() const {
    return credentials_;
  }

  /// A channel for one connection; null if there are no credentials.
  [[nodiscard]] std::unique_ptr<Channel> channel(Side side,
                                                 std::optional<NodeId> wanted = {}) const {
    return credentials_ ? std::make_unique<Channel>(credentials_, side, wanted) : nullptr;
  }

 private:
  std::shared_ptr<const Credentials> credentials_;
};

}  // namespace muster::net
