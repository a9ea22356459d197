#pragma once

#include <muster/values/describe.hpp>

#include <cstdint>

namespace MUSTER_EXPORT muster {
namespace host {

using muster::operator==;

/// The wire versions that this build speaks, both included.
constexpr std::uint8_t wire_oldest = 2;
constexpr std::uint8_t wire_newest = 3;

/// The wire versions that somebody speaks, both included.
struct WireVersions {
  std::uint8_t oldest = wire_oldest;
  std::uint8_t newest = wire_newest;
};
MUSTER_DESCRIBE(WireVersions, oldest, newest);

}  // namespace host
}  // namespace muster
