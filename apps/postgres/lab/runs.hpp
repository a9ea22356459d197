#pragma once

#include "apps/postgres/lab/postgres_world.hpp"

#include "core/lab/src/simulator/random.hpp"

#include <boost/describe/enumerators.hpp>
#include <boost/mp11/list.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace muster::postgres::lab {

/// How often each kind of fault occurs, compared with the others.
using Weights =
    std::array<unsigned, boost::mp11::mp_size<boost::describe::describe_enumerators<What>>::value>;

/// The faults of one run.
struct Weather {
  explicit Weather(std::uint64_t seed);
  std::uint64_t one_in{};  ///< one move in this number is a fault
  Weights weights{};
};

/// A world, and the moves that led to it.
class Run {
 public:
  Run(const Options& options, std::uint64_t seed) : Run(options, seed, begun(options)) {}
  Run(const Options& options, std::uint64_t seed, PostgresWorld world)
      : options_(options), random_(seed), first_(world), world_(std::move(world)) {}

  void make(const Move& move);
  /// Makes a random move that is possible, perhaps a fault.
  void at_random(const Weather& weather);
  /// Makes a move that happens by itself. Returns false if there is none.
  bool in_peace();
  /// Ends all faults, and makes fault-free moves. Reports a violation if the world does not come to
  /// rest as claimed.
  void calm();
  /// Makes fault-free moves until all is calm, up to a limit.
  bool until_calm();

  [[nodiscard]] bool violated() const { return !world_.violated.empty(); }
  [[nodiscard]] PostgresWorld& world() { return world_; }
  [[nodiscard]] Counts& counts() { return counts_; }
  [[nodiscard]] Finding finding() const;

 private:
  void take_next_list();
  void upgrade();
  void come_to_rest();

  const Options& options_;
  muster::lab::simulated::Random random_;
  PostgresWorld first_;
  PostgresWorld world_;
  Counts counts_;
  std::vector<Move> made_;
};

}  // namespace muster::postgres::lab
