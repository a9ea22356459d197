#include "apps/draw/words.hpp"

#include "apps/base/text.hpp"

#include <muster/values/text.hpp>

namespace muster::apps::drawing {
namespace {

constexpr std::size_t longest_value = 160;

std::string node_words(NodeId node) {
  return "node " + to_text(node);
}

struct EventWords {
  std::string operator()(const Recovered&) const { return "recovers"; }
  std::string operator()(const Received& event) const {
    return "receives " + message_words(event.letter) + " from " + node_words(event.letter.from);
  }
  std::string operator()(const Unanswered& event) const {
    return "gets no answer from " + node_words(event.by);
  }
  std::string operator()(const Failed& event) const {
    return "is told that life " + to_text(event.life) + " of " + node_words(event.node) +
           " is over";
  }
  std::string operator()(const Expired& event) const {
    return "timer " + to_text(event.timer) + " expires";
  }
  std::string operator()(const Paused& event) const {
    return "was paused for " + time_words(event.gap);
  }
  std::string operator()(const Stopped&) const { return "has stopped"; }
  std::string operator()(const Reorganized&) const { return "has reorganized"; }
  std::string operator()(const Started&) const { return "has started"; }
  std::string operator()(const HookFailed& event) const {
    return to_text(event.hook) + " failed: " + shortened(event.why, longest_value);
  }
  std::string operator()(const Leaving&) const { return "is asked to leave"; }
  std::string operator()(const ElectionAsked& event) const {
    return "is asked for an election: " + shortened(event.why, longest_value);
  }
  template <class Other>
  std::string operator()(const Other& event) const {
    return shortened(to_text(event), longest_value);
  }
};

struct ActionWords {
  std::string operator()(const Save&) const { return "Save"; }
  std::string operator()(const Send& action) const {
    return "Send " + message_words(action.letter) + " to " + to_text(action.letter.to);
  }
  std::string operator()(const Arm& action) const { return "Arm " + to_text(action.timer); }
  std::string operator()(const Disarm& action) const { return "Disarm " + to_text(action.timer); }
  std::string operator()(const Stop& action) const {
    return "Stop (" + to_text(action.cause.reason) + ")";
  }
  std::string operator()(const Reorganize& action) const {
    return "Reorganize " + to_text(action.group);
  }
  std::string operator()(const Start& action) const { return "Start " + to_text(action.group); }
  std::string operator()(const Leave& action) const {
    return "Leave (" + to_text(action.cause) + ")";
  }
  template <class Other>
  std::string operator()(const Other& action) const {
    return shortened(to_text(action), longest_value);
  }
};

struct LineWords {
  std::string operator()(const journal::Header& line) const {
    return (line.state ? "goes on in life " : "begins life ") + to_text(line.incarnation);
  }
  std::string operator()(const journal::Step& line) const {
    std::string text = std::visit(EventWords{}, line.event);
    const char* between = ": ";
    for (const Action& action : line.actions) {
      text += between + std::visit(ActionWords{}, action);
      between = ", ";
    }
    return text;
  }
  std::string operator()(const journal::Performed&) const { return "its Save is durable"; }
  std::string operator()(const journal::HookEdge& line) const {
    std::string edge = " fails";
    if (line.edge == journal::Edge::begin) edge = " begins";
    if (line.edge == journal::Edge::end) edge = " ends";
    return to_text(line.hook) + edge + (line.group ? ", group " + to_text(*line.group) : "");
  }
  std::string operator()(const journal::Permits& line) const {
    return "permits of group " + to_text(line.group) + " are " + to_text(line.edge);
  }
  std::string operator()(const journal::Gap& line) const {
    return "its journal lacks " + counted(line.lines, "line");
  }
  std::string operator()(const journal::Ended& line) const {
    return "ends its life, exit code " + std::to_string(line.code) + ": " +
           shortened(line.why, longest_value);
  }
  std::string operator()(const journal::Fault& line) const { return fault_words(line); }
  std::string operator()(const journal::Remark& line) const {
    return remark_words(line, longest_value);
  }
  std::string operator()(const journal::Finding& line) const {
    return "a check finds: " + shortened(line.broken, longest_value);
  }
};

}  // namespace

std::string_view message_name(const Letter& letter) {
  return alternative_name(letter.message);
}

std::string message_words(const Letter& letter) {
  std::string text(message_name(letter));
  if (const auto* question = std::get_if<in_group::AreYouThere>(&letter.message))
    return text + " in " + to_text(question->group);
  const auto* answer = std::get_if<Answer>(&letter.message);
  if (!answer) return text;
  if (const auto* elsewhere = std::get_if<Elsewhere>(&answer->result))
    return text + ": No, in " +
           (elsewhere->group ? "group " + to_text(*elsewhere->group) : "no group");
  return text.append(": ").append(alternative_name(answer->result));
}

std::string words(const Moment& moment) {
  const std::string what = std::visit(LineWords{}, moment.line);
  return moment.node ? node_words(*moment.node) + ": " + what : what;
}

std::string short_words(const Event& event) {
  if (const auto* expired = std::get_if<Expired>(&event)) return to_text(expired->timer);
  if (const auto* unanswered = std::get_if<Unanswered>(&event))
    return "no answer of " + to_text(unanswered->by);
  if (const auto* failed = std::get_if<Failed>(&event)) return to_text(failed->node) + " failed";
  if (const auto* paused = std::get_if<Paused>(&event)) return "paused " + time_words(paused->gap);
  if (const auto* failed = std::get_if<HookFailed>(&event))
    return to_text(failed->hook) + " failed";
  if (std::holds_alternative<Leaving>(event)) return "leaving";
  if (std::holds_alternative<ElectionAsked>(event)) return "election asked for";
  return {};
}

std::string fault_words(const journal::Fault& fault) {
  std::string text(fault.kind == journal::FaultKind::power_cut ? "power cut"
                                                               : enumerator_name(fault.kind));
  if (fault.from && fault.node)
    text += ' ' + to_text(*fault.node) + " | " + format_nodes(*fault.from);
  return text;
}

std::string remark_words(const journal::Remark& remark, std::size_t most) {
  return (remark.kind == journal::RemarkKind::broken ? "broken: " : "") +
         shortened(remark.text, most);
}

std::string view_words(const View& view) {
  std::string text = to_text(view.status);
  if (view.coordinator) text += " c=" + to_text(*view.coordinator);
  if (view.group) text += " g=" + to_text(*view.group);
  return text;
}

std::string time_words(Duration t) {
  const auto ns = t.count();
  if (ns < 0) return "-" + time_words(-t);
  if (ns < 1000) return std::to_string(ns) + " ns";
  const bool seconds = ns >= 1'000'000'000;
  const bool micro = ns < 1'000'000;
  // Six digits for seconds, since steps are microseconds apart.
  const std::size_t digits = seconds ? 6 : 3;
  const auto smallest = ns / (micro ? 1 : 1000);
  const auto unit = seconds ? 1'000'000 : 1000;
  std::string decimals = std::to_string(smallest % unit);
  decimals.insert(0, digits - decimals.size(), '0');
  const std::string text = std::to_string(smallest / unit) + '.' + decimals;
  if (seconds) return text + " s";
  return text + (micro ? " us" : " ms");
}

std::string shortened(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
  text.resize(most);
  return text + "...";
}

}  // namespace muster::apps::drawing
