#include <boost/test/unit_test.hpp>

// What BOOST_TEST_MODULE would make, for a header that was precompiled without it.
int main(int count, char* arguments[]) {
  const auto name_it = [] {
    boost::unit_test::framework::master_test_suite().p_name.value = "muster";
    return true;
  };
  return boost::unit_test::unit_test_main(name_it, count, arguments);
}
