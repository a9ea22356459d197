#pragma once

#include <muster/application.hpp>

#include <optional>
#include <string>
#include <vector>

/// The JSON that programs get on standard input: docs/how-to/programs.md. Bytes are sent as text.

namespace muster::apps {

using muster::operator==;

/// The node's previous assignment.
struct PreviousInput {
  GroupNumber group;
  NodeSet members;
  std::string definition;
};
MUSTER_DESCRIBE(PreviousInput, group, members, definition);

struct StopInput {
  std::string hook = "stop";
  NodeId node;
  std::optional<GroupNumber> group;
  StopReason reason{};
  std::optional<NodeId> by;
  Duration deadline{};
};
MUSTER_DESCRIBE(StopInput, hook, node, group, reason, by, deadline);

struct MemberInput {
  NodeId node;
  Incarnation incarnation;
  std::string report;
  std::optional<GroupNumber> group;
  std::optional<Digest> definition;
  bool empty{};
};
MUSTER_DESCRIBE(MemberInput, node, incarnation, report, group, definition, empty);

struct ReorganizeInput {
  std::string hook = "reorganize";
  NodeId node;
  GroupNumber group;
  NodeId coordinator;
  std::vector<MemberInput> members;
  NodeSet lost;
  NodeSet came_back;
  std::optional<PreviousInput> previous;
  Duration deadline{};
};
MUSTER_DESCRIBE(ReorganizeInput, hook, node, group, coordinator, members, lost, came_back, previous,
                deadline);

struct StartInput {
  std::string hook = "start";
  NodeId node;
  GroupNumber group;
  NodeId coordinator;
  NodeSet members;
  NodeSet lost;
  NodeSet came_back;
  std::string definition;
  std::optional<PreviousInput> previous;
  Duration deadline{};
};
MUSTER_DESCRIBE(StartInput, hook, node, group, coordinator, members, lost, came_back, definition,
                previous, deadline);

StopInput input_of(NodeId self, const StopContext& context);
ReorganizeInput input_of(NodeId self, const Reorganization& context);
StartInput input_of(NodeId self, const Assignment& context);

}  // namespace muster::apps
