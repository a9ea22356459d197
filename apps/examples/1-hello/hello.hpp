#pragma once

#include <muster/adapters.hpp>

namespace muster::examples {

/// The coordinator calls this when all members have stopped. The definition it returns goes to
/// every member: here it is a greeting that names them all.
inline Definition hello(const Reorganization& all) {
  std::string names;
  for (const Member& member : all.members) names += ' ' + std::to_string(member.node.value);
  return {"hello," + names};
}

/// The application of a node. Once a group has its definition, each member is started with it, and
/// passes the text of the definition to `say`.
template <class Say>
MakeApplication greeter(Say say) {
  return [say](Services& node) {
    const auto greet = [say, self = node.self()](const Assignment& task) {
      say(self, task.definition.data + " in group " + std::to_string(task.group.counter));
    };
    return make_application(Functions{.reorganize = hello, .start = greet});
  };
}

}  // namespace muster::examples
