#include <boost/test/unit_test.hpp>

// What BOOST_TEST_MODULE would make, for a header that was precompiled without it.
int main(int count, char* arguments[]) {
  return boost::unit_test::unit_test_main([] { return true; }, count, arguments);
}
