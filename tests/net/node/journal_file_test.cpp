#include <journal_file.hpp>

#include "storage/temporary_directory.hpp"

#include <boost/test/unit_test.hpp>

#include <sys/stat.h>

#include <fstream>
#include <iterator>

/// The file of a journal: segments, fresh lines, and what becomes of one that cannot be written.

using namespace muster;
using net::JournalFile;
using net::JournalOptions;
using test::TemporaryDirectory;
namespace fs = std::filesystem;

namespace {

std::string text(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void put(const fs::path& file, std::string_view text) {
  std::ofstream(file, std::ios::binary | std::ios::app) << text;
}

const auto no_first_line = [](std::string&) {};

struct Directory {
  TemporaryDirectory directory;
  fs::path file = directory.path() / "journal.jsonl";
  [[nodiscard]] fs::path segment(int number) const {
    return file.string() + "." + std::to_string(number);
  }
  [[nodiscard]] JournalOptions limit(std::uint64_t bytes) const { return {file, bytes}; }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(journal_file, Directory)

BOOST_AUTO_TEST_CASE(lines_are_appended_as_they_come_and_are_there_at_once) {
  JournalFile journal(limit(1000), no_first_line);
  journal.append("one\n");
  BOOST_TEST(text(file) == "one\n");
  journal.append("two\n");
  BOOST_TEST(text(file) == "one\ntwo\n");
  BOOST_TEST(journal.dropped() == 0u);
}

BOOST_AUTO_TEST_CASE(only_its_owner_may_read_it) {
  const JournalFile journal(limit(1000), no_first_line);
  struct stat about {};
  BOOST_REQUIRE(::stat(file.c_str(), &about) == 0);
  BOOST_TEST((about.st_mode & 0777u) == 0600u);
}

BOOST_AUTO_TEST_CASE(a_full_segment_is_followed_by_one_that_begins_with_the_first_line) {
  JournalFile journal(limit(8), [](std::string& out) { out += "first\n"; });
  journal.append("12345\n");
  journal.make_room();
  BOOST_TEST(!fs::exists(segment(1)));
  journal.append("6\n");
  journal.make_room();
  BOOST_TEST(text(file) == "12345\n6\n");
  BOOST_TEST(text(segment(1)) == "first\n");
  journal.append("7\n");
  BOOST_TEST(text(segment(1)) == "first\n7\n");
  journal.make_room();
  BOOST_TEST(text(segment(2)) == "first\n");
}

// What a line says of the state is true of the lines after it only.
BOOST_AUTO_TEST_CASE(a_segment_begins_only_where_room_is_made) {
  JournalFile journal(limit(8), [](std::string& out) { out += "first\n"; });
  journal.append("a long line\n");
  journal.append("another long line\n");
  BOOST_TEST(text(file) == "a long line\nanother long line\n");
  BOOST_TEST(!fs::exists(segment(1)));
}

BOOST_AUTO_TEST_CASE(the_next_life_goes_on_in_the_last_segment) {
  {
    JournalFile journal(limit(8), [](std::string& out) { out += "first\n"; });
    journal.append("12345678\n");
    journal.make_room();
  }
  JournalFile journal(limit(8), no_first_line);
  journal.append("next life\n");
  BOOST_TEST(text(segment(1)) == "first\nnext life\n");
  BOOST_TEST(!fs::exists(segment(2)));
}

BOOST_AUTO_TEST_CASE(the_next_life_begins_a_segment_where_the_last_is_full) {
  put(file, "12345678\n");
  JournalFile journal(limit(8), [](std::string& out) { out += "first\n"; });
  journal.append("next life\n");
  BOOST_TEST(text(file) == "12345678\n");
  BOOST_TEST(text(segment(1)) == "next life\n");
}

BOOST_AUTO_TEST_CASE(a_torn_line_is_followed_by_a_fresh_one) {
  put(file, "whole\n{\"torn");
  JournalFile journal(limit(1000), no_first_line);
  journal.append("next life\n");
  BOOST_TEST(text(file) == "whole\n{\"torn\nnext life\n");
}

BOOST_AUTO_TEST_CASE(a_whole_line_is_not_followed_by_an_empty_one) {
  put(file, "whole\n");
  JournalFile journal(limit(1000), no_first_line);
  journal.append("next life\n");
  BOOST_TEST(text(file) == "whole\nnext life\n");
}

BOOST_AUTO_TEST_CASE(one_that_cannot_be_opened_is_dropped_and_its_lines_counted) {
  JournalFile journal({directory.path() / "nowhere" / "journal.jsonl", 8}, no_first_line);
  journal.append("one\n");
  journal.make_room();
  journal.append("two\n");
  BOOST_TEST(journal.dropped() == 2u);
}

// Each write to /dev/full fails as on a full disk.
BOOST_AUTO_TEST_CASE(one_that_cannot_be_written_is_dropped_and_its_lines_counted) {
  JournalFile journal({"/dev/full", 1000}, no_first_line);
  journal.append("one\n");
  journal.append("two\n");
  journal.append("three\n");
  BOOST_TEST(journal.dropped() == 3u);
}

BOOST_AUTO_TEST_CASE(one_whose_next_segment_cannot_be_opened_is_dropped_there) {
  JournalFile journal(limit(4), [](std::string& out) { out += "first\n"; });
  journal.append("1234\n");
  fs::create_directory(segment(1));
  journal.make_room();
  journal.append("two\n");
  journal.append("three\n");
  BOOST_TEST(text(file) == "1234\n");
  BOOST_TEST(journal.dropped() == 3u);  // the first line of the segment too
}

BOOST_AUTO_TEST_SUITE_END()
