#pragma once

#include <muster/describe.hpp>

#include <algorithm>
#include <vector>

/// Lines of a protocol that the lab takes out, one at a time, to see what each is for.

namespace muster {

enum class Line {
  halt_outlives_life,      ///< the end of a life does not make a Halt to the node unanswered
  question_outlives_life,  ///< the end of a life does not make a question to the node unanswered
};
MUSTER_DESCRIBE_ENUM(Line, halt_outlives_life, question_outlives_life)

/// The lines that are taken out; empty everywhere but in the lab.
using Struck = std::vector<Line>;

/// True when the line stands.
inline bool stands(const Struck& struck, Line line) {
  return struck.empty() || std::find(struck.begin(), struck.end(), line) == struck.end();
}

}  // namespace muster
