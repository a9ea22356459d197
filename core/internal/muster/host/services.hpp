#pragma once

#include <muster/services.hpp>
#include <muster/values/one_line.hpp>
#include <muster/values/text.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

/// The parts of `Services` that are the same on every host.

namespace MUSTER_EXPORT muster {

/// How long a node stays away after its application made it step down: one year at most.
inline Duration time_out(Duration asked) {
  constexpr Duration most = std::chrono::hours(24 * 365);
  return std::clamp(asked, Duration::zero(), most);
}

/// The text of a note or of a broken invariant, as journals and logs contain it.
inline std::string remark_of(std::string_view said) {
  return said.empty() ? "(the application gave no words)"
                      : one_line(said, Services::longest_remark);
}

/// The arguments of the last call of `Services::show`. A role belongs to the grant of permits under
/// which it was shown.
class Showing {
 public:
  /// Replaces what is shown. `grant` is the number of the present grant of permits; none if there
  /// are no permits. Returns a sentence if `shown` is not allowed; nothing changes then.
  [[nodiscard]] std::optional<std::string> show(Shown shown, std::optional<std::uint64_t> grant) {
    if (const auto wrong = shown.wrong()) return "the application shows " + *wrong;
    shown_ = std::move(shown);
    shown_.text = presentable(shown_.text, Shown::longest_text);
    grant_ = grant;
    return std::nullopt;
  }

  /// The text, and the roles that still count. `may_work` tells whether the node may work under
  /// `grant`.
  [[nodiscard]] Shown now(std::optional<std::uint64_t> grant, bool may_work) const {
    Shown now = shown_;
    const bool still = grant_ && grant_ == grant && may_work;
    for (auto& [role, has] : now.roles) has = has && still;
    return now;
  }

 private:
  Shown shown_;
  std::optional<std::uint64_t> grant_;
};

}  // namespace muster
