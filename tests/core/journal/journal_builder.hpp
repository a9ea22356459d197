#pragma once

#include <muster/journal/journal.hpp>
#include <muster/values/hash.hpp>

#include <map>
#include <utility>
#include <vector>

/// Builds journals for tests. Each member function adds the lines that a node would write. A test
/// can then change each line.

namespace muster::test {

class JournalBuilder {
 public:
  explicit JournalBuilder(std::uint32_t nodes, ProtocolName protocol = ProtocolName::bully) {
    config_.protocol = protocol;
    for (std::uint32_t id = 1; id <= nodes; ++id) config_.nodes.insert(NodeId{id});
    config_.timings.stop_deadline = std::chrono::milliseconds(100);
    config_.timings.start_deadline = std::chrono::milliseconds(100);
    config_.timings.reorganize_deadline = std::chrono::milliseconds(100);
  }

  std::vector<journal::Line> lines;

  [[nodiscard]] const Config& config() const { return config_; }
  [[nodiscard]] Duration now() const { return now_; }

  /// Lets time pass. The time of each line is one nanosecond later than that of the line before.
  void wait(Duration time) { now_ += time; }

  void fault(journal::FaultKind kind, std::optional<std::uint32_t> node = {},
             std::optional<NodeSet> from = {}) {
    const auto id = node ? std::optional(NodeId{*node}) : std::nullopt;
    lines.emplace_back(journal::Fault{tick(), kind, id, std::move(from)});
  }

  /// The first line of a life.
  void begins(std::uint32_t id) {
    Node& node = nodes_[id];
    node = {{node.life.value + 1}, 0, 0, {}, std::move(node.safe), {}};
    Config own = config_;
    own.self = NodeId{id};
    lines.emplace_back(
        journal::Header{tick(), NodeId{id}, node.life, journal::Clock::monotonic, own, {}});
  }

  /// Begins a new segment in the middle of a life, with this state in its first line.
  void goes_on(std::uint32_t id, bully::State state) {
    begins(id);
    --nodes_[id].life.value;
    auto& header = std::get<journal::Header>(lines.back());
    header.incarnation = nodes_[id].life;
    header.state = std::move(state);
  }

  /// Adds any step, with the given actions and the present view.
  void step(std::uint32_t id, Event event, Actions actions = {}) {
    Node& node = nodes_[id];
    lines.emplace_back(journal::Step{stamp(id), std::move(event), std::move(actions), node.view});
  }

  void performed(std::uint32_t id) { lines.emplace_back(journal::Performed{stamp(id)}); }

  void hook(std::uint32_t id, Hook hook, journal::Edge edge,
            std::optional<std::vector<journal::MemberSeen>> members = {}) {
    Node& node = nodes_[id];
    const auto about = hook == Hook::stop ? node.started : node.view.group;
    lines.emplace_back(
        journal::HookEdge{stamp(id), hook, edge, about, {node.ticket}, std::move(members)});
  }

  void says(std::uint32_t id, journal::RemarkKind kind, std::string text) {
    lines.emplace_back(journal::Remark{stamp(id), kind, std::move(text)});
  }

  void permits(std::uint32_t id, journal::PermitsEdge edge) {
    lines.emplace_back(journal::Permits{stamp(id), edge, nodes_[id].started.value()});
  }

  /// Adds the beginning of a life, from its first line until its application has ceased for the
  /// first time.
  void recovers(std::uint32_t id) {
    begins(id);
    Node& node = nodes_[id];
    node.safe.incarnation = node.life;
    step(id, Recovered{node.safe}, {stop_action(id)});
    stops(id);
  }

  /// Adds an event that makes the node stop and enter Election, and the stop of its application.
  void is_halted(std::uint32_t id, Event event = Expired{Timer::coordinator}) {
    enter_election(id);
    step(id, std::move(event), {stop_action(id)});
    stops(id);
  }

  void enter_election(std::uint32_t id) {
    View& view = nodes_[id].view;
    view.status = Status::Election;
    view.coordinator.reset();
    view.group.reset();
    view.definition.reset();
  }

  [[nodiscard]] Action stop_action(std::uint32_t id) {
    return Stop{{++nodes_[id].ticket}, {StopReason::own_election, {}}, true};
  }

  /// Adds the lines from the action Stop to the event Stopped.
  void stops(std::uint32_t id) {
    Node& node = nodes_[id];
    if (node.started) permits(id, journal::PermitsEdge::revoked);
    hook(id, Hook::stop, journal::Edge::begin);
    if (node.started) permits(id, journal::PermitsEdge::returned);
    hook(id, Hook::stop, journal::Edge::end);
    node.started.reset();
    if (node.view.status == Status::Down) enter_election(id);
    step(id, Stopped{{node.ticket}, report(id)});
  }

