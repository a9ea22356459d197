#pragma once

#include "apps/postgres/server/children.hpp"
#include "apps/postgres/server/interview.hpp"
#include "apps/postgres/server/options.hpp"

/// Records the holding of a node outside its data directory. So the node notices a restored backup,
/// or another database in the same directory.

namespace muster::postgres {

/// Writes muster.held (conf.hpp) at intervals while the database works.
class LastHeld {
 public:
  /// `tell` is called with a sentence if the file cannot be written.
  LastHeld(const Executor& executor, InstanceOptions options,
           std::function<void(const std::string&)> tell);

  void begin();
  /// Stops at once. No callback comes afterwards.
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
