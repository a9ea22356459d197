#include <muster/claims/verify.hpp>
#include <muster/values/hash.hpp>
#include <muster/values/text.hpp>

#include <algorithm>

namespace muster::verify {

namespace {

std::string name(NodeId node) {
  return "node " + to_text(node);
}

bool says_what_it_holds(const Action& action) {
  if (std::holds_alternative<Reorganize>(action)) return true;
  const auto* send = std::get_if<Send>(&action);
  if (!send) return false;
  if (std::holds_alternative<invitation::Accept>(send->letter.message)) return true;
  const auto* answer = std::get_if<Answer>(&send->letter.message);
  return answer && std::holds_alternative<Joined>(answer->result);
}

}  // namespace

bool disturbs(const journal::Step& step) {
  const auto* expired = std::get_if<Expired>(&step.event);
  return std::holds_alternative<Paused>(step.event) ||
         std::holds_alternative<HookFailed>(step.event) ||
         std::holds_alternative<Leaving>(step.event) ||
         std::holds_alternative<ElectionAsked>(step.event) ||
         std::holds_alternative<Differing>(step.event) ||
         (expired && expired->timer == Timer::preempt) || !step.view.held.by_node.empty();
}

Verifier::Verifier(Foresight foresight, std::function<void(const NotClaimed&)> not_claimed,
                   std::function<void(const Violated&)> violated)
    : foresight_(std::move(foresight)),
      tell_(std::move(not_claimed)),
      tell_violated_(std::move(violated)) {}

Expected<> Verifier::take(const journal::Line& line, const Place& place) {
  const Duration t = journal::time_of(line);
  if (lines_++ == 0) began_ = now_ = calm_since_ = t;
  now_ = std::max(now_, t);
  place_ = place;
  foreseen_pauses();
  if (auto late = left_behind_.overdue(now_)) judge("left-behind", std::move(late));
  return std::visit(
      [this](const auto& kind) {
        const Expected<> taken = take(kind);
        if constexpr (requires { kind.stamp; })
          wrote(kind.stamp);
        else if constexpr (std::is_same_v<decltype(kind), const journal::Header&>)
          if (!kind.state) wrote({kind.t, kind.node, kind.incarnation, 0});
        return taken;
      },
      line);
}

// A life may end without a last line, as if it was killed. Nothing is claimed of the life after its
// last line.
void Verifier::wrote(const journal::Stamp& line) {
  judge_strays(line);
  const auto node = nodes_.find(line.node);
  if (node == nodes_.end() || node->second.life != line.incarnation) return;
  node->second.last_line = line.t;
  if (const auto gap = foresight_.gaps.find({line.node, line.incarnation, line.seq});
      gap != foresight_.gaps.end())
    begin_gap(line.node, gap->second);
  const auto last = foresight_.last_seq.find({line.node, line.incarnation});
  if (last == foresight_.last_seq.end() || last->second != line.seq) return;
  letters_.last_line(line.node, line.incarnation);
  check_calm();
  disturbed();
  end_life(line.node);
  check_states();
}

Outcome Verifier::finish() {
  check_calm();
  for (const auto& [id, node] : nodes_)
    if (node.counts) {
      if (node.paused_since) end_pause(id);
      if (node.gap_since) end_gap(id);
    }
  for (NodeId id : configured_)
    if (const auto* span = unknown_life(id)) tell_of_unknown(span->from, now_, why_unknown(id));
  end_cut();
  end_wipes();
  end_not_left_behind();
  tell_of_missing_journals();
  Outcome outcome{{}, lines_, lives_, missing_lines_};
  for (const std::string& assertion : claims_.assertions)
    outcome.verdicts.push_back(verdict_on(assertion));
  if (judged_.contains("application")) outcome.verdicts.push_back(verdict_on("application"));
  outcome.undecided = undecided(outcome.verdicts);
  return outcome;
}

// --- Lines

Expected<> Verifier::take(const journal::Header& line) {
  if (protocol_ && *protocol_ != line.config.protocol)
    return Failure{ExitCode::does_not_hold, name(line.node) + " runs the protocol " +
                                                to_text(line.config.protocol) + ", others run " +
                                                to_text(*protocol_)};
  protocol_ = line.config.protocol;
  claims_ = claims_of(line.config);
  std::vector<std::string>& claimed = claims_.assertions;
  for (const std::string& assertion : asked_)
    if (std::find(claimed.begin(), claimed.end(), assertion) == claimed.end())
      claimed.push_back(assertion);
  for (auto& [assertion, judged] : judged_) judged.claimed = false;
  for (const std::string& assertion : claimed) judged_[assertion].claimed = true;
  bound_ = std::max(bound_.value_or(Duration{}), settling_bound(line.config));
  for (NodeId node : line.config.nodes) configured_.insert(node);
  const auto known = nodes_.find(line.node);
  const bool goes_on =
      line.state && known != nodes_.end() && !(known->second.life < line.incarnation);
  if (!goes_on) begin_life(line);
  nodes_.at(line.node).config = line.config;
  return {};
}

Expected<Verifier::Node*> Verifier::writer(const journal::Stamp& stamp, bool tells_of_gap) {
  const auto fail = [&](const std::string& why) {
    return Failure{ExitCode::does_not_hold,
                   name(stamp.node) + " in life " + to_text(stamp.incarnation) + ": " + why};
  };
  const auto found = nodes_.find(stamp.node);
  if (found == nodes_.end() || found->second.life < stamp.incarnation)
    return fail("the first line of this life is missing");
  Node& node = found->second;
  if (stamp.incarnation < node.life) return nullptr;
  if (node.seq && stamp.seq <= *node.seq)
    return fail("seq " + to_text(stamp.seq) + " comes after seq " + to_text(*node.seq));
  if (node.seq && stamp.seq != *node.seq + 1) {
    missing_lines_ += stamp.seq - *node.seq - 1;
    if (!tells_of_gap) {
      node.grammar.lines_are_missing();
      node.saving.clear();
      letters_.forget(stamp.node, stamp.incarnation);
    }
  }
  node.seq = stamp.seq;
  return &node;
}

// A letter that was received and never sent is reported at its receiver.
void Verifier::judge_strays(const journal::Stamp& line) {
  for (Letters::Stray& stray : letters_.known_until(line.node, line.incarnation, line.t)) {
    const auto here = std::exchange(place_, std::move(stray.place));
    const auto now = std::exchange(now_, stray.t);
    judge_grammar(stray.to, std::move(stray.why));
    place_ = here;
    now_ = now;
  }
}

// The fault `killed` is written before the signal is sent, so the life may still write steps after
// it. These steps are not judged, but their Saves and letters count as made and sent.
Expected<> Verifier::take(const journal::Step& line) {
  const auto written = writer(line.stamp);
  if (!written) return written.error();
  if (!*written) return {};
  Node& node = **written;
  const NodeId id = line.stamp.node;
  if (const auto* received = std::get_if<Received>(&line.event); received && node.counts)
    judge_grammar(id, letters_.received(received->letter, line.stamp.t, place_));
  letters_.step(id, node.life, line.actions, node.grammar.permits_are_valid());
  const auto wrong = node.grammar.step(line.event, line.actions);
  if (!node.counts) return {};
  judge_grammar(id, wrong);
  step_of_life(line, node);
  return {};
}

void Verifier::step_of_life(const journal::Step& line, Node& node) {
  const NodeId id = line.stamp.node;
  const Event& event = line.event;
  if (const auto* begins = std::get_if<Recovered>(&event)) recovered(id, node, begins->safe);
  const auto assigned = [&]() -> std::optional<GroupNumber> {
    if (!node.saved || !node.saved->assigned) return std::nullopt;
    return node.saved->assigned->group;
  };
  if (const auto* stopped = std::get_if<Stopped>(&event); stopped && stopped->report)
    node.reported = Reported{digest(stopped->report->data), assigned()};
  node.saving.clear();
  for (const Action& action : line.actions) {
    if (const auto* save = std::get_if<Save>(&action)) node.saving.push_back(save->safe);
    // The node may have been assigned a task since it stopped, and never started it.
    if (node.reported && says_what_it_holds(action)) node.reported->group = assigned();
  }
  node.accepting.reset();
  if (line.view.group && line.view.group != node.group) {
    node.accepting = line.view.group;
    coordinators_.insert(line.view.group->coordinator);
  }
  node.group = line.view.group;
  if (node.group) node.last_group = node.group;
  if (node.saving.empty()) accepted(id, node);

  Standing& now = standing_of(id);
  const bool up = now.up;
  now = standing(id, line.view, now.works_for);
  now.up = up;
  if (const auto* differing = std::get_if<Differing>(&event)) node.differ = differing->differ;
  if (std::holds_alternative<Paused>(event)) end_pause(id);
  if (disturbs(line)) disturbed();
  check_states();
}

void Verifier::recovered(NodeId id, Node& node, const SafeState& safe) {
  if (node.saved) {
    auto lost = durable(id, *node.saved, safe);
    // If group numbers need not grow, the state that was being saved may have a smaller number.
    if (lost && node.was_saving && !durable(id, *node.was_saving, safe)) lost.reset();
    judge("durable", std::move(lost));
  }
  node.saved = safe;
}

void Verifier::accepted(NodeId id, Node& node) {
  if (!node.accepting) return;
  judge("group-grows", group_grows(id, node.accepted, *node.accepting));
  node.accepted = std::max(node.accepted, std::exchange(node.accepting, std::nullopt));
}

Expected<> Verifier::take(const journal::Performed& line) {
  const auto written = writer(line.stamp);
  if (!written) return written.error();
  if (!*written) return {};
  Node& node = **written;
  letters_.performed(line.stamp.node, node.life);
  const auto wrong = node.grammar.performed();
  if (!node.counts) return {};
  judge_grammar(line.stamp.node, wrong);
  if (node.saving.empty()) return {};
  node.saved = std::move(node.saving.front());
  node.saving.pop_front();
  if (node.saving.empty()) accepted(line.stamp.node, node);
  return {};
}

Expected<> Verifier::take(const journal::HookEdge& line) {
  const auto written = writer(line.stamp);
  if (!written) return written.error();
  if (!*written) return {};
  Node& node = **written;
  const auto wrong = node.grammar.hook(line);
  if (!node.counts) return {};
  judge_grammar(line.stamp.node, wrong);
  if (line.edge == journal::Edge::begin && line.members) {
    members_have_ceased(line);
    judge("quorum", has_quorum(line.stamp.node, line.members->size(), configured_.size() / 2 + 1));
  }
  Standing& now = standing_of(line.stamp.node);
  if (line.hook == Hook::start && line.edge == journal::Edge::begin && now.up)
    now.works_for = line.group;
  if (line.hook == Hook::stop && line.edge == journal::Edge::end) now.works_for.reset();
  check_states();
  return {};
}

Expected<> Verifier::take(const journal::Permits& line) {
  const auto written = writer(line.stamp);
  if (!written) return written.error();
  if (!*written) return {};
  Node& node = **written;
  if (line.edge == journal::PermitsEdge::revoked) letters_.revoked(line.stamp.node, node.life);
  const auto wrong = node.grammar.permits(line.edge, line.group);
  if (node.counts) judge_grammar(line.stamp.node, wrong);
  return {};
}

Expected<> Verifier::take(const journal::Ended& line) {
  const auto written = writer(line.stamp);
  if (!written) return written.error();
  if (!*written || !(*written)->counts) return {};
  const bool impossible = line.code == static_cast<int>(ExitCode::impossible_state);
  judge("sound-state", impossible
                           ? std::optional(Disagreement{
                                 {line.stamp.node}, name(line.stamp.node) + " ended: " + line.why})
                           : std::nullopt);
  end_life(line.stamp.node);
  disturbed();
  return {};
}

// The state after missing lines. This line comes before a step, so all Saves of earlier steps are
// durable.
Expected<> Verifier::take(const journal::Gap& line) {
  const auto written = writer(line.stamp, true);
  if (!written) return written.error();
  if (!*written) return {};
  Node& node = **written;
  const NodeId id = line.stamp.node;
  letters_.gap(id, node.life);
  node.grammar.lines_are_missing(line.state);
  node.saving.clear();
  if (!node.counts) return {};
  node.saved = common(line.state).safe;
  if (!node.gap_since) return {};
  const View view = muster::view(node.config, line.state);
  node.accepting.reset();
  node.reported.reset();
  node.group = view.group;
  if (node.group) node.last_group = node.group;
  node.accepted = std::max(node.accepted, node.group);
  end_gap(id);
  Standing& now = standing_of(id);
  now = standing(id, view, node.grammar.works_for());
  now.up = !node.paused_since;
  if (!now.up) now.works_for.reset();
  check_states();
  return {};
}

// A statement of the application is judged even if its node was paused, cut off or wiped, because
// the statement is not a claim of the protocol.
Expected<> Verifier::take(const journal::Remark& line) {
  const auto written = writer(line.stamp);
  if (!written) return written.error();
  const NodeId id = line.stamp.node;
  if (line.kind == journal::RemarkKind::broken)
    judge_application({id}, name(id) + ": " + line.text);
  return {};
}

Expected<> Verifier::take(const journal::Finding& line) {
  judge_application({}, line.broken);
  return {};
}

// Each line about a broken invariant is a violation of its own.
void Verifier::judge_application(NodeSet nodes, std::string broken) {
  Judged& judged = judged_["application"];
  judged.claimed = true;
  judged.violated_now = false;
  judge("application", Disagreement{std::move(nodes), std::move(broken)});
}

// P4: every member has ceased, and the coordinator is told what each one reported.
void Verifier::members_have_ceased(const journal::HookEdge& line) {
  if (cut_since_ || nodes_.at(line.stamp.node).paused_since) return;
  for (const journal::MemberSeen& member : *line.members) {
    const auto found = nodes_.find(member.node);
    if (found == nodes_.end()) continue;
    const Node& node = found->second;
    // The coordinator's entry is about another life of the member.
    if (node.life != member.incarnation || node.named_before) continue;
    if (!node.counts || node.paused_since || node.gap_since) continue;
    // In the Invitation a member may be in another group by now.
    if (claims_.of_groups && node.last_group != line.group) continue;
    const std::string who = "reorganize of " + name(line.stamp.node) + " begins, but ";
    if (member.node != line.stamp.node && !node.grammar.has_ceased())
      judge_grammar(member.node, who + name(member.node) + " has not ceased (P4)");
    else if (node.reported &&
             (node.reported->report != member.report || node.reported->group != member.group))
      judge_grammar(member.node, who + "its report of " + name(member.node) +
                                     " is not the one that node gave (P4)");
  }
}

}  // namespace muster::verify