  /// Adds the lines of a node that accepts NewCoordinator. If `limit` is set, the node saves the
  /// group's number.
  void joins(std::uint32_t id, std::uint32_t coordinator, GroupNumber group, bool limit = false) {
    View& view = nodes_[id].view;
    view.status = Status::Reorganization;
    view.coordinator = NodeId{coordinator};
    view.group = group;
    Actions actions;
    if (limit) {
      nodes_[id].safe.counter_limit = group.counter + 16;
      actions.emplace_back(Save{nodes_[id].safe});
    }
    step(id, Expired{Timer::check}, std::move(actions));
    if (limit) performed(id);
  }

  /// Adds the lines of a coordinator that computes a definition from the reports of these members.
  void reorganizes(std::uint32_t id, std::vector<std::uint32_t> members) {
    Members told;
    std::vector<journal::MemberSeen> seen;
    for (std::uint32_t j : members) {
      const auto& assigned = nodes_[j].safe.assigned;
      const auto group = assigned ? std::optional(assigned->group) : std::nullopt;
      told.push_back({NodeId{j}, nodes_[j].life, {report(j), group, {}, !assigned}});
      seen.push_back({NodeId{j}, nodes_[j].life, digest(report(j).data), group, !assigned});
    }
    step(id, Expired{Timer::check},
         {Reorganize{{++nodes_[id].ticket}, nodes_[id].view.group.value(), told}});
    hook(id, Hook::reorganize, journal::Edge::begin, seen);
    hook(id, Hook::reorganize, journal::Edge::end);
    step(id, Reorganized{{nodes_[id].ticket}, task()});
  }

  /// Adds the lines of a node that accepts Ready: it saves the definition, and its application
  /// starts.
  void starts(std::uint32_t id, const std::string& definition = "task") {
    Node& node = nodes_[id];
    node.safe.assigned = Assigned{{definition}, node.view.group.value()};
    step(id, Expired{Timer::check},
         {Save{node.safe}, Start{{++node.ticket}, {definition}, *node.view.group}});
    performed(id);
    node.started = node.view.group;
    hook(id, Hook::start, journal::Edge::begin);
    hook(id, Hook::start, journal::Edge::end);
    node.view.status = Status::Normal;
    node.view.definition = digest(definition);
    step(id, Started{{node.ticket}});
  }

  /// Adds the lines of these nodes, which are all stopped in Election, as they become one group.
  /// The last of them is its coordinator.
  GroupNumber form(std::vector<std::uint32_t> members) {
    const std::uint32_t coordinator = members.back();
    const GroupNumber group{++counter_, NodeId{coordinator}};
    for (std::uint32_t id : members) joins(id, coordinator, group);
    reorganizes(coordinator, members);
    for (std::uint32_t id : members) starts(id);
    return group;
  }

  /// Adds the lines of these nodes: they are halted, and then become one group.
  GroupNumber reform(const std::vector<std::uint32_t>& members) {
    for (std::uint32_t id : members) is_halted(id);
    return form(members);
  }

  void ends(std::uint32_t id, int code = 0) {
    lines.emplace_back(journal::Ended{stamp(id), code, "asked to"});
  }

  struct Node {
    Incarnation life;
    std::uint64_t seq = 0;
    std::uint64_t ticket = 0;
    View view;
    SafeState safe;
    std::optional<GroupNumber> started;
  };
  Node& operator[](std::uint32_t id) { return nodes_[id]; }

  static Definition task() { return {"task"}; }
  static Report report(std::uint32_t id) { return {"held by " + std::to_string(id)}; }

  journal::Stamp stamp(std::uint32_t id) {
    Node& node = nodes_[id];
    return {tick(), NodeId{id}, node.life, ++node.seq};
  }

 private:
  Duration tick() { return now_ += Duration(1); }

  Config config_;
  Duration now_{};
  std::uint64_t counter_ = 0;
  std::map<std::uint32_t, Node> nodes_;
};

/// Journals of nodes that have all begun a life.
inline JournalBuilder recovered(std::uint32_t nodes, ProtocolName protocol = ProtocolName::bully) {
  JournalBuilder story(nodes, protocol);
  for (std::uint32_t id = 1; id <= nodes; ++id) story.recovers(id);
  return story;
}

}  // namespace muster::test
