#pragma once

#include <muster/values/types.hpp>

#include <optional>
#include <string>

namespace muster::apps {

/// Who has started this process and is told how it fares, as sd_notify(3) has it: systemd, or
/// nobody.
class Supervisor {
 public:
  /// The one that the environment names. What names it is taken out, so that no program of ours
  /// speaks in our name. To be called while there is one thread.
  static Supervisor from_environment();

  [[nodiscard]] bool is_there() const { return !socket_.empty(); }

  /// How long it waits for a sign of life before it ends this process; none where it does not.
  [[nodiscard]] std::optional<Duration> patience() const { return patience_; }

  /// Lines such as "READY=1". Never waits; what cannot be sent is lost.
  void tell(const std::string& lines) const;

 private:
  std::string socket_;  ///< a path, or '@' and an abstract name
  std::optional<Duration> patience_;
};

}  // namespace muster::apps
