#pragma once

#include <muster/lab/checker.hpp>
#include <muster/protocol/lines.hpp>
#include <muster/values/failure.hpp>

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

/// Why the assertion is not claimed in that world; none where it is. Of lines that are struck and
/// switches that are off only those count that the ledger names.
std::optional<std::string> not_claimed(const std::string& assertion, const lab::Bounds& world);

/// Whether the protocol of that world claims it anywhere: then `muster verify` judges it unasked.
bool is_claimed_by_protocol(const std::string& assertion, const lab::Bounds& world);

/// How far what was said of the assertions goes: in all worlds, or up to what was cut.
std::string how_far(const lab::CheckReport& report, const lab::Bounds& world);

/// A usage error: that sentence, and where to look.
Failure misread(const std::string& what);

/// What is wrong with the value of a limit, for CLI11; empty: nothing.
std::string is_count(const std::string& text);
std::string begins_with_digit(std::string& text);

}  // namespace muster::apps
