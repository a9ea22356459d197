#pragma once

#include <muster/journal/line.hpp>
#include <muster/values/failure.hpp>

#include <cstdint>
#include <string>
#include <string_view>

/// The journal: a record of events, with one JSON object a line. Live nodes, the simulator and the
/// checker write it here. `muster verify`, `replay` and `draw` read it. docs/reference/journal.md
/// describes the format.
///
/// A writer writes whole lines, each with one write(2), in the order of the events. The clock of
/// their stamps never goes back.

namespace MUSTER_EXPORT muster {
namespace journal {

/// Makes a line of a hook. `members` are the members of a `reorganize` that begins; null for any
/// other edge of a hook.
HookEdge hook_edge(const Stamp& stamp, Hook hook, Edge edge,
                   const std::optional<GroupNumber>& group, Ticket ticket, const Members* members);

// --- Writing: each function appends one line, with its '\n'

void header_line(std::string& out, const Header& header);
void step_line(std::string& out, const Stamp& stamp, const Event& event, const Actions& actions,
               const View& view, Moment at = {});
void performed_line(std::string& out, const Stamp& stamp);
void hook_line(std::string& out, const Stamp& stamp, Hook hook, Edge edge,
               const std::optional<GroupNumber>& group, Ticket ticket,
               const Members* members = nullptr);
void permits_line(std::string& out, const Stamp& stamp, PermitsEdge edge, const GroupNumber& group);
void gap_line(std::string& out, const Stamp& stamp, std::uint64_t lines, const Protocol& state);
void ended_line(std::string& out, const Stamp& stamp, int code, std::string_view why);
void fault_line(std::string& out, const Fault& fault);
void remark_line(std::string& out, const Stamp& stamp, RemarkKind kind, std::string_view text);
void finding_line(std::string& out, const Finding& finding);

/// Appends any line, as it was parsed.
void append_line(std::string& out, const Line& line);

// --- Reading

/// Parses one line without its '\n'. Unknown keys of the line itself are ignored. Inside events,
/// actions and states an unknown key is an error, because each of their fields matters. A failure
/// describes the error, but does not name the position of the line.
Expected<Line> parse_line(std::string_view text);

}  // namespace journal
}  // namespace muster
