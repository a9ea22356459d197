#pragma once

#include <muster/values/describe.hpp>

#include <cstdint>

namespace MUSTER_EXPORT muster {
namespace host {

using muster::operator==;

/// The oldest and the newest wire version of this build, both included.
constexpr std::uint8_t wire_oldest = 2;
constexpr std::uint8_t wire_newest = 3;

/// The range of wire versions that a node speaks, both included.
struct WireVersions {
  std::uint8_t oldest = wire_oldest;
  std::uint8_t newest = wire_newest;
};
MUSTER_DESCRIBE(WireVersions, oldest, newest);

}  // namespace host
}  // namespace muster
