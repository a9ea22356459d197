#include "apps/base/text.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>

namespace muster::apps {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(text)

BOOST_AUTO_TEST_CASE(durations_are_read_and_written) {
  BOOST_TEST(parse_duration("150ms") == 150ms);
  BOOST_TEST(parse_duration("2min") == 120s);
  BOOST_TEST(!parse_duration("").has_value());
  BOOST_TEST(!parse_duration("5").has_value());
  BOOST_TEST(!parse_duration("s").has_value());
  BOOST_TEST(!parse_duration("-5s").has_value());
  BOOST_TEST(!parse_duration("1.5s").has_value());
  BOOST_TEST(format_duration(150ms) == "150ms");
  BOOST_TEST(format_duration(120s) == "2min");
  BOOST_TEST(format_duration(1500ms) == "1500ms");
  BOOST_TEST(format_duration(0s) == "0ns");
}

BOOST_AUTO_TEST_CASE(words_of_a_command_are_quoted_where_a_shell_would_change_them) {
  BOOST_TEST(shell_word("docs/a-1.jsonl") == "docs/a-1.jsonl");
  BOOST_TEST(shell_word("preempt=after 5m") == "'preempt=after 5m'");
  BOOST_TEST(shell_word("it's") == "'it'\\''s'");
  BOOST_TEST(shell_word("$HOME") == "'$HOME'");
  BOOST_TEST(shell_word("") == "''");
}

BOOST_AUTO_TEST_CASE(sizes_are_read_and_written) {
  BOOST_TEST(parse_size("64MB").value() == 64'000'000u);
  BOOST_TEST(parse_size("16KiB").value() == 16'384u);
  BOOST_TEST(!parse_size("64").has_value());
  BOOST_TEST(!parse_size("99999999999GB").has_value());
  BOOST_TEST(format_size(64'000'000) == "64MB");
  BOOST_TEST(format_size(16'384) == "16KiB");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::apps
