#include "names.hpp"

#include <muster/claims/verify.hpp>

#include <algorithm>
#include <array>

/// What could not be looked at, because journals are missing or nothing happened that shows it.

namespace muster::verify {

namespace {

/// These compare several nodes, or ask for all of them.
constexpr std::array of_several = {"1a", "1b", "2", "3a", "3b", "4", "works-apart", "left-behind"};

bool compares_nodes(std::string_view assertion) {
  return std::find(of_several.begin(), of_several.end(), assertion) != of_several.end();
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

bool Verifier::is_in_unknown_life(NodeId id) const {
  return !nodes_.at(id).counts && foresight_.end_early.contains(id);
}

void Verifier::tell_of_early_end(NodeId id, Duration from) {
  for (const std::string& assertion : claims_.assertions)
    if (compares_nodes(assertion))
      tell_({assertion,
             from,
             now_,
             "the journal of node " + to_text(id) + " ends too early: later letters of it arrived",
             {},
             "a journal ends too early",
             true});
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
  return NotClaimed{
      assertion, began_, now_,
      bound ? "no calm lasted the bound of " + to_text(*bound) : "nothing to check it by", bound};
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
  return {};
}

}  // namespace muster::verify
