#pragma once

#include <muster/lab/checker.hpp>
#include <muster/values/failure.hpp>

#include <optional>
#include <string>

/// The report of `muster check` on a search, and its exit code.

namespace muster::apps {

struct CheckResult {
  const lab::CheckReport& report;
  const lab::Bounds& bounds;
  std::string out;            ///< where the journal of a story is left; empty: nowhere
  bool accept_limit = false;  ///< a search that a limit ended is good enough
};

/// On standard output, as text or one JSON object a line.
void show_text(const CheckResult& result);
void show_json(const CheckResult& result);

/// Why the command does not end with 0: what does not hold, or why nothing is decided.
std::optional<Failure> failure_of(const CheckResult& result);

}  // namespace muster::apps
