#pragma once

#include <muster/detail/values/export.hpp>

#include <boost/version.hpp>

namespace MUSTER_EXPORT muster {
namespace net {

/// The library has this function for the Boost that it was compiled with, and for no other.
template <int boost_version>
void built_with_boost();

/// A file with Asio's types asks for that of its own Boost: with another one nothing links,
/// even if the linker drops what is unused.
#if __has_cpp_attribute(gnu::retain)
[[gnu::retain]]
#endif
[[gnu::used]] static void (*const same_boost)() = built_with_boost<BOOST_VERSION>;

}  // namespace net
}  // namespace muster
