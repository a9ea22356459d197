#pragma once

#include "journals.hpp"

#include <set>
#include <string>
#include <vector>

/// Functions that find the errors in the journals of a test.

namespace muster::test {

/// Runs `step` again on each recorded event of one node and compares the results. Returns a
/// sentence for each difference.
std::vector<std::string> replay(const std::vector<journal::Line>& lines, bool wiped = false);

/// Replays every journal, and checks all assertions and the hook grammar on all journals together.
/// Returns a sentence for each error. `spared` names assertions that the test violates on purpose.
std::vector<std::string> judge(const Journals& journals, const std::set<std::string>& spared = {});

}  // namespace muster::test
