#pragma once

// A Boost that stands in front of the one that Muster was built with.
#include_next <boost/version.hpp>

#undef BOOST_VERSION
#define BOOST_VERSION 109900
