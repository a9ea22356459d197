#include "apps/muster/config/config.hpp"

#include <boost/test/unit_test.hpp>

// hold_down in a configuration (docs/options.md).

namespace muster::apps {
namespace {

using namespace std::chrono_literals;

Expected<NodeConfig> read(const std::string& line) {
  return parse_config("[node]\nid = 1\ndata = \"n1\"\n[cluster]\nname = \"c\"\n" + line +
                          "\n[cluster.nodes]\n1 = \"127.0.0.1:7101\"\n",
                      "/c/n.toml");
}

BOOST_AUTO_TEST_SUITE(config_hold_down)

BOOST_AUTO_TEST_CASE(it_is_on_where_nothing_is_said) {
  BOOST_TEST((read("").value().cluster.hold_down == 1s));
}

BOOST_AUTO_TEST_CASE(it_is_off_at_zero_and_written_so_that_it_is_read_back) {
  const NodeConfig off = read("hold_down = \"0s\"").value();
  BOOST_TEST((off.cluster.hold_down == 0s));
  BOOST_TEST((parse_config(write_config(off), "/c/n.toml").value().cluster.hold_down == 0s));
  BOOST_TEST(off.cluster.canonical() != read("").value().cluster.canonical());
}

BOOST_AUTO_TEST_CASE(it_is_refused_beyond_five_minutes) {
  BOOST_TEST((read("hold_down = \"5min\"").value().cluster.hold_down == 5min));
  const auto refused = read("hold_down = \"301s\"");
  BOOST_TEST_REQUIRE(refused.has_error());
  BOOST_CHECK(refused.error().code == ExitCode::bad_configuration);
  BOOST_TEST(refused.error().what.starts_with("/c/n.toml:6: hold_down = \"301s\""),
             refused.error().what);
  BOOST_TEST(refused.error().what.find("from 0 on and up to 5min") != std::string::npos,
             refused.error().what);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::apps
