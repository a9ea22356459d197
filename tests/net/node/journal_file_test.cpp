#include <record/journal_file.hpp>

#include "storage/temporary_directory.hpp"
#include "written_in.hpp"

#include <boost/test/unit_test.hpp>

#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>
#include <set>

/// The files of a journal: segments, lines that follow a torn line, and files that cannot be
/// written.

using namespace muster;
using namespace muster::test;
using net::JournalFile;
using net::JournalOptions;
namespace fs = std::filesystem;

namespace {

void put(const fs::path& file, std::string_view text) {
  std::ofstream(file, std::ios::binary | std::ios::app) << text;
}

struct Directory {
  TemporaryDirectory directory;
  fs::path file = directory.path() / "journal.jsonl";
  [[nodiscard]] fs::path segment(int number) const {
    return file.string() + "." + std::to_string(number);
  }
  [[nodiscard]] JournalOptions limit(std::uint64_t bytes, std::uint64_t keep = 1000) const {
    return {file, bytes, keep};
  }
  [[nodiscard]] std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory.path()))
      names.insert(entry.path().filename().string());
    return names;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(journal_file, Directory)

BOOST_AUTO_TEST_CASE(lines_are_appended_as_they_come_and_are_there_at_once) {
  JournalFile journal(limit(1000));
  BOOST_TEST(journal.append("one\n"));
  BOOST_TEST(written_in(file) == "one\n");
  BOOST_TEST(journal.append("two\nthree\n"));
  BOOST_TEST(written_in(file) == "one\ntwo\nthree\n");
  BOOST_TEST(journal.size() == 14u);
}

BOOST_AUTO_TEST_CASE(only_its_owner_may_read_it) {
  JournalFile journal(limit(1000));
  BOOST_TEST(journal.append("one\n"));
  struct stat about {};
  BOOST_REQUIRE(::stat(file.c_str(), &about) == 0);
  BOOST_TEST((about.st_mode & 0777u) == 0600u);
}

BOOST_AUTO_TEST_CASE(a_segment_begins_where_it_is_asked_for) {
  JournalFile journal(limit(8));
  BOOST_TEST(journal.append("a long line\n"));
  BOOST_TEST(journal.append("another long line\n"));
  BOOST_TEST(!fs::exists(segment(1)));
  BOOST_TEST(journal.append("first\n", true));
  BOOST_TEST(written_in(file) == "a long line\nanother long line\n");
  BOOST_TEST(written_in(segment(1)) == "first\n");
  BOOST_TEST(journal.append("second\n", true));
  BOOST_TEST(written_in(segment(2)) == "second\n");
}

BOOST_AUTO_TEST_CASE(the_next_life_goes_on_in_the_last_segment) {
  {
    JournalFile journal(limit(8));
    journal.append("12345678\n");
    journal.append("first\n", true);
  }
  JournalFile journal(limit(8));
  journal.append("next life\n");
  BOOST_TEST(written_in(segment(1)) == "first\nnext life\n");
  BOOST_TEST(!fs::exists(segment(2)));
}

BOOST_AUTO_TEST_CASE(the_next_life_begins_a_segment_where_the_last_is_full) {
  put(file, "12345678\n");
  JournalFile journal(limit(8));
  journal.append("next life\n");
  BOOST_TEST(written_in(file) == "12345678\n");
  BOOST_TEST(written_in(segment(1)) == "next life\n");
}

BOOST_AUTO_TEST_CASE(a_torn_line_is_followed_by_a_fresh_one) {
  put(file, "whole\n{\"torn");
  JournalFile journal(limit(1000));
  journal.append("next life\n");
  BOOST_TEST(written_in(file) == "whole\n{\"torn\nnext life\n");
}

BOOST_AUTO_TEST_CASE(a_whole_line_is_not_followed_by_an_empty_one) {
  put(file, "whole\n");
  JournalFile journal(limit(1000));
  journal.append("next life\n");
  BOOST_TEST(written_in(file) == "whole\nnext life\n");
}

// All segments together take at most `keep` bytes, even when the present segment is full.
BOOST_AUTO_TEST_CASE(the_oldest_segments_are_deleted) {
  JournalFile journal(limit(10, 40));
  for (const char* line : {"1........\n", "2........\n", "3........\n", "4........\n"}) {
    BOOST_TEST(journal.append(line, line[0] != '1'));
    journal.delete_oldest();
  }
  BOOST_TEST(files() == (std::set<std::string>{"journal.jsonl.2", "journal.jsonl.3"}));
  BOOST_TEST(written_in(segment(3)) == "4........\n");
}

