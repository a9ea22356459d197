#pragma once

#include <muster/protocol/cluster_text.hpp>
#include <muster/values/types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Durations, sizes and other values in the form in which people write them.

namespace muster::apps {

/// A whole number and its unit: "50us", "100ms", "2s", "5min". None for any other text, or if the
/// value does not fit.
std::optional<Duration> parse_duration(std::string_view text);

/// A whole number of bytes: "64MB", "16KiB", "512B". None for any other text, or if the value does
/// not fit.
std::optional<std::uint64_t> parse_size(std::string_view text);

/// A size with the largest unit that divides it.
std::string format_size(std::uint64_t bytes);

/// A whole number in decimal digits without leading zeros. None for any other text.
std::optional<std::uint64_t> parse_number(std::string_view text);

/// Milliseconds with one digit after the point: "4.2".
std::string format_ms(Duration duration);

/// Seconds with three digits after the point: "1.250".
std::string format_seconds(Duration duration);

/// "1 2 3".
std::string format_nodes(const NodeSet& nodes);

/// "1 line", "3 lines". Set `many` if the plural is not `one` with an s.
std::string counted(std::uint64_t count, std::string_view one, std::string_view many = {});

/// True for a valid name of a cluster: 1 to 64 letters, digits, '.', '_' and '-'.
bool is_cluster_name(std::string_view text);

/// One word of a shell command, in quotes if it needs them: docs/a.jsonl, 'my file'.
std::string shell_word(const std::string& text);

/// The time of CLOCK_MONOTONIC in nanoseconds. Every journal uses this clock.
std::int64_t monotonic_ns();

}  // namespace muster::apps
