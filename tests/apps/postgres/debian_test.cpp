#include "apps/postgres/server/debian.hpp"

#include "apps/postgres/adopting/existing.hpp"
#include "storage/temporary_directory.hpp"

#include <boost/test/unit_test.hpp>

#include <fstream>

/// A database that Debian runs is a problem if it uses the same port.

namespace muster::postgres {
namespace {

namespace fs = std::filesystem;

struct Etc {
  Etc() {
    fs::create_directories(own());
    write("postgresql.conf", "#port = 1\nport = 5433\t# (change requires restart)\n");
    write("start.conf", "# Automatic startup configuration\n\nauto\n");
  }
  [[nodiscard]] fs::path own() const { return name / "15/main"; }
  void write(const char* file, const std::string& text) const {
    std::ofstream(own() / file) << text;
  }

  muster::test::TemporaryDirectory directory;
  fs::path name = directory.path();
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
  BOOST_TEST(!debians_own(name / "nowhere", 5433));
  write("start.conf", "manual\n");
  BOOST_TEST(!debians_own(name, 5433));
}

BOOST_AUTO_TEST_CASE(whose_data_a_directory_is) {
  const fs::path data = name / "lib/15/main";
  fs::create_directories(data);
  write("postgresql.conf", "data_directory = '" + (data / "../main").string() + "'\t# why\n");
  const auto its = whereabouts_of(data, name);
  BOOST_TEST_REQUIRE(its.has_value());
  BOOST_TEST_REQUIRE(its->debians.has_value());
  BOOST_TEST(its->debians->unit == "postgresql@15-main");
  BOOST_TEST(its->debians->begins_with_machine);
  BOOST_TEST(its->settings == own() / "postgresql.conf");
  // Debian's cluster is found by its settings, even when its data directory has moved.
  fs::remove_all(data);
  for (const auto& named : {own(), data}) {
    BOOST_TEST(whereabouts_of(named, name)->data == data);
    BOOST_TEST(whereabouts_of(named, name)->debians.has_value());
  }
}

BOOST_AUTO_TEST_CASE(what_is_not_debians_has_its_settings_itself) {
  const fs::path data = name / "mine";
  fs::create_directories(data);
  for (const auto& [file, text] :
       {std::pair("PG_VERSION", "15\n"), std::pair("postgresql.conf", "data_directory = '/x'\n")})
    std::ofstream(data / file) << text;
  const auto its = whereabouts_of(data, name);
  BOOST_TEST(its->data == data);
  BOOST_TEST(its->settings == data / "postgresql.conf");
  BOOST_TEST(!its->debians.has_value());
  write("postgresql.conf", "port = 1\n");
  BOOST_TEST(whereabouts_of(own(), name).error().what.find("sets no data_directory") !=
             std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::postgres
