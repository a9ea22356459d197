#include "apps/cluster/watch.hpp"

#include <algorithm>

namespace muster::apps {
namespace {

struct NodeOf {
  std::optional<NodeId> operator()(const journal::Header& header) const { return header.node; }
  std::optional<NodeId> operator()(const journal::Fault&) const { return std::nullopt; }
  std::optional<NodeId> operator()(const journal::Finding&) const { return std::nullopt; }
  template <class Stamped>
  std::optional<NodeId> operator()(const Stamped& line) const {
    return line.stamp.node;
  }
};

}  // namespace

bool Watch::take(const journal::Line& line) {
  if (const auto node = std::visit(NodeOf{}, line)) nodes_[*node].last = journal::time_of(line);
  return std::visit([this](const auto& what) { return take_line(what); }, line);
}

const NodeSeen& Watch::node(NodeId node) const {
  static const NodeSeen unseen;
  const auto at = nodes_.find(node);
  return at == nodes_.end() ? unseen : at->second;
}

bool Watch::take_line(const journal::Header& header) {
  configs_[header.node] = header.config;
  NodeSeen& seen = nodes_[header.node];
  if (seen.up && seen.incarnation == header.incarnation) return false;  // a new segment
  down(header.node, header.t);
  seen = {};
  seen.up = true;
  seen.incarnation = header.incarnation;
  seen.last = header.t;
  return false;
}

bool Watch::take_line(const journal::Step& step) {
  NodeSeen& seen = nodes_[step.stamp.node];
  if (!seen.up || seen.incarnation != step.stamp.incarnation)
    return false;  // stamped after its kill
  if (seen.reasons.take(step.stamp.node, step.event, step.view)) ++counts_.elections;
  if (const auto* paused = std::get_if<Paused>(&step.event)) {
    ++counts_.paused;
    pauses_.emplace(step.stamp.node, step.stamp.t - paused->gap);
    disturb(step.stamp.node, step.stamp.t - paused->gap);
    end_work(step.stamp.node, step.stamp.t - paused->gap);
  }
  if (std::holds_alternative<HookFailed>(step.event)) ++counts_.failed_hooks;
  seen.view = step.view;
  if (!step.view.group || !step.view.up || step.view.coordinator != step.stamp.node) return false;
  NodeSet members = *step.view.up;
  members.insert(step.stamp.node);
  members_[*step.view.group] = std::move(members);
  return check_formed(*step.view.group);
}

bool Watch::take_line(const journal::HookEdge& edge) {
  const NodeId node = edge.stamp.node;
  NodeSeen& seen = nodes_[node];
  if (!seen.up || seen.incarnation != edge.stamp.incarnation) return false;
  if (edge.hook == Hook::stop && edge.edge == journal::Edge::begin) disturb(node, edge.stamp.t);
  if (edge.hook == Hook::stop && edge.edge == journal::Edge::end) end_work(node, edge.stamp.t);
  if (edge.hook != Hook::start || !edge.group) return false;
  if (edge.edge == journal::Edge::begin) {
    end_work(node, edge.stamp.t);
    worked_.push_back({node, *edge.group, edge.stamp.t, std::nullopt});
    seen.works_for = edge.group;
  }
  if (edge.edge != journal::Edge::end) return false;
  started_[*edge.group][node] = edge.stamp.t;
  return check_formed(*edge.group);
}

bool Watch::take_line(const journal::Ended& ended) {
  down(ended.stamp.node, ended.stamp.t);
  return false;
}

bool Watch::take_line(const journal::Gap& gap) {
  NodeSeen& seen = nodes_[gap.stamp.node];
  if (seen.up && seen.incarnation == gap.stamp.incarnation)
    seen.view = view(configs_[gap.stamp.node], gap.state);
  return false;
}

bool Watch::take_line(const journal::Fault& fault) {
  if (fault.node) {
    take_fault(*fault.node, fault);
  } else {
    for (const auto& [node, seen] : std::map(nodes_)) take_fault(node, fault);
  }
  return false;
}

void Watch::take_fault(NodeId node, const journal::Fault& fault) {
  NodeSeen& seen = nodes_[node];
  switch (fault.kind) {
    case journal::FaultKind::killed:
    case journal::FaultKind::power_cut:
    case journal::FaultKind::ended:
      down(node, fault.t);
      break;
    case journal::FaultKind::paused:
      pauses_.emplace(node, fault.t);
      seen.paused = true;
      disturb(node, fault.t);
      end_work(node, fault.t);
      break;
    case journal::FaultKind::resumed:
      seen.paused = false;
      break;
    case journal::FaultKind::cut:
      disturb(node, fault.t);
      break;
    default:
      break;
  }
}

void Watch::down(NodeId node, Duration at) {
  disturb(node, at);
  end_work(node, at);
  NodeSeen& seen = nodes_[node];
  seen.up = false;
  seen.view = {};
  const bool none =
      std::none_of(nodes_.begin(), nodes_.end(), [](const auto& n) { return n.second.up; });
  if (none) all_down_ = true;
}

void Watch::disturb(NodeId node, Duration at) {
  if (formed_.empty() || disturbed_) return;
  if (formed_.back().members.contains(node)) disturbed_ = at;
}

void Watch::end_work(NodeId node, Duration at) {
  NodeSeen& seen = nodes_[node];
  if (!seen.works_for) return;
  seen.works_for.reset();
  for (auto work = worked_.rbegin(); work != worked_.rend(); ++work) {
    if (work->node != node) continue;
    if (!work->end) work->end = std::max(at, work->begin);
    return;
  }
}

bool Watch::check_formed(GroupNumber group) {
  if (complete_.contains(group)) return false;
  const NodeSeen& coordinator = nodes_[group.coordinator];
  if (coordinator.view.status != Status::Normal || coordinator.view.group != group) return false;
  const auto& members = members_[group];
  const auto& started = started_[group];
  Duration last{};
  for (NodeId member : members) {
    const auto at = started.find(member);
    if (at == started.end()) return false;
    last = std::max(last, at->second);
  }
  Formed formed{group, members, last, coordinator.reasons.last().evidence, std::nullopt};
  if (!formed_.empty() && !all_down_ && disturbed_) formed.without_work = last - *disturbed_;
  formed_.push_back(std::move(formed));
  disturbed_.reset();
  all_down_ = false;
  complete_.insert(group);
  // Several groups are kept, because two can form at the same time if the network is cut. Old
  // groups are forgotten, as they do not form again.
  constexpr std::size_t kept = 64;
  while (complete_.size() > kept) complete_.erase(complete_.begin());
  while (started_.size() > kept) started_.erase(started_.begin());
  return true;
}

std::vector<Duration> Watch::pauses(NodeId node) const {
  std::vector<Duration> found;
  const auto [begin, end] = pauses_.equal_range(node);
  std::transform(begin, end, std::back_inserter(found),
                 [](const auto& pause) { return pause.second; });
  return found;
}

std::optional<NodeId> Watch::coordinator() const {
  std::map<NodeId, int> votes;
  for (const auto& [node, seen] : nodes_) {
    if (seen.up && !seen.paused && seen.view.coordinator) ++votes[*seen.view.coordinator];
  }
  if (votes.empty()) return std::nullopt;
  return std::max_element(
             votes.begin(), votes.end(),
             [](const auto& left, const auto& right) { return left.second < right.second; })
      ->first;
}

bool Watch::normal(const NodeSet& live, const std::map<NodeId, Duration>& since) const {
  std::optional<GroupNumber> group;
  for (NodeId node : live) {
    const NodeSeen& seen = this->node(node);
    const auto from = since.find(node);
    if (!seen.up || seen.paused || (from != since.end() && seen.last <= from->second)) return false;
    if (seen.view.status != Status::Normal || !seen.view.group) return false;
    if (group && *group != *seen.view.group) return false;
    group = seen.view.group;
  }
  if (!group) return live.empty();
  const auto members = members_.find(*group);
  return members != members_.end() && members->second == live;
}

}  // namespace muster::apps
