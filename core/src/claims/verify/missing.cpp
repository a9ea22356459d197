#include "names.hpp"

#include <muster/claims/verify.hpp>

#include <algorithm>
#include <array>

/// The claims that could not be judged, because journals are missing or because no event is
/// evidence for them.

namespace muster::verify {

namespace {

/// Assertions that compare several nodes, or need all nodes.
constexpr std::array of_several = {"1a", "1b", "2", "3a", "3b", "4", "works-apart", "left-behind"};

bool compares_nodes(std::string_view assertion) {
  return std::find(of_several.begin(), of_several.end(), assertion) != of_several.end();
}

std::string why_missing(NodeId id) {
  return "a life of node " + to_text(id) +
         " is not in the journal of that node, but letters of that life arrived";
}

}  // namespace

NodeSet Verifier::without_journal() const {
  NodeSet unknown = configured_;
  for (NodeId node : foresight_.nodes) unknown.erase(node);
  return unknown;
}

bool Verifier::is_alone() const {
  return foresight_.nodes.size() < 2 && !without_journal().empty();
}

void Verifier::tell_of_missing_journals() {
  const NodeSet unknown = without_journal();
  if (unknown.empty()) return;
  for (const std::string& assertion : claims_.assertions)
    if (compares_nodes(assertion))
      tell_({assertion,
             began_,
             now_,
             "there is no journal of " + names(unknown),
             {},
             "journals are missing",
             !is_alone()});
}

const Foresight::Unknown* Verifier::unknown_life(NodeId id) const {
  const auto node = nodes_.find(id);
  const auto spans = foresight_.unknown.find(id);
  if (spans == foresight_.unknown.end() || (node != nodes_.end() && node->second.counts))
    return nullptr;
  for (const Foresight::Unknown& span : spans->second)
    if (span.from <= now_ && now_ < span.until) return &span;
  return nullptr;
}

bool Verifier::is_unknown(NodeId id) const {
  const auto node = nodes_.find(id);
  return unknown_life(id) ||
         (node != nodes_.end() && node->second.counts && node->second.gap_since);
}

std::string Verifier::why_unknown(NodeId id) const {
  const auto node = nodes_.find(id);
  const bool is_gap = node != nodes_.end() && node->second.gap_since;
  const Foresight::Unknown* const life = unknown_life(id);
  if ((is_gap && node->second.gap_to_the_end) || (life && life->until == Duration::max()))
    return "the journal of node " + to_text(id) + " ends too early: later letters of it arrived";
  if (life)
    return "a life of node " + to_text(id) +
           " is not in the journal of that node, but letters of that life arrived";
  return "lines are missing in the journal of node " + to_text(id);
}

// A life of this node begins now. Its number shows that the node had earlier lives that have no
// journal.
void Verifier::tell_of_missing_lives(NodeId id) {
  const auto spans = foresight_.unknown.find(id);
  if (spans == foresight_.unknown.end()) return;
  for (const Foresight::Unknown& span : spans->second)
    if (span.until == now_) tell_of_unknown(span.from, now_, why_missing(id));
}

void Verifier::tell_of_unknown(Duration from, Duration to, const std::string& why) {
  for (const std::string& assertion : claims_.assertions)
    if (compares_nodes(assertion))
      tell_({assertion, from, to, why, {}, "a journal is incomplete", true});
}

Verdict Verifier::verdict_on(const std::string& assertion) {
  const Judged& judged = judged_[assertion];
  const auto bound = assertion == "2" || assertion == "4" ? bound_ : std::nullopt;
  if (judged.first) {
    Violated violated = *judged.first;
    violated.checked = judged.checked;
    violated.violations = judged.violations;
    violated.bound = bound;
    return violated;
  }
  const bool is_unknown = is_alone() || (judged.checked == 0 && !without_journal().empty());
  if (is_unknown && compares_nodes(assertion))
    return NotClaimed{assertion, began_, now_, "there is no journal of " + names(without_journal()),
                      bound};
  if (judged.checked > 0) return Holds{assertion, judged.checked, bound};
  std::string why = "the journals contain no event by which it can be checked";
  if (bound)
    why = calm_not_judged_.empty()
              ? "no time without faults was as long as the bound of " + to_text(*bound)
              : calm_not_judged_;
  return NotClaimed{assertion, began_, now_, why, bound};
}

std::string Verifier::undecided(const std::vector<Verdict>& verdicts) const {
  const auto is_open = [](const Verdict& verdict) {
    return std::holds_alternative<NotClaimed>(verdict);
  };
  if (std::all_of(verdicts.begin(), verdicts.end(), is_open))
    return "there is nothing in these journals to check: give the journals of nodes";
  if (is_alone())
    return "nodes cannot be compared: there is no journal of " + names(without_journal());
  for (const Verdict& verdict : verdicts) {
    const auto* open = std::get_if<NotClaimed>(&verdict);
    if (open && is_asked_for(open->assertion))
      return open->assertion + " was asked for and could not be checked: " + open->why;
  }
  // A node that no other node heard may never have run. Then it has no journal.
  NodeSet unread;
  for (NodeId node : without_journal())
    if (foresight_.heard.contains(node) || coordinators_.contains(node)) unread.insert(node);
  if (!unread.empty())
    return "not all nodes were checked: there is no journal of " + names(unread) +
           ", which others heard";
  return {};
}

}  // namespace muster::verify
