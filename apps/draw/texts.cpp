#include "apps/draw/texts.hpp"

#include "apps/draw/words.hpp"

#include <muster/values/text.hpp>

#include <algorithm>

namespace muster::apps::drawing {
namespace {

constexpr std::size_t longest_note = 160;

using Clock = std::map<NodeId, std::uint64_t>;

std::string name(NodeId node) {
  return "node" + std::to_string(node.value);
}

/// Replaces characters with a meaning in Mermaid: a semicolon ends a statement, a hash begins an
/// entity.
std::string mermaid_text(std::string text) {
  std::replace(text.begin(), text.end(), ';', ',');
  std::replace(text.begin(), text.end(), '#', ' ');
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

void append_letter(std::string& out, const Arrow& arrow) {
  const bool answer = is_answer(arrow.letter);
  const std::string line = answer ? "--" : "-";
  const std::string end = arrow.received ? ">>" : "x";
  out += "  " + name(arrow.letter.from) + line + end + name(arrow.letter.to) + ": " +
         mermaid_text(message_words(arrow.letter)) + '\n';
}

void append_note(std::string& out, NodeId node, const std::string& text) {
  out += "  Note over " + name(node) + ": " + mermaid_text(text) + '\n';
}

/// The letters by the moment at which they are listed: their arrival, or their sending if they did
/// not arrive.
std::multimap<Index, const Arrow*> letters_by_moment(const Chart& chart) {
  std::multimap<Index, const Arrow*> letters;
  for (const Arrow& arrow : chart.arrows) {
    const auto& edge = arrow.received ? arrow.received : arrow.sent;
    if (edge->at) letters.emplace(*edge->at, &arrow);
  }
  return letters;
}

void append_clock(std::string& out, const Clock& clock) {
  out += '{';
  for (const auto& [node, count] : clock) {
    if (out.back() != '{') out += ", ";
    out += '"' + name(node) + "\":" + std::to_string(count);
  }
  out += '}';
}

}  // namespace

std::string mermaid(const Chart& chart) {
  std::string out = "sequenceDiagram\n";
  for (NodeId node : chart.nodes)
    out += "  participant " + name(node) + " as node " + std::to_string(node.value) + '\n';
  const auto letters = letters_by_moment(chart);
  std::multimap<Index, const Phase*> phases;
  for (const Phase& phase : chart.phases)
    if (phase.from.at) phases.emplace(*phase.from.at, &phase);
  for (Index i = 0; i < chart.moments.size(); ++i) {
    const Moment& moment = chart.moments[i];
    const auto [first, last] = letters.equal_range(i);
    for (auto letter = first; letter != last; ++letter) append_letter(out, *letter->second);
    const auto [from, to] = phases.equal_range(i);
    for (auto phase = from; phase != to; ++phase)
      append_note(out, phase->second->node, view_words(phase->second->view));
    const auto* fault = std::get_if<journal::Fault>(&moment.line);
    if (fault && !chart.nodes.empty()) {
      const NodeId node = moment.node.value_or(chart.nodes.front());
      append_note(out, node, fault_words(*fault));
    }
    if (const auto* remark = std::get_if<journal::Remark>(&moment.line))
      append_note(out, *moment.node, remark_words(*remark, longest_note));
    for (const Violation& violation : chart.violations)
      if (violation.at == i)
        for (NodeId node : violation.verdict.disagreement.nodes)
          append_note(out, node, violation.verdict.assertion + " is violated");
  }
  return out;
}

std::string shiviz(const Chart& chart) {
  std::string out = "(?<host>\\S*) (?<clock>{.*})\\n(?<event>.*)\n\n";
  std::map<NodeId, Clock> clocks;
  std::map<Index, Clock> sent;  // the clocks of moments at which letters were sent
  std::multimap<Index, const Arrow*> arrivals;
  for (const Arrow& arrow : chart.arrows) {
    if (arrow.sent && arrow.sent->at) sent[*arrow.sent->at];
    if (arrow.received && arrow.received->at) arrivals.emplace(*arrow.received->at, &arrow);
  }
  for (Index i = 0; i < chart.moments.size(); ++i) {
    const Moment& moment = chart.moments[i];
    if (!moment.node) continue;
    Clock& clock = clocks[*moment.node];
    const auto [first, last] = arrivals.equal_range(i);
    for (auto arrival = first; arrival != last; ++arrival) {
      const auto& edge = arrival->second->sent;
      if (!edge || !edge->at) continue;
      for (const auto& [node, count] : sent.at(*edge->at))
        clock[node] = std::max(clock[node], count);
    }
    ++clock[*moment.node];
    if (const auto leaves = sent.find(i); leaves != sent.end()) leaves->second = clock;
    out += name(*moment.node) + ' ';
    append_clock(out, clock);
    std::string text = words(moment);
    std::replace(text.begin(), text.end(), '\n', ' ');
    out += '\n' + text + '\n';
  }
  return out;
}

}  // namespace muster::apps::drawing
