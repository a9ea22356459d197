#pragma once

#include <muster/journal/line.hpp>
#include <muster/values/failure.hpp>

#include <cstdint>
#include <string>
#include <string_view>

/// The journal: what happened, one JSON object a line, the same for live nodes, simulator and
/// checker. It is written here, and read by `muster verify`, `replay` and `draw` (docs/journal.md
/// has the format).
///
/// A writer writes whole lines, each with one write(2), in the order in which things happened, and
/// stamps them with a clock that never goes back.

namespace MUSTER_EXPORT muster {
namespace journal {

/// `members` is what a `reorganize` that begins is given; null for all else.
HookEdge hook_edge(const Stamp& stamp, Hook hook, Edge edge,
                   const std::optional<GroupNumber>& group, Ticket ticket, const Members* members);

// --- Writing: each appends one line, with its '\n'

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

/// Any of them, as it was parsed.
void append_line(std::string& out, const Line& line);

// --- Reading

/// One line without its '\n'. Keys that are not known here are passed over where a line begins, and
/// refused inside events, actions and states, of which every field counts. The failure says what is
/// wrong with the line, not where it stands.
Expected<Line> parse_line(std::string_view text);

}  // namespace journal
}  // namespace muster
