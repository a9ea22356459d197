#include <muster/journal/halted_in_turn.hpp>
#include <muster/protocol/timings.hpp>
#include <muster/values/text.hpp>

#include <algorithm>
#include <iterator>

namespace muster {

namespace {

constexpr std::ptrdiff_t most_turns = 3;
constexpr std::size_t most_kept = 64;  // a bound on memory, for a node that sends Halts without end

// The letter with the Halt that the node obeyed in this step.
const Letter* obeyed_halt(const Event& event, const View& after) {
  const auto* received = std::get_if<Received>(&event);
  const bool obeyed = received && std::holds_alternative<Halt>(received->letter.message) &&
                      after.halted_by == received->letter.from && after.status == Status::Election;
  return obeyed ? &received->letter : nullptr;
}

}  // namespace

HaltedInTurn::HaltedInTurn(const Timings& timings) : window_(10 * longest_left_behind(timings)) {}

void HaltedInTurn::take(Duration t, const Event& event, const View& after) {
  const Letter* halt = obeyed_halt(event, after);
  if (halt == nullptr) return;
  const Coordinator by{halt->from, halt->incarnation};
  if (last_ && last_ != by) turns_.push_back({t, *last_, by});
  last_ = by;
  while (turns_.size() > most_kept || (!turns_.empty() && turns_.front().at + window_ < t))
    turns_.pop_front();
}

NodeSet HaltedInTurn::by(Duration now) const {
  if (turns_.empty()) return {};
  const auto& [at, before, by] = turns_.back();
  const auto turns = std::count_if(turns_.begin(), turns_.end(), [&](const OneHalt& turn) {
    return now <= turn.at + window_ && turn.is_between(before, by);
  });
  return turns > most_turns ? NodeSet{before.node, by.node} : NodeSet{};
}

std::string halted_in_turn_words(NodeId node, const NodeSet& by) {
  return "nodes " + to_text(*by.begin()) + " and " + to_text(*std::next(by.begin())) +
         " halt node " + to_text(node) +
         " in turn: neither hears the other; look at the link between them and at their logs";
}

}  // namespace muster
