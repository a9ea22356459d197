#pragma once

#include <muster/detail/values/export.hpp>

#include <boost/version.hpp>

namespace MUSTER_EXPORT muster {
namespace net {

/// The library defines this function only for the version of Boost with which it was compiled.
template <int boost_version>
void built_with_boost();

/// Each file that uses Asio's types refers to the function for its own version of Boost. If a
/// program uses another version of Boost, it does not link, even if the linker drops unused
/// symbols.
#if __has_cpp_attribute(gnu::retain)
[[gnu::retain]]
#endif
[[gnu::used]] static void (*const same_boost)() = built_with_boost<BOOST_VERSION>;

}  // namespace net
}  // namespace muster
