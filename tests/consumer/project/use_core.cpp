// The only node of a cluster recovers, elects itself and stops its application.
#include <muster/protocol/bully.hpp>

#include <cstdio>

int main() {
  const muster::NodeId self{1};
  muster::Config config;
  config.self = self;
  config.nodes = {self};
  muster::SafeState safe;
  safe.incarnation = {1};
  muster::bully::State state;
  const muster::Actions actions = muster::bully::step(config, state, muster::Recovered{safe});
  const muster::View view = muster::bully::view(config, state);
  std::printf("%zu actions, procedure %s\n", actions.size(),
              std::string(muster::enumerator_name(view.procedure)).c_str());
  return !actions.empty() && view.coordinator == self ? 0 : 1;
}
