#pragma once

#include "apps/draw/chart.hpp"

#include <string>
#include <string_view>

/// What stands in journals, in words. Names of messages, timers and the like are those of the
/// journal.

namespace muster::apps::drawing {

/// "Halt", "Answer".
std::string_view message_name(const Letter& letter);

/// "Halt"; "Answer: Halted" for an answer.
std::string message_words(const Letter& letter);

/// One line: what happened, to whom, and what is done about it.
std::string words(const Moment& moment);

/// What happened to a node besides letters and the ends of hooks, in two words; empty for these.
std::string short_words(const Event& event);

/// "killed", "cut 3 | 1 2".
std::string fault_words(const journal::Fault& fault);

/// "invoice 1-1"; "broken: invoice 1-1 twice". At most so many bytes of the text.
std::string remark_words(const journal::Remark& remark, std::size_t most);

/// "Normal c=5 g=(3,5)".
std::string view_words(const View& view);

/// "1.250004 s"; "3.217 ms" where there is less than a second.
std::string time_words(Duration t);

/// At most so many bytes of a text, whole characters; "..." where something was left out.
std::string shortened(std::string text, std::size_t most);

}  // namespace muster::apps::drawing
