#pragma once

#include <muster/values/types.hpp>

#include <optional>
#include <string>

namespace muster::apps {

/// The supervisor that started this process: systemd, or none. This process reports its state to
/// the supervisor as sd_notify(3) does.
class Supervisor {
 public:
  /// The supervisor that the environment names. The variables that name it are removed, so that no
  /// program that we start can report to it in our name. Call it while there is only one thread.
  static Supervisor from_environment();

  [[nodiscard]] bool is_there() const { return !socket_.empty(); }

  /// How long the supervisor waits for a sign of life before it ends this process. None if the
  /// supervisor never ends it.
  [[nodiscard]] std::optional<Duration> patience() const { return patience_; }

  /// Sends lines such as "READY=1". Never waits; a message that cannot be sent is lost.
  void tell(const std::string& lines) const;

 private:
  std::string socket_;  ///< the supervisor's: a path, or '@' and an abstract name
  std::optional<Duration> patience_;
};

}  // namespace muster::apps
