#pragma once

#include <muster/lab/checker.hpp>
#include <muster/protocol/lines.hpp>
#include <muster/values/failure.hpp>

#include <optional>
#include <ostream>
#include <string>
#include <string_view>

/// The texts of `muster check` about the lines that can be struck, and about its claims.

namespace muster::apps {

/// One sentence that says what the line does, or what happens without it.
const char* meaning(Line line);

/// One sentence about the switch of that name. Null if the protocol has no such switch.
const char* meaning(ProtocolName protocol, std::string_view repair);

/// Prints all names that --strike knows, as text or as one JSON object a line.
void show_lines(std::ostream& out, bool json);

/// Prints each assertion with the worlds in which it is claimed, as text or as JSON.
void show_assumptions(std::ostream& out, bool json);

/// Why the assertion is not claimed in that world, if it is not. Struck lines and switches that are
/// off count only if the list of claims names them.
std::optional<std::string> not_claimed(const std::string& assertion, const lab::Bounds& world);

/// Whether the world's protocol claims the assertion in any world. If so, `muster verify` checks it
/// without being asked.
bool is_claimed_by_protocol(const std::string& assertion, const lab::Bounds& world);

/// How far the search went: all worlds, or up to a limit.
std::string how_far(const lab::CheckReport& report, const lab::Bounds& world);

/// A usage error with that sentence, which refers to --help.
Failure misread(const std::string& what);

/// Validators for CLI11: what is wrong with the value of a limit; empty if nothing is.
std::string is_count(const std::string& text);
std::string begins_with_digit(std::string& text);

}  // namespace muster::apps
