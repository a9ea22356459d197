#pragma once

#include <muster/lines.hpp>

#include <ostream>
#include <string>

/// What `muster check` says about the lines that can be taken out, and about what it claims where.

namespace muster::apps {

/// One sentence: what the line says, or what happens without it.
const char* meaning(Line line);

/// As on the command line, with '-'.
std::string name_of(Line line);

void show_lines(std::ostream& out);

/// The assumption ledger: each assertion with the worlds in which it is claimed.
void show_assumptions(std::ostream& out);

}  // namespace muster::apps
