#pragma once

#include "apps/draw/chart.hpp"

#include <string>
#include <string_view>

/// The content of journals in words. Names of messages, timers and so on are those of the journal.

namespace muster::apps::drawing {

/// The message's name: "Halt", "Answer".
std::string_view message_name(const Letter& letter);

/// The message's name, and for an answer also its result: "Halt", "Answer: Halted".
std::string message_words(const Letter& letter);

/// Describes a step in one line: the event, the node, and the node's actions.
std::string words(const Moment& moment);

/// An event in two words; empty for letters and the ends of hooks.
std::string short_words(const Event& event);

/// "killed", "cut 3 | 1 2".
std::string fault_words(const journal::Fault& fault);

/// The text of a remark: "invoice 1-1"; "broken: invoice 1-1 twice". At most `most` bytes of the
/// text.
std::string remark_words(const journal::Remark& remark, std::size_t most);

/// "Normal c=5 g=(3,5)".
std::string view_words(const View& view);

/// Writes a time: "1.250004 s", or "3.217 ms" for less than a second.
std::string time_words(Duration t);

/// At most `most` bytes of a text, without cutting a character. Ends in "..." if the text is
/// longer.
std::string shortened(std::string text, std::size_t most);

}  // namespace muster::apps::drawing
