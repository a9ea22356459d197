#pragma once

// A different Boost that the compiler finds before the Boost with which Muster was built.
#include_next <boost/version.hpp>

#undef BOOST_VERSION
#define BOOST_VERSION 109900
