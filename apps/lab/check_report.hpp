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
  std::string out;            ///< file for the journal of a story; empty: none
  bool accept_limit = false;  ///< a search that a limit ended is no failure
};

/// Prints the report on standard output, as text or as one JSON object a line.
void show_text(const CheckResult& result);
void show_json(const CheckResult& result);

/// Why the exit code is not 0: an assertion that does not hold, or a reason why nothing is decided.
std::optional<Failure> failure_of(const CheckResult& result);

}  // namespace muster::apps
