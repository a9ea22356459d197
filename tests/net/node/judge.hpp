#pragma once

#include "journals.hpp"

#include <set>
#include <string>
#include <vector>

/// What is wrong with the journals of a test.

namespace muster::test {

/// Runs `step` again on each recorded event of one node and compares; each difference in a
/// sentence.
std::vector<std::string> replay(const std::vector<journal::Line>& lines, bool wiped = false);

/// Replays every journal and checks all assertions and the hook grammar over all of them together.
/// Each fault that is found, in a sentence. `spared` names assertions that the test breaks on
/// purpose.
std::vector<std::string> judge(const Journals& journals, const std::set<std::string>& spared = {});

}  // namespace muster::test
