#pragma once

#include <muster/lab/bounds.hpp>
#include <muster/lines.hpp>

#include <optional>
#include <ostream>
#include <string>
#include <string_view>

/// What `muster check` says about the lines that can be taken out, and about what it claims where.

namespace muster::apps {

/// One sentence: what the line says, or what happens without it.
const char* meaning(Line line);

/// One sentence on a switch of that protocol, by its name; null where it has none of that name.
const char* meaning(ProtocolName protocol, std::string_view repair);

/// All that --strike knows, as text or one JSON object a line.
void show_lines(std::ostream& out, bool json);

/// The assumption ledger: each assertion with the worlds in which it is claimed; likewise.
void show_assumptions(std::ostream& out, bool json);

/// Why the assertion is not claimed in that world; none where it is. Lines that are struck and
/// switches that are off do not count, but for those that the ledger names.
std::optional<std::string> not_claimed(const std::string& assertion, const lab::Bounds& world);

/// Whether `muster verify` judges the assertion, unasked, in a journal of that world.
bool is_judged(const std::string& assertion, const lab::Bounds& world);

}  // namespace muster::apps
