#pragma once

#include <muster/lab/bounds.hpp>

#include <string>
#include <vector>

/// The rows of the table of findings (docs/findings.md). Each row is a world and the verdict that
/// `muster check` must give.

namespace muster::lab::findings {

enum class Verdict { holds, violated };

struct Row {
  const char* id;
  const char* what;
  Bounds bounds;
  Verdict expected{};
  const char* assertion = "";  ///< the violated assertion, if any
  unsigned counted = 0;        ///< limit for the steps of the counterexample; 0: no limit
  bool reaches_2 = true;       ///< liveness only: Assertion 2 can be reached
  bool quick = true;           ///< the tests run this row too, not only the bench
};

std::vector<Row> rows();

/// The command line of `muster check` that searches the world of this row.
std::string command_of(const Bounds& bounds);

}  // namespace muster::lab::findings
