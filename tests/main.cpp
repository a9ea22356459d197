#include <boost/test/framework.hpp>
#include <boost/test/tree/observer.hpp>
#include <boost/test/unit_test.hpp>

namespace {

/// Notes whether a case was skipped, because of a precondition. Boost.Test ends with 0 then. Cases
/// that --run_test leaves out are told likewise: they are not enabled.
struct Skips final : boost::unit_test::test_observer {
  bool any = false;
  void test_unit_skipped(const boost::unit_test::test_unit& unit,
                         boost::unit_test::const_string) override {
    any = any || unit.is_enabled();
  }
};

/// discover.cmake tells ctest of it.
constexpr int skipped = 77;

}  // namespace

// What BOOST_TEST_MODULE would make, for a header that was precompiled without it.
int main(int count, char* arguments[]) {
  static Skips skips;
  const auto begin = [] {
    boost::unit_test::framework::register_observer(skips);
    return true;
  };
  const int code = boost::unit_test::unit_test_main(begin, count, arguments);
  return code == 0 && skips.any ? skipped : code;
}
