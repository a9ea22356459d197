#include <muster/claims/hook_grammar.hpp>
#include <muster/values/hash.hpp>
#include <muster/values/text.hpp>

namespace muster {

using journal::Edge;
using journal::HookEdge;
using journal::PermitsEdge;

namespace {

std::string name(Hook hook, Ticket ticket) {
  return to_text(hook) + " (ticket " + to_text(ticket) + ')';
}

}  // namespace

HookGrammar::HookGrammar(const Protocol& state) : sure_(false) {
  const Common& known = common(state);
  const Activity does = known.application;
  const bool has_started = does == Activity::Starting || does == Activity::Working;
  if (has_started) {
    started_ = known.g;
    permits_ = PermitsAre::valid;
  }
  stop_owed_ = has_started || does == Activity::Owing;
  if (does == Activity::Starting) running_ = Running{Hook::start, known.ticket};
  if (does == Activity::Reorganizing) running_ = Running{Hook::reorganize, known.ticket};
  saved_ = saved_by(known.safe);
}

std::optional<HookGrammar::Saved> HookGrammar::saved_by(const SafeState& safe) {
  if (!safe.assigned) return std::nullopt;
  return Saved{digest(safe.assigned->definition.data), safe.assigned->group};
}

void HookGrammar::lines_are_missing() {
  sure_ = false;
  saving_.clear();
}

// If the node worked before the missing lines and works in the same group after them, it never
// left: a node does not return to a group.
void HookGrammar::lines_are_missing(const Protocol& state) {
  const Common& known = common(state);
  const bool works_on = known.application == Activity::Working && started_ && known.g == started_ &&
                        permits_ == PermitsAre::valid && !running_;
  if (!works_on) *this = HookGrammar(state);
  saving_.clear();
  saved_ = saved_by(known.safe);
}

HookGrammar::Wrong HookGrammar::step(const Event& event, const Actions& actions) {
  Wrong wrong;
  if (!saving_.empty() && sure_)
    wrong = "a step began before the Save of the previous step was performed";
  saving_.clear();
  Wrong given_wrong;
  if (const auto* recovered = std::get_if<Recovered>(&event))
    saved_ = saved_by(recovered->safe);
  else if (const auto* stopped = std::get_if<Stopped>(&event))
    given_wrong = given(*stopped);
  else if (const auto* reorganized = std::get_if<Reorganized>(&event))
    given_wrong = given_end(Hook::reorganize, reorganized->ticket, "Reorganized");
  else if (const auto* started = std::get_if<Started>(&event))
    given_wrong = given_end(Hook::start, started->ticket, "Started");
  for (const Action& action : actions) ask(action);
  if (!wrong) wrong = std::move(given_wrong);
  return sure_ ? wrong : std::nullopt;
}

// STOP has ended if no hook runs, an owed `stop` has ended, and all permits are returned (P1, P2).
HookGrammar::Wrong HookGrammar::given(const Stopped& event) {
  stopped_given_ = true;
  if (running_)
    return "Stopped was given while " + name(running_->hook, running_->ticket) + " runs";
  if (permits_ == PermitsAre::valid)
    return "Stopped was given while permits of group " + to_text(*started_) + " are valid";
  if (event.report) return given_end(Hook::stop, event.ticket, "Stopped");
  if (stop_owed_) return "Stopped was given without a report, but a stop is owed";
  return std::nullopt;
}

HookGrammar::Wrong HookGrammar::given_end(Hook hook, Ticket ticket, const char* event) const {
  const auto ended = ended_.find(hook);
  if (ended != ended_.end() && !(ended->second < ticket)) return std::nullopt;
  return event + (" was given, but " + name(hook, ticket)) + " has not ended";
}

void HookGrammar::ask(const Action& action) {
  if (const auto* save = std::get_if<Save>(&action)) {
    saving_.push_back(saved_by(save->safe));
  } else if (const auto* stop = std::get_if<Stop>(&action)) {
    stopped_given_ = false;
    asked_ = Asked{Hook::stop, stop->ticket, stop->owed, {}, {}, {}};
  } else if (const auto* reorganize = std::get_if<Reorganize>(&action)) {
    asked_ = Asked{Hook::reorganize, reorganize->ticket, true, reorganize->group, {}, {}};
    for (const Member& j : reorganize->members) asked_->members.insert(j.node);
  } else if (const auto* start = std::get_if<Start>(&action)) {
    asked_ =
        Asked{Hook::start, start->ticket, true, start->group, digest(start->definition.data), {}};
  }
}

HookGrammar::Wrong HookGrammar::performed() {
  if (saving_.empty())
    return sure_ ? Wrong("a Save was performed that the last step did not ask for") : std::nullopt;
  saved_ = saving_.front();
  saving_.pop_front();
  return std::nullopt;
}

HookGrammar::Wrong HookGrammar::hook(const HookEdge& edge) {
  return edge.edge == Edge::begin ? begins(edge) : ends(edge);
}

HookGrammar::Wrong HookGrammar::begins(const HookEdge& edge) {
  Wrong wrong;
  if (running_)
    wrong = name(edge.hook, edge.ticket) + " begins while " +
            name(running_->hook, running_->ticket) + " runs";
  else if (!asked_ || asked_->hook != edge.hook || asked_->ticket != edge.ticket)
    wrong = name(edge.hook, edge.ticket) + " begins, but " +
            (asked_ ? name(asked_->hook, asked_->ticket) : "nothing") + " was asked for last";
  else if (edge.hook == Hook::stop)
    wrong = stop_begins(edge);
  else if (edge.hook == Hook::reorganize)
    wrong = reorganize_begins(edge);
  else
    wrong = start_begins(edge);
  if (!sure_) wrong.reset();
  sure_ = true;
  running_ = Running{edge.hook, edge.ticket};
  stop_owed_ = edge.hook != Hook::reorganize;
  if (edge.hook == Hook::start) {
    started_ = edge.group;
    permits_ = PermitsAre::valid;
  }
  return wrong;
}

HookGrammar::Wrong HookGrammar::stop_begins(const HookEdge& edge) const {
  const std::string hook = name(edge.hook, edge.ticket);
  if (!stop_owed_ || !asked_->owed) return hook + " begins, but none is owed (P2)";
  if (permits_ == PermitsAre::valid)
    return hook + " begins while permits of group " + to_text(*started_) + " are valid (P1)";
  if (edge.group != started_)
    return hook + " begins for group " + to_text(edge.group) + ", but " +
           (started_ ? "group " + to_text(*started_) : "nothing") + " was started";
  return std::nullopt;
}

HookGrammar::Wrong HookGrammar::reorganize_begins(const HookEdge& edge) const {
  const std::string hook = name(edge.hook, edge.ticket);
  if (stop_owed_) return hook + " begins, but a stop is owed (P2)";
  if (edge.group != asked_->group)
    return hook + " begins for group " + to_text(edge.group) + ", but was asked for group " +
           to_text(asked_->group);
  NodeSet members;
  for (const auto& j : edge.members.value_or(std::vector<journal::MemberSeen>{}))
    members.insert(j.node);
  if (members != asked_->members)
    return hook + " is given " + to_text(members) + ", but the members are " +
           to_text(asked_->members) + " (P4)";
  return std::nullopt;
}

HookGrammar::Wrong HookGrammar::start_begins(const HookEdge& edge) const {
  const std::string hook = name(edge.hook, edge.ticket);
  if (stop_owed_) return hook + " begins, but a stop is owed (P2)";
  if (edge.group != asked_->group)
    return hook + " begins for group " + to_text(edge.group) + ", but was asked for group " +
           to_text(asked_->group);
  if (saved_ != Saved{asked_->definition, *asked_->group})
    return hook + " begins before its definition is durable (P5)";
  return std::nullopt;
}

HookGrammar::Wrong HookGrammar::ends(const HookEdge& edge) {
  const bool ran = running_ == Running{edge.hook, edge.ticket};
  const Wrong wrong =
      ran || !sure_ ? Wrong{} : name(edge.hook, edge.ticket) + " ends, but was not running";
  running_.reset();
  if (edge.edge == Edge::failed) return wrong;
  ended_[edge.hook] = edge.ticket;
  if (edge.hook == Hook::stop) {
    stop_owed_ = false;
    started_.reset();
  }
  return wrong;
}

HookGrammar::Wrong HookGrammar::permits(PermitsEdge edge, const GroupNumber& group) {
  if (edge == PermitsEdge::revoked) {
    permits_ = PermitsAre::revoked;
    return std::nullopt;
  }
  if (!sure_) return std::nullopt;
  if (permits_ == PermitsAre::valid)
    return "the last permit of group " + to_text(group) + " is returned, but none was revoked (P1)";
  if (stopped_given_)
    return "the last permit of group " + to_text(group) + " is returned after Stopped (P1)";
  return std::nullopt;
}

}  // namespace muster
