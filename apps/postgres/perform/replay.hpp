#pragma once

#include "apps/postgres/perform/errand.hpp"

/// The end of a standby's replay.

namespace muster::postgres {

/// An order that waits until a sealed standby has replayed all that it has.
class ErrandOfReplay : public Errand {
 public:
  using Errand::Errand;

 protected:
  /// muster.conf names nobody to follow, and the server has been told so. It may not have seen that
  /// yet; the startup process may replay what came before.
  void finish_replay(std::function<void()> then);

 private:
  void await_conf();
  void look();
  void end_readers();

  std::function<void()> then_;
  pid_t startup_ = 0;
  std::optional<std::uint64_t> slept_;  ///< how often, when it was seen to wait for more
};

}  // namespace muster::postgres
