#include "core/lab/findings.hpp"
#include "core/lab/src/checker/checked_world.hpp"

#include <muster/lab/checker.hpp>
#include <muster/values/archive.hpp>
#include <muster/values/text.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

/// The canonical form drops only numbers and fields that can have no effect. These tests compare it
/// with worlds that have their true numbers and all their fields. Whether the search makes a world
/// canonical before a step or after it, it must reach the same canonical worlds.

namespace muster::lab::explored {

namespace {

constexpr unsigned walks = 4;
constexpr unsigned steps = 150;

// The bytes of a world. Its numbers are those that a search has assigned to values.
std::string bytes_of(const CheckedWorld& world, std::size_t nodes) {
  std::string bytes;
  const auto add = [&](auto number) { bytes += std::to_string(number) + ' '; };
  for (std::size_t i = 0; i < nodes; ++i) add(world.node[i]);
  add(world.left);
  for (std::size_t i = 0; i < nodes * nodes; ++i) add(unsigned{world.length[i]});
  for (std::size_t i = 0; i < world.items; ++i) add(world.item[i]);
  return bytes;
}

Bounds with_true_numbers(Bounds bounds) {
  if (leaves_out_counter_test(bounds)) bounds.struck.push_back(Line::counter_test);
  bounds.canonical = false;
  return bounds;
}

Bounds with_room(Bounds bounds) {
  bounds.counters = keeps_counters(bounds);
  bounds.queue = 8;
  bounds.liveness = false;
  return bounds;
}

class Pair {
 public:
  explicit Pair(const Bounds& bounds)
      : canonical_(bounds),
        true_(with_true_numbers(bounds)),
        canonical_mover_(canonical_),
        true_mover_(true_) {}

  void walk(std::mt19937_64& random) {
    CheckedWorld world = true_mover_.first();
    for (unsigned step = 0; step < steps; ++step) {
      if (!compare(world)) return;
      const std::vector<CheckedWorld> next = successors(true_mover_, world);
      if (next.empty()) return;
      world = next[random() % next.size()];
    }
  }

 private:
  using Worlds = std::set<std::string>;

  [[nodiscard]] std::size_t nodes() const { return canonical_.bounds.nodes; }
  std::string canon(const CheckedWorld& world) {
    return bytes_of(canonical_mover_.canonical_of(true_, world), nodes());
  }

  /// The successors that violate no assertion and fit into the bounds.
  std::vector<CheckedWorld> successors(Mover& mover, const CheckedWorld& world) {
    std::vector<CheckedWorld> next;
    std::vector<Label> labels;
    mover.labels(world, labels);
    for (const Label& label : labels) {
      CheckedWorld after = world;
      std::uint32_t wrong = 0;
      if (mover.move(after, label, wrong) && !wrong) next.push_back(after);
    }
    return next;
  }

  /// Delivers letters that can have no effect and are first in their queue, since the canonical
  /// form has none of these.
  CheckedWorld without_what_is_ineffective(CheckedWorld world) {
    for (bool again = true; std::exchange(again, false);) {
      for (std::uint8_t to = 0; to < nodes(); ++to)
        for (std::uint8_t from = 0; from < nodes(); ++from) {
          const auto label = true_mover_.ineffective_first(world, to, from);
          if (!label || from == to) continue;
          std::uint32_t wrong = 0;
          BOOST_REQUIRE(true_mover_.move(world, *label, wrong));
          again = true;
        }
    }
    return world;
  }

  bool compare(const CheckedWorld& world) {
    const CheckedWorld form = canonical_mover_.canonical_of(true_, world);
    CheckedWorld spent = form;
    Worlds of_form{bytes_of(form, nodes())};
    for (const CheckedWorld& next : successors(canonical_mover_, form))
      of_form.insert(bytes_of(next, nodes()));
    bool same = true;
    for (const CheckedWorld& next : successors(true_mover_, world)) {
      spent.left = next.left;  // a fault that hits a letter without an effect changes nothing else
      const std::string after = canon(next);
      same = same && (of_form.contains(after) || after == bytes_of(spent, nodes()));
    }
    BOOST_TEST(same, "a step with true numbers leads where no canonical one does");
    Worlds of_true{bytes_of(form, nodes())};
    const CheckedWorld ready = without_what_is_ineffective(world);
    BOOST_TEST(canon(ready) == bytes_of(form, nodes()));
    for (const CheckedWorld& next : successors(true_mover_, ready)) of_true.insert(canon(next));
    const bool all = std::includes(of_true.begin(), of_true.end(), of_form.begin(), of_form.end());
    BOOST_TEST(all, "a canonical step leads where none with true numbers does");
    return same && all;
  }

  Values canonical_;
  Values true_;
  Mover canonical_mover_;
  Mover true_mover_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(canonical)

BOOST_AUTO_TEST_CASE(a_step_after_it_leads_where_one_before_it_does) {
  for (const findings::Row& row : findings::rows()) {
    if (!row.quick) continue;
    BOOST_TEST_CONTEXT(row.id << ": " << findings::command_of(row.bounds)) {
      Pair pair(with_room(row.bounds));
      for (unsigned seed = 1; seed <= walks; ++seed) {
        std::mt19937_64 random(seed);
        pair.walk(random);
      }
    }
  }
}

// The same test for options with moments in time. The canonical form does not keep how long ago a
// moment was. The canonical form does not count quiet Checks, so this test has no back-off. The
// canonical form can reuse the numbers of a life that is over, so this test has no failures if
// there are grants. With calm it keeps the order of group counters, but two searches begin with
// different counters, so this test leaves calm out.
BOOST_AUTO_TEST_CASE(and_so_it_does_where_time_passes) {
  for (const std::uint32_t nodes : {2U, 3U}) {
    Bounds bounds;
    bounds.nodes = nodes;
    bounds.options.quorum = Quorum::majority;
    bounds.repairs.back_off = false;
    bounds.failures = 0;
    bounds.wrong_timeouts = 2;
    bounds.pauses = 3;
    for (std::uint32_t id = 1; id <= nodes; ++id) bounds.start.insert(NodeId{id});
    BOOST_TEST_CONTEXT(findings::command_of(bounds)) {
      Pair pair(with_room(bounds));
      for (unsigned seed = 1; seed <= 2 * walks; ++seed) {
        std::mt19937_64 random(seed);
        pair.walk(random);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::lab::explored