BOOST_AUTO_TEST_CASE(those_of_earlier_lives_count_and_their_numbers_go_on) {
  put(segment(7), "123456789\n");
  put(segment(8), "123456789\n");
  put(segment(10), "123456789\n");
  JournalFile journal(limit(10, 40));
  journal.append("next life\n");
  journal.delete_oldest();
  BOOST_TEST(files() == (std::set<std::string>{"journal.jsonl.10", "journal.jsonl.11"}));
}

BOOST_AUTO_TEST_CASE(what_is_no_segment_is_not_deleted) {
  put(fs::path(file.string() + ".1.gz"), std::string(100, 'x'));
  put(directory.path() / "other.jsonl", std::string(100, 'x'));
  fs::create_directory(segment(1));
  put(file, "123456789\n");
  JournalFile journal(limit(100, 200));
  journal.append("next life\n");
  journal.delete_oldest();
  BOOST_TEST(files().size() == 4u);
}

BOOST_AUTO_TEST_CASE(the_present_segment_is_never_deleted) {
  JournalFile journal(limit(10, 1));
  journal.append("123456789\n");
  journal.delete_oldest();
  BOOST_TEST(written_in(file) == "123456789\n");
}

BOOST_AUTO_TEST_CASE(one_that_cannot_be_opened_says_why_and_is_tried_again) {
  const fs::path folder = directory.path() / "later";
  JournalFile journal({folder / "journal.jsonl", 100, 1000});
  BOOST_TEST(!journal.append("one\n"));
  BOOST_TEST(journal.trouble() == "cannot be opened: No such file or directory");
  fs::create_directory(folder);
  BOOST_TEST(journal.append("two\n"));
  BOOST_TEST(written_in(folder / "journal.jsonl") == "two\n");
}

// Another program may try to make a node write into a file of its choice.
BOOST_AUTO_TEST_CASE(what_was_put_into_its_place_is_not_written_into) {
  const fs::path victim = directory.path() / "victim";
  put(victim, "precious\n");
  const auto refused = [&](const char* why) {
    BOOST_TEST(net::trouble_with_journal(file) == why);
    JournalFile journal(limit(1000));
    BOOST_TEST(!journal.append("one\n"));
    BOOST_TEST(journal.trouble() == why);
    fs::remove(file);
  };
  fs::create_symlink(victim, file);
  refused("is a symbolic link");
  fs::create_hard_link(victim, file);
  refused("has a second name (hard link)");
  BOOST_REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
  refused("is not a regular file");
  BOOST_TEST(written_in(victim) == "precious\n");
}

BOOST_AUTO_TEST_CASE(what_holds_something_else_is_no_journal) {
  BOOST_TEST(net::trouble_with_journal(file) == "");
  put(file, "");
  BOOST_TEST(net::trouble_with_journal(file) == "");
  put(file, R"({"jour)");  // a line torn by a full disk
  BOOST_TEST(net::trouble_with_journal(file) == "");
  put(file, "ney\":");
  BOOST_TEST(net::trouble_with_journal(file) == "is not a journal");
}

// The file system takes only a part of the lines.
BOOST_AUTO_TEST_CASE(what_was_written_in_part_is_taken_away_again) {
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit whole{};
  BOOST_REQUIRE(::getrlimit(RLIMIT_FSIZE, &whole) == 0);
  JournalFile journal(limit(1000));
  BOOST_TEST(journal.append("12345678\n"));
  const rlimit small{12, whole.rlim_max};
  BOOST_REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  const bool written = journal.append("two\nthree\n");
  BOOST_REQUIRE(::setrlimit(RLIMIT_FSIZE, &whole) == 0);
  std::signal(SIGXFSZ, before);
  BOOST_TEST(!written);
  BOOST_TEST(journal.trouble() == "cannot be written: File too large");
  BOOST_TEST(written_in(file) == "12345678\n");
  BOOST_TEST(journal.append("four\n"));  // in a segment that may grow
  BOOST_TEST(written_in(file) == "12345678\n");
  BOOST_TEST(written_in(segment(1)) == "four\n");
}

BOOST_AUTO_TEST_CASE(one_whose_next_segment_cannot_be_opened_goes_on_when_it_can) {
  JournalFile journal(limit(4));
  journal.append("1234\n");
  fs::create_directory(segment(1));
  BOOST_TEST(!journal.append("first\n", true));
  BOOST_TEST(journal.trouble() == "cannot be opened: Is a directory");
  fs::remove(segment(1));
  BOOST_TEST(journal.append("first\n"));
  BOOST_TEST(written_in(file) == "1234\n");
  BOOST_TEST(written_in(segment(1)) == "first\n");
}

BOOST_AUTO_TEST_SUITE_END()
