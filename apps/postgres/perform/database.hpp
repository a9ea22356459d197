#pragma once

#include "apps/postgres/perform/instance.hpp"

#include <muster/application.hpp>

#include <memory>

/// The PostgreSQL of a node as the application of its lives: what is decided of it (keeper.hpp), by
/// what has happened to it (instance.hpp) and what the node asks.

namespace muster::postgres {

/// Outlives the lives of its node, and has a thread of its own, on which all of it happens.
class Database {
 public:
  /// `tell` is given a sentence for the node's log. On any thread.
  Database(InstanceOptions options, std::function<void(const std::string&)> tell);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  /// Shuts PostgreSQL down at once, and waits for that. The node is gone by then.
  ~Database();

  /// Fails where the note of an earlier mending cannot be read, or its owner not be answered.
  Expected<> begin();

  /// Waits until PostgreSQL has recovered, does not begin, or is to be mended, and not longer than
  /// `bound`: the stop of a node that recovers keeps its whole group waiting.
  void await_beginning(Duration bound) const;

  /// What the lives of the node are made with.
  [[nodiscard]] MakeApplication application();

 private:
  class Impl;
  class OfLife;
  std::shared_ptr<Impl> impl_;
};

}  // namespace muster::postgres
