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

/// What every host makes of what an application says by its `Services`.

namespace MUSTER_EXPORT muster {

/// For how long a node is out whose application has it step down.
inline Duration time_out(Duration asked) {
  constexpr Duration most = std::chrono::hours(24 * 365);
  return std::clamp(asked, Duration::zero(), most);
}

/// What an application notes, or says is broken, as it stands in journals and logs.
inline std::string remark_of(std::string_view said) {
  return said.empty() ? "(the application gave no words)"
                      : one_line(said, Services::longest_remark);
}

/// What an application has shown last. A role is of the grant of permits under which it was said.
class Showing {
 public:
  /// `grant`: the number of the one that stands; none where nothing is permitted. What is wrong
  /// with `shown`, in a sentence: then all is as before.
  [[nodiscard]] std::optional<std::string> show(Shown shown, std::optional<std::uint64_t> grant) {
    if (const auto wrong = shown.wrong()) return "the application shows " + *wrong;
    shown_ = std::move(shown);
    shown_.text = presentable(shown_.text, Shown::longest_text);
    grant_ = grant;
    return std::nullopt;
  }

  /// With the roles that it has now: `may_work` is whether the node may under `grant`.
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
