#define BOOST_TEST_MODULE muster
#include <boost/test/unit_test.hpp>
