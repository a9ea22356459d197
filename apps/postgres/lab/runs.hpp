#pragma once

#include "apps/postgres/lab/postgres_world.hpp"

#include "core/lab/src/simulator/random.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace muster::postgres::lab {

/// How often each kind of trouble comes, beside others.
using Weights = std::array<unsigned, 32>;

/// What troubles a run has.
struct Weather {
  explicit Weather(std::uint64_t seed);
  std::uint64_t one_in{};  ///< of so many moves one is a trouble
  Weights weights{};
};

/// A world and how it came to that.
class Run {
 public:
  Run(const Options& options, std::uint64_t seed) : Run(options, seed, begun(options)) {}
  Run(const Options& options, std::uint64_t seed, PostgresWorld world)
      : options_(options), random_(seed), first_(world), world_(std::move(world)) {}

  void make(const Move& move);
  /// One of what may happen, troubles among them.
  void at_random(const Weather& weather);
  /// One of what happens of itself; false where nothing does.
  bool in_peace();
  /// From now on nothing fails: complains where that does not come to the end that it has to.
  void calm();
  /// So many moves of peace, or until all is calm.
  bool until_calm();

  [[nodiscard]] bool violated() const { return !world_.violated.empty(); }
  [[nodiscard]] PostgresWorld& world() { return world_; }
  [[nodiscard]] Counts& counts() { return counts_; }
  [[nodiscard]] Finding finding() const;

 private:
  void take_next_list();
  void come_to_rest();

  const Options& options_;
  muster::lab::simulated::Random random_;
  PostgresWorld first_;
  PostgresWorld world_;
  Counts counts_;
  std::vector<Move> made_;
};

}  // namespace muster::postgres::lab
