#pragma once

#include "apps/postgres/server/children.hpp"
#include "apps/postgres/server/interview.hpp"
#include "apps/postgres/server/options.hpp"

/// What the data of a node holds, remembered apart from it: so that a backup which is put back, or
/// another database in its place, is seen.

namespace muster::postgres {

/// Writes muster.held (conf.hpp) again and again while the database works.
class Memory {
 public:
  /// `tell` is given a sentence where that cannot be written.
  Memory(const Executor& executor, InstanceOptions options,
         std::function<void(const std::string&)> tell);

  void begin();
  /// At once: nothing of it goes on any more.
  void stop();

 private:
  void look();
  void see(const Row& row);
  void remember(const Held& held);

  const Executor executor_;
  const InstanceOptions options_;
  std::function<void(const std::string&)> tell_;
  Pause pause_;
  std::optional<Interview> interview_;
  std::optional<Held> last_seen_;
  bool told_ = false;
};

}  // namespace muster::postgres
