#include "fuzz/fuzzed_life.hpp"

#include <deque>

// Node 2 of three among liars, and what becomes of all three when these have gone.

namespace muster::fuzz {
namespace {

/// The others come as they are meant to be, and all become one group: also of a node that was told
/// so much. The paper's own text does not claim it.
void require_whole(FuzzedLife& two, const Config& config, const SafeState& safe) {
  if (two.is_over() || !config.repairs.tags || !config.invitation_repairs.tags) return;
  Input nothing(nullptr, 0);
  Peace<FuzzedLife> peace;
  peace.joins(two);
  std::deque<FuzzedLife> others;
  for (const NodeId node : {NodeId{1}, NodeId{3}}) {
    Config its = config;
    its.self = node;
    others.emplace_back(nothing, its, safe_of_another(node, two.sessions(), safe.incarnation));
    peace.joins(others.back());
  }
  for (FuzzedLife& other : others) other.begin();
  require(peace.becomes_whole());
}

}  // namespace
}  // namespace muster::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t longest = 800;  // what follows costs time and tells no more
  using namespace muster::fuzz;
  Input input(data, std::min(size, longest));
  const muster::Config config = config_from(input);
  const muster::SafeState safe = safe_from(input);
  FuzzedLife two(input, config, safe);
  two.live();
  require_whole(two, config, safe);
  return 0;
}
