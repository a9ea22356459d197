#include "bench/nodes/phases.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace muster::apps {
namespace {

/// The survivors' steps towards the group for which all of them start in the end, and the times of
/// these steps.
class Survivors {
 public:
  Survivors(Duration fault, const NodeSet& survivors) : fault_(fault), survivors_(survivors) {}

  void take(const journal::Line& line) {
    if (done()) return;
    if (const auto* step = std::get_if<journal::Step>(&line)) take_step(*step);
    if (const auto* hook = std::get_if<journal::HookEdge>(&line)) take_hook(*hook);
  }

  [[nodiscard]] bool done() const { return done_.has_value(); }

  [[nodiscard]] Failover told() const {
    Failover failover;
    failover.coordinator = group_->coordinator;
    failover.members = survivors_.size();
    failover.letters = letters_;
    failover.whole = *done_ - fault_;
    Duration before = fault_;
    const auto reached = [&](Phase phase, std::optional<Duration> at) {
      const Duration then = std::clamp(at.value_or(before), before, *done_);
      failover.phases[static_cast<std::size_t>(phase)] = then - before;
      before = then;
    };
    const Marks& marks = marks_.at(failover.coordinator);
    reached(Phase::noticed, marks.noticed);
    reached(Phase::election, marks.first_halt);
    reached(Phase::halts, marks.election_point);
    reached(Phase::own_stop, marks.stopped);
    reached(Phase::new_coordinator, marks.reorganize);
    reached(Phase::reorganize, marks.reorganized);
    reached(Phase::ready, last_ready_);
    reached(Phase::commits, last_start_);
    reached(Phase::start, done_);
    return failover;
  }

 private:
  struct Marks {
    std::optional<Duration> noticed, first_halt, election_point, stopped, reorganize, reorganized;
  };

  void take_step(const journal::Step& step) {
    const Duration t = step.stamp.t;
    Marks& marks = marks_[step.stamp.node];
    const bool tells = std::holds_alternative<Failed>(step.event) ||
                       std::holds_alternative<Unanswered>(step.event) ||
                       std::holds_alternative<Expired>(step.event);
    if (tells && !marks.noticed) marks.noticed = t;
    if (std::holds_alternative<Stopped>(step.event)) marks.stopped = t;
    const auto* received = std::get_if<Received>(&step.event);
    if (received && std::holds_alternative<Ready>(received->letter.message)) last_ready_ = t;
    for (const Action& action : step.actions) {
      if (std::holds_alternative<Reorganize>(action)) marks.reorganize = t;
      const auto* send = std::get_if<Send>(&action);
      if (!send) continue;
      if (survivors_.contains(send->letter.to)) ++letters_;
      if (std::holds_alternative<Halt>(send->letter.message) && !marks.first_halt)
        marks.first_halt = t;
      if (std::holds_alternative<NewCoordinator>(send->letter.message)) marks.election_point = t;
    }
  }

  void take_hook(const journal::HookEdge& edge) {
    const Duration t = edge.stamp.t;
    if (edge.hook == Hook::reorganize && edge.edge == journal::Edge::end)
      marks_[edge.stamp.node].reorganized = t;
    if (edge.hook != Hook::start || !edge.group) return;
    if (edge.edge == journal::Edge::begin) last_start_ = t;
    if (edge.edge != journal::Edge::end) return;
    std::set<NodeId>& started = started_[*edge.group];
    started.insert(edge.stamp.node);
    if (started.size() < survivors_.size()) return;
    group_ = edge.group;
    done_ = t;
  }

  Duration fault_;
  const NodeSet& survivors_;
  std::map<NodeId, Marks> marks_;
  std::map<GroupNumber, std::set<NodeId>> started_;
  std::optional<Duration> last_ready_, last_start_, done_;
  std::optional<GroupNumber> group_;
  std::uint64_t letters_ = 0;
};

/// The node that wrote the line. Node 0 stands for lines that this file ignores.
NodeId writer_of(const journal::Line& line) {
  if (const auto* step = std::get_if<journal::Step>(&line)) return step->stamp.node;
  if (const auto* hook = std::get_if<journal::HookEdge>(&line)) return hook->stamp.node;
  return {};
}

}  // namespace

std::optional<Failover> failover_of(const std::vector<journal::Line>& lines, Duration fault,
                                    const NodeSet& survivors) {
  Survivors story(fault, survivors);
  for (const journal::Line& line : lines) {
    if (journal::time_of(line) >= fault && survivors.contains(writer_of(line))) story.take(line);
  }
  if (!story.done()) return std::nullopt;
  return story.told();
}

}  // namespace muster::apps
