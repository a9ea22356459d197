#include <muster/journal/halted_in_turn.hpp>
#include <muster/protocol/timings.hpp>
#include <muster/values/text.hpp>

#include <algorithm>
#include <iterator>

namespace muster {

namespace {

constexpr std::ptrdiff_t most_turns = 3;

bool obeys_halt(const Event& event, const View& after) {
  const auto* received = std::get_if<Received>(&event);
  return received && std::holds_alternative<Halt>(received->letter.message) &&
         after.halted_by == received->letter.from && after.status == Status::Election;
}

}  // namespace

HaltedInTurn::HaltedInTurn(const Timings& timings) : window_(10 * longest_left_behind(timings)) {}

void HaltedInTurn::take(Duration t, const Event& event, const View& after) {
  if (!obeys_halt(event, after)) return;
  const NodeId by = *after.halted_by;
  if (last_ && last_ != by) turns_.push_back({t, *last_, by});
  last_ = by;
  while (!turns_.empty() && turns_.front().at + window_ < t) turns_.pop_front();
}

NodeSet HaltedInTurn::by(Duration now) const {
  if (turns_.empty()) return {};
  const NodeSet last{turns_.back().before, turns_.back().by};
  const auto turns = std::count_if(turns_.begin(), turns_.end(), [&](const Turn& turn) {
    return now <= turn.at + window_ && NodeSet{turn.before, turn.by} == last;
  });
  return turns > most_turns ? last : NodeSet{};
}

std::string halted_in_turn_words(NodeId node, const NodeSet& by) {
  return "nodes " + to_text(*by.begin()) + " and " + to_text(*std::next(by.begin())) +
         " halt node " + to_text(node) +
         " in turn: neither hears the other, or one of them starts again and again; look at the "
         "link between them and at their logs";
}

}  // namespace muster
