#include "apps/postgres/debian.hpp"

#include <boost/test/unit_test.hpp>

#include <stdlib.h>

#include <fstream>

/// A database that Debian runs is in the way of one that has its port.

namespace muster::postgres {
namespace {

namespace fs = std::filesystem;

struct Etc {
  Etc() {
    BOOST_REQUIRE(::mkdtemp(name.data()) != nullptr);
    fs::create_directories(own());
    write("postgresql.conf", "#port = 1\nport = 5433\t# (change requires restart)\n");
    write("start.conf", "# Automatic startup configuration\n\nauto\n");
  }
  ~Etc() { fs::remove_all(name); }
  [[nodiscard]] fs::path own() const { return fs::path(name) / "15/main"; }
  void write(const char* file, const std::string& text) const {
    std::ofstream(own() / file) << text;
  }

  std::string name = "/tmp/muster-etc-XXXXXX";
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(debian, Etc)

BOOST_AUTO_TEST_CASE(one_of_that_port_that_begins_with_the_machine_is_named) {
  const auto said = debians_own(name, 5433);
  BOOST_TEST_REQUIRE(said.has_value());
  BOOST_TEST(said->find("systemctl stop postgresql@15-main; echo manual > " + own().string()) !=
                 std::string::npos,
             *said);
  fs::remove(own() / "start.conf");
  BOOST_TEST(debians_own(name, 5433).has_value());
}

BOOST_AUTO_TEST_CASE(others_are_not_in_the_way) {
  BOOST_TEST(!debians_own(name, 5432));
  BOOST_TEST(!debians_own(name, 1));
  BOOST_TEST(!debians_own(fs::path(name) / "nowhere", 5433));
  write("start.conf", "manual\n");
  BOOST_TEST(!debians_own(name, 5433));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::postgres
