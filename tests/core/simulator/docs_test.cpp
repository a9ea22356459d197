#include "core/simulator/ledger.hpp"

#include <boost/test/unit_test.hpp>

#undef NDEBUG
#include "lab_md.hpp"

// The code that docs/how-to/lab.md shows compiles and does what the page says.

namespace muster::test {
namespace {

BOOST_AUTO_TEST_CASE(the_ten_lines) {
  Acknowledged acknowledged;
  the_survivors_go_on(make_ledger(acknowledged));
  BOOST_TEST(acknowledged.size() == 5u);
}

BOOST_AUTO_TEST_CASE(a_second_failure) {
  Acknowledged acknowledged;
  the_successor_fails_too(make_ledger(acknowledged));
}

BOOST_AUTO_TEST_CASE(failing_everywhere) {
  Acknowledged acknowledged;
  std::size_t asked = 0;
  BOOST_TEST(survives_every_crash(make_ledger(acknowledged), [&](lab::World& world) {
    ++asked;
    return world.is_normal() ? std::nullopt : std::optional<std::string>("not Normal");
  }));
  BOOST_TEST(asked > 100u);
  BOOST_TEST(!survives_every_crash(
      make_ledger(acknowledged), [](lab::World&) { return std::optional<std::string>("never"); }));
}

}  // namespace
}  // namespace muster::test
