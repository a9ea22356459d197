#include "apps/programs/inputs.hpp"

namespace muster::apps {
namespace {

std::optional<PreviousInput> previous_of(const HookContext& context) {
  if (!context.previous) return std::nullopt;
  const auto& [group, task, digest] = *context.previous;
  return PreviousInput{group, task.members, task.definition.data};
}

MemberInput input_of(const Member& member) {
  const Holdings& holdings = member.holdings;
  return {member.node,    member.incarnation,  holdings.report.data,
          holdings.group, holdings.definition, holdings.empty};
}

}  // namespace

StopInput input_of(NodeId self, const StopContext& context) {
  return {"stop", self, context.group, context.cause.reason, context.cause.by, context.deadline};
}

ReorganizeInput input_of(NodeId self, const Reorganization& context) {
  ReorganizeInput input{"reorganize",
                        self,
                        context.group,
                        context.group.coordinator,
                        {},
                        context.lost(),
                        context.came_back(),
                        previous_of(context),
                        context.deadline};
  for (const Member& member : context.members) input.members.push_back(input_of(member));
  return input;
}

StartInput input_of(NodeId self, const Assignment& context) {
  return {"start",
          self,
          context.group,
          context.group.coordinator,
          context.members,
          context.lost(),
          context.came_back(),
          context.definition.data,
          previous_of(context),
          context.deadline};
}

}  // namespace muster::apps
