#include "troubles.hpp"

#include <algorithm>

/// Worlds in which links stay cut for long, drawn or given.

namespace muster::lab::simulated {

// --- Drawn

// Draws a few links, mostly such that no two nodes are rivals.
Cuts Troubles::some_links() {
  std::vector<Standing> all_up(nodes_);
  for (std::uint32_t i = 0; i < nodes_; ++i) {
    all_up[i].node = NodeId{i + 1};
    all_up[i].up = true;
  }
  constexpr int most_tries = 20;
  for (int tries = 1;; ++tries) {
    Cuts links;
    for (std::uint64_t more = 1 + random_links_.below(nodes_); more > 0; --more) {
      const NodeId low{1 + static_cast<std::uint32_t>(random_links_.below(nodes_ - 1))};
      const auto above = static_cast<std::uint32_t>(random_links_.below(nodes_ - low.value));
      links.insert({low, NodeId{low.value + 1 + above}});
    }
    if (tries == most_tries || !rivals(all_up, links)) return links;
  }
}

// Cuts links, and restarts nodes one after the other. A node that is left behind has time to notice
// that. During this time, hooks can be slow or fail. All links are whole before the time of peace,
// in which Assertion 2 is claimed.
void Troubles::keep_links_apart() {
  World& world = *world_;
  const Duration bound = left_behind_bounds(timings_).unheard + 2 * timings_.T;
  const auto some_node = [&] {
    return NodeId{1 + static_cast<std::uint32_t>(random_links_.below(nodes_))};
  };
  if (random_links_.one_in(2)) world.run_until_normal();
  peace_ = false;
  const bool down_before = random_links_.one_in(2);
  const NodeId first = some_node();
  if (down_before) world.fail(first);
  const Cuts links = some_links();
  const bool both = has(Trouble::lasting_cut) && has(Trouble::refusal);
  for (const auto& [i, j] : links) {
    const bool cuts = both ? random_links_.one_in(2) : has(Trouble::lasting_cut);
    if (cuts ? world.cut(i, NodeSet{j}) : world.refuse(i, j))
      count(cuts ? Trouble::lasting_cut : Trouble::refusal);
  }
  const auto restart_soon = [&](NodeId node) {
    world.run_for(random_links_.between({}, timings_.T * 3));
    world.restart(node);
  };
  if (down_before) restart_soon(first);
  for (std::uint64_t more = random_links_.below(4); more > 0; --more) {
    world.run_for(random_links_.between({}, bound * 2));
    const NodeId node = some_node();
    if (world.fail(node)) restart_soon(node);
  }
  world.run_for(random_links_.between(bound, bound * 2));
  peace_ = true;
  world.heal();
}

// --- Given

void Troubles::do_as_given() {
  for (const Deed& deed : simulation_.given) {
    world_->run_for(deed.at - world_->now());
    do_now(deed);
  }
}

void Troubles::do_now(const Deed& deed) {
  switch (deed.what) {
    case Deed::What::kill:
      world_->fail(deed.node);
      break;
    case Deed::What::start:
      world_->restart(deed.node);
      break;
    case Deed::What::cut:
      world_->cut(deed.node, NodeSet{deed.other});
      break;
    case Deed::What::heal:
      world_->heal();
      break;
    case Deed::What::refuse:
      world_->refuse(deed.node, deed.other);
      break;
    case Deed::What::end:
      break;
  }
}

}  // namespace muster::lab::simulated
