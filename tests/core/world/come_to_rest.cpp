#include "come_to_rest.hpp"

namespace muster::test {

std::optional<std::string> come_to_rest(World& world, bool must_settle, Return back) {
  world.inject.reset();
  const auto rest = [&](const char* when) -> std::optional<std::string> {
    const Duration peace = world.now;
    if (world.settle()) {
      const Duration bound = settling_bound(world[1].config);
      if (world.settled_at - peace <= bound || !must_settle) return std::nullopt;
      return std::string("they come together too late ") + when;
    }
    if (!must_settle) return std::nullopt;
    return std::string("they never come together ") + when;
  };
  world.heal();
  for (std::uint32_t i = 1; i <= world.size(); ++i) {
    world.resume(i);
    if (world[i].cluster.empty()) continue;
    world.fail(i);
    world.differ(i);
  }
  for (std::uint32_t i = 1; i <= world.size(); ++i) {
    if (back == Return::one_by_one)
      if (auto late = rest("with some nodes down")) return late;
    world.recover(i);
  }
  return rest("with all nodes up");
}

}  // namespace muster::test
