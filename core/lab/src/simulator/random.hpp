#pragma once

#include <muster/values/types.hpp>

#include <cstdint>

namespace muster::lab::simulated {

/// The random numbers of a run, all from one seed: the same with every compiler and library. The
/// generator is SplitMix64 (Steele, Lea, Flood 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t mixed = state_ += 0x9E3779B97F4A7C15;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
    return mixed ^ (mixed >> 31);
  }
  /// Less than `bound`, which is not 0.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  bool one_in(std::uint64_t times) { return below(times) == 0; }
  /// From `least` to `most`, both included.
  Duration between(Duration least, Duration most) {
    if (most <= least) return least;
    return least + Duration(static_cast<Duration::rep>(
                       below(static_cast<std::uint64_t>((most - least).count()) + 1)));
  }

 private:
  std::uint64_t state_;
};

}  // namespace muster::lab::simulated
