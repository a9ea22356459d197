#include "apps/postgres/server/own_settings.hpp"
#include "storage/temporary_directory.hpp"

#include <boost/test/unit_test.hpp>

#include <fstream>

/// Reads settings from all files into one, as PostgreSQL reads them.

namespace muster::postgres {
namespace {

namespace fs = std::filesystem;

std::string text_of(std::string_view line) {
  const auto setting = setting_in(line);
  return setting ? setting->name + "=" + setting->value : "none";
}

struct Files {
  [[nodiscard]] fs::path at(const std::string& file) const { return directory.path() / file; }
  void write(const std::string& file, const std::string& text) const {
    fs::create_directories(at(file).parent_path());
    std::ofstream(at(file)) << text;
  }
  [[nodiscard]] Expected<OwnSettings> read() const {
    return read_settings(at("a.conf"), [](const std::string& each) { return each == "port"; });
  }

  muster::test::TemporaryDirectory directory;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(own_settings, Files)

BOOST_AUTO_TEST_CASE(a_line_sets_a_name_or_nothing) {
  BOOST_TEST(text_of("port = 5433\t# (change requires restart)") == "port=5433");
  BOOST_TEST(text_of("  Port 5433") == "port=5433");
  BOOST_TEST(text_of("port=5433#x") == "port=5433");
  BOOST_TEST(text_of("search_path = '\"$user\", ''a''' # '") == "search_path=\"$user\", 'a'");
  BOOST_TEST(text_of("x = 'it\\'s'") == "x=it's");
  BOOST_TEST(text_of("x = ''") == "x=");
  BOOST_TEST(text_of("plpgsql.extra = on") == "plpgsql.extra=on");
  for (const char* nothing : {"", "   ", "# port = 1", "\t#"})
    BOOST_TEST(text_of(nothing) == "none");
}

BOOST_AUTO_TEST_CASE(what_is_included_stands_where_it_was_included) {
  write("a.conf",
        "# first\nport = 1\ninclude 'b.conf'\ninclude_dir = 'd'\nlast = 1\n"
        "include_if_exists = 'not_there'\n");
  write("b.conf", "b = 1\n");
  write("d/2.conf", "port = 2\n");
  write("d/1.conf", "one = 1\n");
  write("d/.hidden.conf", "hidden = 1\n");
  write("d/other", "other = 1\n");
  const auto settings = read();
  BOOST_TEST_REQUIRE(settings.has_value());
  BOOST_TEST(settings->text ==
             "# first\n# left out by muster: port = 1\n# " + at("b.conf").string() +
                 ":\nb = 1\n# " + at("d/1.conf").string() + ":\none = 1\n# " +
                 at("d/2.conf").string() + ":\n# left out by muster: port = 2\nlast = 1\n");
  BOOST_TEST(settings->left_out.at("port") == "2");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_read_is_named) {
  BOOST_TEST(read().error().what == at("a.conf").string() + ": this settings file does not exist");
  write("a.conf", "include = 'b.conf'\n");
  BOOST_TEST(read().error().what == at("b.conf").string() + ": this settings file does not exist");
  write("b.conf", "include = 'a.conf'\n");
  BOOST_TEST(read().error().what.find("include each other") != std::string::npos);
  write("a.conf", "include_dir = 'e'\n");
  BOOST_TEST(read().error().what.starts_with(at("e").string() + ": cannot be read: "));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::postgres
