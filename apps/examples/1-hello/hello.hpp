#pragma once

#include <muster/adapters.hpp>

namespace muster::examples {

/// On the coordinator, when all have stopped: what everybody is to say.
inline Definition hello(const Reorganization& all) {
  std::string names;
  for (const Member& member : all.members) names += ' ' + std::to_string(member.node.value);
  return {"hello," + names};
}

/// On every member, with what is done with it there.
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
