// Three nodes in simulated time. The coordinator fails, and the next node takes over.
#include <muster/lab/world.hpp>

#include <cstdio>

int main() {
  muster::lab::World world(3, 1);
  if (!world.run_until_normal()) return 1;
  world.fail(muster::NodeId{3});
  if (!world.run_until_normal()) return 1;
  const auto coordinator = world.view(muster::NodeId{1}).coordinator;
  std::printf("coordinator %u\n", coordinator->value);
  return coordinator == muster::NodeId{2} && world.verify().holds() ? 0 : 1;
}
