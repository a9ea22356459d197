#include <muster/journal/journal.hpp>

#include <boost/test/unit_test.hpp>

#include <fstream>

/// Lines as older programs wrote them.

namespace muster::test {

BOOST_AUTO_TEST_SUITE(lines_of_older_programs)

// This format is from the time when a coordinator decided at once which node is to blame, and did
// not wait for the end of a round.
BOOST_AUTO_TEST_CASE(a_state_with_calm_as_it_was_is_read) {
  std::ifstream file(MUSTER_GOLDEN "/journal.jsonl");
  std::string line;
  while (std::getline(file, line) &&
         line.find("\"state\":{\"s\":\"Normal\"") == std::string::npos) {
  }
  BOOST_TEST_REQUIRE(line.ends_with("}}"));
  line.insert(line.size() - 2,
              ",\"by_options\":{\"found_by\":null,\"installed\":false,\"preempt_armed\":false,"
              "\"rejoin_armed\":false,\"calm\":{\"unsteady\":[[1,{\"times\":1,\"last_ns\":5,"
              "\"held\":null}]],\"lost\":[1],\"blamed\":1,\"ceased\":[]}}");
  const auto read = journal::parse_line(line);
  BOOST_TEST(read.has_value(), (read ? "" : read.error().what));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::test
