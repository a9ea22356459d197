#pragma once

#include <muster/lab/bounds.hpp>

#include <string>
#include <vector>

/// The rows of the table of findings (docs/findings.md): a world, and what is expected there.

namespace muster::lab::findings {

enum class Verdict { holds, violated };

struct Row {
  const char* id;
  const char* what;
  Bounds bounds;
  Verdict expected{};
  const char* assertion = "";  ///< where violated
  unsigned counted = 0;        ///< the counterexample counts at most so many steps; 0: any
  bool reaches_2 = true;       ///< where bounds.liveness
  bool quick = true;           ///< run with every test, not only by the bench
};

std::vector<Row> rows();

/// The command line that looks at that world.
std::string command_of(const Bounds& bounds);

}  // namespace muster::lab::findings
