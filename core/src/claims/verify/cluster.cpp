#include "names.hpp"

#include <muster/claims/verify.hpp>
#include <muster/values/text.hpp>

#include <algorithm>

/// What happens to nodes from outside, and what is checked of all of them.

namespace muster::verify {

using journal::FaultKind;

namespace {

constexpr std::initializer_list<const char*> of_states = {"1a", "1b", "works-apart"};
constexpr std::initializer_list<const char*> of_states_in_cuts = {"1a", "1b"};
constexpr std::initializer_list<const char*> of_groups = {"3a", "3b"};

bool anybody_is_up(Standings nodes) {
  return std::any_of(nodes.begin(), nodes.end(), [](const Standing& node) { return node.up; });
}

bool everybody_is_up(Standings nodes) {
  return std::all_of(nodes.begin(), nodes.end(), [](const Standing& node) { return node.up; });
}

}  // namespace

Standing& Verifier::standing_of(NodeId id) {
  const auto at =
      std::lower_bound(standings_.begin(), standings_.end(), id,
                       [](const Standing& standing, NodeId node) { return standing.node < node; });
  if (at != standings_.end() && at->node == id) return *at;
  Standing unknown;
  unknown.node = id;
  return *standings_.insert(at, unknown);
}

// --- Lives, pauses, cuts

void Verifier::begin_life(const journal::Header& line) {
  end_life(line.node);
  tell_of_missing_lives(line.node);
  disturbed();
  ++lives_;
  Node& node = nodes_[line.node];
  node.named_before = line.incarnation <= node.highest_life;
  node.highest_life = std::max(node.highest_life, line.incarnation);
  node.life = line.incarnation;
  node.counts = true;
  node.seq.reset();
  node.grammar = line.state ? HookGrammar(*line.state) : HookGrammar();
  node.reported.reset();
  node.accepting.reset();
  node.group.reset();
  node.last_group.reset();
  node.was_saving.reset();
  node.differ = line.state ? common(*line.state).met.differ : NodeSet();
  if (!node.saving.empty()) node.was_saving = node.saving.front();
  node.saving.clear();
  Standing& now = standing_of(line.node);
  now = {line.node, true, Status::Down, {}, {}, {}, {}};
  if (line.state) {
    node.saved = common(*line.state).safe;
    node.group = common(*line.state).g;
    now = standing(line.node, muster::view(line.config, *line.state), node.grammar.works_for());
  } else {
    node.seq = 0;
    letters_.begin(line.node, line.incarnation);
  }
  check_states();
}

void Verifier::end_life(NodeId id) {
  const auto found = nodes_.find(id);
  if (found == nodes_.end() || !found->second.counts) return;
  if (found->second.paused_since) end_pause(id);
  if (found->second.gap_since) end_gap(id);
  found->second.counts = false;
  Standing& now = standing_of(id);
  now.up = false;
  now.works_for.reset();
}

void Verifier::foreseen_pauses() {
  for (; next_pause_ < foresight_.pauses.size(); ++next_pause_) {
    const Foresight::Pause& pause = foresight_.pauses[next_pause_];
    if (pause.from > now_) return;
    begin_pause(pause.node, pause.from);
  }
}

// By assumption 9 a failure: it is down, and what it worked for counts no longer.
void Verifier::begin_pause(NodeId id, Duration from) {
  const auto found = nodes_.find(id);
  if (found == nodes_.end() || !found->second.counts || found->second.paused_since) return;
  was_doubted_ = true;
  found->second.paused_since = from;
  left_behind_.forget(id);
  Standing& now = standing_of(id);
  now.up = false;
  now.works_for.reset();
}

void Verifier::end_pause(NodeId id) {
  Node& node = nodes_.at(id);
  if (!node.paused_since) return;
  not_claimed(of_states, *node.paused_since, "assumption 9: node " + to_text(id) + " paused",
              "assumption 9: pause", true);
  node.paused_since.reset();
  Standing& now = standing_of(id);
  now.up = !node.gap_since;
  now.works_for.reset();
}

// Where it works on in the same group it was in no other meanwhile. Else nothing is claimed of it
// until a line tells what it has become, and of nobody that all is calm.
void Verifier::begin_gap(NodeId id, const Foresight::MissingLines& missing) {
  Node& node = nodes_.at(id);
  letters_.gap(id, node.life);
  Standing& now = standing_of(id);
  const bool works_on =
      missing.works_then && now.status == Status::Normal && now.group == missing.works_then;
  if (works_on || !node.counts || node.gap_since) return;
  check_calm();
  node.gap_since = now_;
  node.gap_to_the_end = missing.to_the_end;
  now.up = false;
  now.works_for.reset();
  check_states();
}

void Verifier::end_gap(NodeId id) {
  Node& node = nodes_.at(id);
  if (node.gap_to_the_end)
    tell_of_unknown(*node.gap_since, now_, why_unknown(id));
  else
    not_claimed(of_states, *node.gap_since, why_unknown(id), "lines are missing", true);
  node.gap_since.reset();
  disturbed();
}

Expected<> Verifier::take(const journal::Fault& line) {
  check_calm();
  disturbed();
  switch (line.kind) {
    case FaultKind::killed:
    case FaultKind::power_cut:
    case FaultKind::ended:
      for_each_named(line.node, &Verifier::end_life);
      break;
    case FaultKind::paused:
      if (line.node) begin_pause(*line.node, now_);
      break;
    case FaultKind::resumed:
      for_each_named(line.node, &Verifier::resumed);
      break;
    case FaultKind::cut:
      cut(line);
      break;
    case FaultKind::healed:
      healed(line);
      break;
    case FaultKind::restored:
      for_each_named(line.node, &Verifier::wiped);
      was_put_back_ = !were_wiped_.empty();
      break;
    case FaultKind::wiped:
      for_each_named(line.node, &Verifier::wiped);
      break;
    case FaultKind::terminated:
    case FaultKind::reset:
      break;
  }
  check_states();
  return {};
}

void Verifier::for_each_named(const std::optional<NodeId>& node, void (Verifier::*what)(NodeId)) {
  if (node) return (this->*what)(*node);
  for (const auto& [id, known] : nodes_) (this->*what)(id);
}

// It is down until it says `Paused`, or to the end of its life, where that comes first.
void Verifier::resumed(NodeId id) {
  auto& told = foresight_.resumed_late[id];
  const bool paused = !told.empty() && told.front();
  if (!told.empty()) told.pop_front();
  if (!paused && nodes_.contains(id)) end_pause(id);
}

void Verifier::wiped(NodeId id) {
  const auto found = nodes_.find(id);
  if (found == nodes_.end()) return;
  found->second.accepted.reset();
  found->second.saved.reset();
  if (were_wiped_.empty()) wiped_since_ = now_;
  were_wiped_.insert(id);
}

void Verifier::cut(const journal::Fault& line) {
  if (!line.node) return;
  was_doubted_ = true;
  if (!cut_since_) {
    cut_since_ = now_;
    were_cut_ = {};
  }
  were_cut_.insert(*line.node);
  for (NodeId other : line.from.value_or(configured_))
    if (other != *line.node) cut_.insert(std::minmax(*line.node, other));
}

void Verifier::healed(const journal::Fault& line) {
  std::erase_if(cut_, [&](const auto& pair) {
    const auto& [i, j] = pair;
    if (!line.node) return true;
    if (i != *line.node && j != *line.node) return false;
    return !line.from || line.from->contains(i == *line.node ? j : i);
  });
}

void Verifier::end_cut() {
  if (!cut_since_) return;
  const std::string why = "assumption 8: " + names(were_cut_) + " cut off";
  not_claimed(claims_.in_cuts ? of_states_in_cuts : of_states, *cut_since_, why,
              "assumption 8: cut");
  not_claimed({"hook-grammar"}, *cut_since_, why, "P4, assumption 8: cut", true);
  cut_since_.reset();
}

// --- Checks

// A node that stands still, or is outvoted, may come back from the other side of a cut, or from an
// old group. One number may be of two groups where the storage of their coordinator was wiped
// between them.
bool Verifier::is_settled() const {
  const auto is_unknown = [](const auto& node) {
    return node.second.paused_since || node.second.gap_since;
  };
  return cut_.empty() && is_one_group(standings_) &&
         (were_wiped_.empty() || !assertion_1b(standings_)) &&
         std::none_of(nodes_.begin(), nodes_.end(), is_unknown);
}

void Verifier::check_states() {
  if (cut_since_ && is_settled()) end_cut();
  const bool all_are_heard = !may_refuse_each_other() || everybody_is_up(standings_);
  if (!were_wiped_.empty() && is_settled() && all_are_heard) end_wipes();
  check_left_behind();
  if (!anybody_is_up(standings_)) return;
  if (claims("3a") || claims("3b")) check_groups();
  const bool are_apart = cut_since_ || may_refuse_each_other();
  const auto looks_at = [&](std::string_view assertion, bool in_cuts = false) {
    return claims(assertion) && (!are_apart || in_cuts || is_asked_for(assertion));
  };
  if (looks_at("works-apart", claims_.in_cuts)) judge("works-apart", works_apart(standings_));
  if (looks_at("1a")) judge("1a", assertion_1a(standings_));
  if (looks_at("1b")) judge("1b", assertion_1b(standings_));
}

// By assumption 4 a node never counts twice to one number. One whose storage was wiped may, while
// somebody who has not heard of its next life is still in a group of the last.
void Verifier::check_groups() {
  std::vector<Standing> known;
  for (const Standing& node : standings_)
    if (!node.group || !were_wiped_.contains(node.group->coordinator)) known.push_back(node);
  judge("3a", assertion_3a(known));
  judge("3b", assertion_3b(known));
}

// One that has a copy of its storage may know of lives of another that has lost its own, which
// knows of later ones of it: until one of them is told so by others too, it is as if they were cut
// off. Who is down meanwhile may come back with what it knows.
bool Verifier::may_refuse_each_other() const {
  return was_put_back_ && were_wiped_.size() > 1;
}

void Verifier::end_wipes() {
  if (were_wiped_.empty()) return;
  const std::string why =
      "assumption 4: safe storage of " + names(were_wiped_) + " was lost, or put back";
  const std::string cause = "assumption 4: lost storage";
  if (may_refuse_each_other())
    not_claimed(claims_.in_cuts ? of_states_in_cuts : of_states, wiped_since_, why, cause);
  if (claims_.of_groups)
    not_claimed(of_groups, wiped_since_,
                "assumption 4: groups of " + names(were_wiped_) +
                    ", whose safe storage was wiped or put back",
                cause, true);
  were_wiped_ = {};
  was_put_back_ = false;
}

// Before each fault, and at the end: what the calm before must have led to.
void Verifier::check_calm() {
  if (!bound_ || now_ - calm_since_ < *bound_ || !anybody_is_up(standings_)) return;
  for (NodeId id : configured_)
    if (is_unknown(id)) {
      calm_not_judged_ = why_unknown(id);
      return;
    }
  if (claims_.of_groups)
    check_4();
  else if (cut_.empty() && !may_refuse_each_other())
    check_2();
}

void Verifier::check_2() {
  if (was_doubted_ && !claims_.heals)
    return tell_(
        {"2", calm_since_, now_,
         "assumptions 8 and 9: a node was cut off or paused before, and this protocol does "
         "not heal what comes of it",
         bound_, "assumptions 8 and 9: cut or pause before"});
  judge_calm("2", assertion_2(standings_, claims_.quorum));
}

void Verifier::check_4() {
  const auto all = parts(configured_, cut_);
  if (!all)
    return tell_({"4", calm_since_, now_,
                  "which nodes can communicate with each other is not the same for all of them",
                  bound_, "links that make no parts"});
  for (const NodeSet& together : *all) judge_calm("4", assertion_4(standings_, together));
}

void Verifier::judge_calm(const char* assertion, std::optional<Disagreement> disagreement) {
  // What disagrees may be under a node that is unknown.
  if (disagreement && !without_journal().empty()) return;
  judge(assertion, std::move(disagreement));
}

bool Verifier::is_asked_for(std::string_view assertion) const {
  return std::find(asked_.begin(), asked_.end(), assertion) != asked_.end();
}

bool Verifier::claims(std::string_view assertion) const {
  const auto at = judged_.find(assertion);
  return at != judged_.end() && at->second.claimed;
}

void Verifier::judge(const char* assertion, std::optional<Disagreement> disagreement) {
  const auto at = judged_.find(std::string_view(assertion));
  if (at == judged_.end() || !at->second.claimed) return;
  Judged& judged = at->second;
  ++judged.checked;
  const bool begins = disagreement && !judged.violated_now;
  judged.violated_now = disagreement.has_value();
  if (!begins) return;
  ++judged.violations;
  if (judged.first && !tell_violated_) return;
  const Violated violated{
      assertion, judged.checked, judged.violations, now_, *std::move(disagreement), place_, {}};
  if (tell_violated_) tell_violated_(violated);
  if (!judged.first) judged.first = violated;
}

void Verifier::judge_grammar(NodeId id, std::optional<std::string> wrong) {
  if (!wrong) return judge("hook-grammar", std::nullopt);
  judged_["hook-grammar"].violated_now =
      false;  // each line that is wrong is a violation of its own
  judge("hook-grammar", Disagreement{{id}, "node " + to_text(id) + ": " + *wrong});
}

// What is asked for is judged for that time too, but not of nodes that are down or unknown then.
void Verifier::not_claimed(std::initializer_list<const char*> which, Duration from,
                           const std::string& why, const std::string& cause, bool of_some) {
  for (const char* assertion : which)
    if (claims(assertion) && (of_some || !is_asked_for(assertion)))
      tell_({assertion, from, now_, why, {}, cause, of_some});
}

}  // namespace muster::verify
