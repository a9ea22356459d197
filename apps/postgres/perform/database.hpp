#pragma once

#include "apps/postgres/perform/instance.hpp"

#include <muster/application.hpp>

#include <memory>

/// The application of a node whose task is to run a PostgreSQL. It connects the decisions
/// (keeper.hpp), the real PostgreSQL (instance.hpp) and the node's calls.

namespace muster::postgres {

/// Outlives the lives of its node. Has a thread of its own, on which all its work is done.
class Database {
 public:
  /// `tell` is called with a sentence for the node's log, on any thread.
  Database(InstanceOptions options, std::function<void(const std::string&)> tell);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  /// Shuts PostgreSQL down at once, and waits until it has ended. Destroy the node before this
  /// object.
  ~Database();

  /// Fails if the note of an earlier rewind or clone cannot be read, or if the socket for the
  /// operator's requests cannot be opened.
  Expected<> begin();

  /// Waits until PostgreSQL has recovered, fails to start, or is about to be rewound or cloned, but
  /// at most for `bound`. A node that is still recovering when it is stopped would keep its whole
  /// group waiting.
  void await_beginning(Duration bound) const;

  /// Makes the application of each life of the node.
  [[nodiscard]] MakeApplication application();

 private:
  class Impl;
  class OfLife;
  std::shared_ptr<Impl> impl_;
};

}  // namespace muster::postgres
