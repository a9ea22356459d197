#include <muster/journal/history.hpp>

#include <utility>

namespace muster::history {
namespace {

/// At most this many halters are kept for one reorganization.
constexpr std::size_t most_halts = 8;

/// The phase of a reorganization to which the time in this state belongs.
Duration& place_of(Phases& phases, const View& view) {
  const Wait procedure = view.procedure;
  if (procedure == Wait::Announcing) return phases.announcing;
  if (procedure == Wait::Reorganizing) return phases.reorganizing;
  if (procedure == Wait::MakingReady) return phases.starting;
  if (procedure == Wait::Ceasing || procedure == Wait::HaltingLower ||
      procedure == Wait::HaltingAll || procedure == Wait::Inviting)
    return phases.halting;
  if (procedure != Wait::Idle) return phases.seeking;
  if (view.status == Status::Reorganization)
    return view.application == Activity::Starting ? phases.starting : phases.reorganizing;
  return view.status == Status::Normal ? phases.seeking : phases.halted;
}

/// True if no procedure runs that may lead out of Normal.
bool at_rest(const View& view) {
  return view.status == Status::Normal &&
         (view.procedure == Wait::Idle || view.procedure == Wait::Checking);
}

std::optional<NodeId> halted_by(const Event& event) {
  const auto* received = std::get_if<Received>(&event);
  const bool halt = received && std::holds_alternative<Halt>(received->letter.message);
  return halt ? std::optional(received->letter.from) : std::nullopt;
}

}  // namespace

std::optional<Entry> Recorder::take(Duration t, const Event& event, const View& after) {
  if (open_) spend(*open_, t);
  const bool elects = reasons_.take(self_, event, after);
  const View before = std::exchange(view_, after);
  last_ = t;
  // A node that is leaving is Down, so it is in no reorganization.
  const bool ceases = before.status == Status::Normal && after.status != Status::Normal &&
                      after.status != Status::Down;
  if (open_ && elects) open_->then = reasons_.last().evidence;
  if (!open_ && (elects || ceases)) begin(t, event, before, elects);
  if (!open_) return std::nullopt;
  const bool is_paused = after.procedure == Wait::Outvoted || after.procedure == Wait::Rejoining;
  if (elects && !is_paused) ++open_->elections;
  if (const auto by = halted_by(event)) {
    std::vector<NodeId>& all = open_->halted_by;
    if (all.size() == most_halts) all.erase(all.begin());
    all.push_back(*by);
  }
  return at_rest(after) ? end(t) : std::nullopt;
}

void Recorder::begin(Duration t, const Event& event, const View& before, bool elects) {
  Reason why = elects ? reasons_.last() : Reasons::of(self_, event);
  open_.emplace();
  open_->node = self_;
  open_->incarnation = incarnation_;
  open_->began = t;
  if (before.status == Status::Normal) open_->before = before.group;
  open_->trigger = why.trigger;
  open_->evidence = std::move(why.evidence);
}

std::optional<Entry> Recorder::end(Duration t) {
  Entry entry = *std::exchange(open_, std::nullopt);
  if (view_.group == entry.before) return std::nullopt;  // a higher node has the election
  entry.took = t - entry.began;
  entry.group = view_.group;
  entry.coordinator = view_.coordinator;
  if (view_.up) {
    entry.members = view_.up;
    entry.members->insert(self_);
  }
  return entry;
}

std::optional<Entry> Recorder::going_on(Duration now) const {
  if (!open_) return std::nullopt;
  Entry entry = *open_;
  spend(entry, now);
  entry.took = now - entry.began;
  return entry;
}

// The time since the last step was spent in the state after that step.
void Recorder::spend(Entry& entry, Duration until) const {
  const Duration spent = until - last_;
  place_of(entry.phases, view_) += spent;
  if (view_.application == Activity::Stopping) entry.phases.stopping += spent;
}

}  // namespace muster::history
