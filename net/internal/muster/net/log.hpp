#pragma once

#include <muster/journal/news.hpp>

#include <string>
#include <string_view>

/// The log of a node, for people.

namespace MUSTER_EXPORT muster {
namespace net {

/// One line, with the present time and its '\n', never longer than `say` takes. As text
/// "2026-11-21T22:05:12.345Z warning muster: node 3 ..."; as JSON an object with `time`, `level`,
/// `node` and `text`.
std::string log_line(LogFormat format, LogLevel level, NodeId node, std::string_view text);

/// What the journal of systemd reads off the beginning of a line, "<4>"; empty where standard error
/// is not such a journal (JOURNAL_STREAM).
std::string_view journal_priority(LogLevel level);

/// Says that line, with its priority, on standard error.
void say_in_log(LogFormat format, LogLevel level, NodeId node, std::string_view text);

}  // namespace net
}  // namespace muster
