#pragma once

#include <muster/protocol/cluster_text.hpp>
#include <muster/values/types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Durations and sizes as people write them.

namespace muster::apps {

/// "50us", "100ms", "2s", "5min": a whole number and its unit; none where it is anything else, or
/// more than fits.
std::optional<Duration> parse_duration(std::string_view text);

/// "64MB", "16KiB", "512B": a whole number of bytes; none where it is anything else, or more than
/// fits.
std::optional<std::uint64_t> parse_size(std::string_view text);

/// The same, with the largest unit that divides it.
std::string format_size(std::uint64_t bytes);

/// A whole number in decimal digits without leading zeros; none where it is anything else.
std::optional<std::uint64_t> parse_number(std::string_view text);

/// Milliseconds with one digit after the point: "4.2".
std::string format_ms(Duration duration);

/// Seconds with three digits after the point: "1.250".
std::string format_seconds(Duration duration);

/// "1 2 3".
std::string format_nodes(const NodeSet& nodes);

/// "1 line", "3 lines"; `many` where the plural is not `one` with an s.
std::string counted(std::uint64_t count, std::string_view one, std::string_view many = {});

/// What a cluster may be called: 1 to 64 letters, digits, '.', '_', '-'.
bool is_cluster_name(std::string_view text);

/// One word of a command for a shell, in quotes where it needs them: docs/a.jsonl, 'my file'.
std::string shell_word(const std::string& text);

/// Nanoseconds of CLOCK_MONOTONIC, the clock of every journal.
std::int64_t monotonic_ns();

}  // namespace muster::apps
