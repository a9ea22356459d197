#include <muster/detail/net/one_boost.hpp>

template <int boost_version>
void muster::net::built_with_boost() {}

template void muster::net::built_with_boost<BOOST_VERSION>();
