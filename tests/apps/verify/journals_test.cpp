#include "apps/journals/journals.hpp"
#include "apps/verify/journal_files.hpp"

#include <filesystem>

/// Journals that are read while their node goes on writing.

namespace muster::test {

// A node deletes its oldest segments when its journal has grown. Here it deletes them while the
// command reads them.
BOOST_AUTO_TEST_CASE(segments_that_are_deleted_while_they_are_read_are_read_to_their_end) {
  JournalFiles files;
  const auto oldest = files.write("n1.jsonl", "{\"t_ns\":1,\"a\":1}\n{\"t_ns\":2,\"a\":2}\n");
  const auto newest = files.write("n1.jsonl.1", "{\"t_ns\":3,\"a\":3}\n");
  const auto journals = apps::find_journals({oldest});
  BOOST_TEST_REQUIRE(journals.has_value());
  std::filesystem::remove(oldest);
  std::filesystem::remove(newest);
  for (int times = 0; times < 2; ++times) {
    apps::JournalReader reader(journals->front());
    apps::RawLine line;
    int count = 0;
    for (auto read = reader.next(line); read && *read; read = reader.next(line)) ++count;
    BOOST_TEST(count == 3);
  }
}

}  // namespace muster::test
