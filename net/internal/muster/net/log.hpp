#pragma once

#include <muster/journal/news.hpp>

#include <string>
#include <string_view>

/// The log of a node, for people.

namespace MUSTER_EXPORT muster {
namespace net {

/// One line of the log, with the present time and its '\n', at most as long as `say` permits. As
/// text: "2026-11-21T22:05:12.345Z warning muster: node 3 ...". As JSON: an object with `time`,
/// `level`, `node` and `text`.
std::string log_line(LogFormat format, LogLevel level, NodeId node, std::string_view text);

/// The priority that systemd's journal reads at the beginning of a line, such as "<4>". Empty if
/// standard error is not connected to that journal (JOURNAL_STREAM).
std::string_view journal_priority(LogLevel level);

/// Writes a line of the log, after its priority, to standard error.
void say_in_log(LogFormat format, LogLevel level, NodeId node, std::string_view text);

}  // namespace net
}  // namespace muster
