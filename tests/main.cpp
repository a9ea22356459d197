#include <boost/test/framework.hpp>
#include <boost/test/tree/observer.hpp>
#include <boost/test/unit_test.hpp>

namespace {

/// Records whether a precondition has skipped a case, because Boost.Test ends with 0 in that case
/// too. Boost.Test also calls this for the cases that --run_test leaves out, but those cases are
/// not enabled.
struct Skips final : boost::unit_test::test_observer {
  bool any = false;
  void test_unit_skipped(const boost::unit_test::test_unit& unit,
                         boost::unit_test::const_string) override {
    any = any || unit.is_enabled();
  }
};

/// discover.cmake tells ctest that this exit code means skipped.
constexpr int skipped = 77;

}  // namespace

// The same `main` that BOOST_TEST_MODULE would define. The precompiled header is built without that
// macro.
int main(int count, char* arguments[]) {
  static Skips skips;
  const auto begin = [] {
    boost::unit_test::framework::register_observer(skips);
    return true;
  };
  const int code = boost::unit_test::unit_test_main(begin, count, arguments);
  return code == 0 && skips.any ? skipped : code;
}
