#pragma once

#include "answers.hpp"
#include "sight.hpp"

namespace muster::bully {

/// resume = "all": the first Ready tells a member its task, and a second one, when all know theirs,
/// starts it.
struct ResumeOption {
  bool& installed;

  [[nodiscard]] std::optional<Readiness> judge_ready() const {
    if (installed) return std::nullopt;
    return Readiness::install;
  }
  void told_task() { installed = true; }
  void leaves_group() { installed = false; }
};

}  // namespace muster::bully
