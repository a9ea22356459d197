#include "names.hpp"

#include <muster/claims/verify.hpp>
#include <muster/values/text.hpp>

#include <algorithm>

/// Faults from outside, and the claims about all nodes together.

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

// By assumption 9 a pause is a failure: the node counts as down, and its work is not judged.
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

// If the node works on in the same group after the missing lines, it was in no other group during
// them. Otherwise nothing is claimed of it until a line shows its state, and the cluster is not
// judged as calm.
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
      was_restored_ = !were_wiped_.empty();
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

// The node counts as down until its own line `Paused`, or until the end of its life if that comes
// first.
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

// True if the effects of a cut or of lost storage are over. A paused or unknown node may come back
// from the other side of a cut, or from an old group. If a coordinator's storage was wiped, two
// groups may have the same number; only their definitions tell them apart.
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

// By assumption 4 a node never uses a group number twice. A node whose storage was wiped may use a
// number twice while another node is still in a group of its former life.
void Verifier::check_groups() {
  std::vector<Standing> known;
  for (const Standing& node : standings_)
    if (!node.group || !were_wiped_.contains(node.group->coordinator)) known.push_back(node);
  judge("3a", assertion_3a(known));
  judge("3b", assertion_3b(known));
}

// True if nodes may refuse each other's lives. A node whose storage was restored may know later
// lives of a node whose storage was lost, and that one may know later lives of the first. The two
// are as if cut off from each other, until other nodes tell one of them. A node that is down during
// this time may return with its old knowledge.
bool Verifier::may_refuse_each_other() const {
  return was_restored_ && were_wiped_.size() > 1;
}

void Verifier::end_wipes() {
  if (were_wiped_.empty()) return;
  const std::string why = "assumption 4: safe storage of " + names(were_wiped_) +
                          " was lost, or replaced by an older copy";
  const std::string cause = "assumption 4: lost storage";
  if (may_refuse_each_other())
    not_claimed(claims_.in_cuts ? of_states_in_cuts : of_states, wiped_since_, why, cause);
  if (claims_.of_groups)
    not_claimed(of_groups, wiped_since_,
                "assumption 4: groups of " + names(were_wiped_) +
                    ", whose safe storage was wiped or replaced by an older copy",
                cause, true);
  were_wiped_ = {};
  was_restored_ = false;
}

// Judges the result of a calm time: before the fault that ends it, or at the end of the journals.
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
    return tell_({"2", calm_since_, now_,
                  "assumptions 8 and 9: a node was cut off or paused before, and this protocol "
                  "does not recover from that",
                  bound_, "assumptions 8 and 9: cut or pause before"});
  judge_calm("2", assertion_2(standings_, claims_.quorum));
}

void Verifier::check_4() {
  const auto all = parts(configured_, cut_);
  if (!all)
    return tell_({"4", calm_since_, now_,
                  "the nodes do not form sets that communicate only among themselves", bound_,
                  "links that do not divide the nodes into sets"});
  for (const NodeSet& together : *all) judge_calm("4", assertion_4(standings_, together));
}

void Verifier::judge_calm(const char* assertion, std::optional<Disagreement> disagreement) {
  // The cause of the disagreement may be a node without a journal.
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
  judged_["hook-grammar"].violated_now = false;  // each wrong line is a violation of its own
  judge("hook-grammar", Disagreement{{id}, "node " + to_text(id) + ": " + *wrong});
}

// Tells that these assertions are not claimed for a time. An assertion that was asked for is judged
// all the same, except for nodes that are down or unknown then.
void Verifier::not_claimed(std::initializer_list<const char*> which, Duration from,
                           const std::string& why, const std::string& cause, bool of_some) {
  for (const char* assertion : which)
    if (claims(assertion) && (of_some || !is_asked_for(assertion)))
      tell_({assertion, from, now_, why, {}, cause, of_some});
}

}  // namespace muster::verify
