#include "fuzz/fuzzed_life.hpp"

#include <deque>

// Node 2 of three, whose peers lie. After the liars have gone, all three nodes must become one
// group.

namespace muster::fuzz {
namespace {

/// Honest peers replace the liars, and all three nodes must become one group, whatever the liars
/// have told node 2. The paper's own text does not promise this, so the function does not check it
/// there.
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
  constexpr std::size_t longest = 800;  // longer inputs cost time and find no more errors
  using namespace muster::fuzz;
  Input input(data, std::min(size, longest));
  const muster::Config config = config_from(input);
  const muster::SafeState safe = safe_from(input);
  FuzzedLife two(input, config, safe);
  two.live();
  require_whole(two, config, safe);
  return 0;
}
