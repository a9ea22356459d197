#include <record/journal_writer.hpp>

#include "hanging_disk.hpp"
#include "storage/temporary_directory.hpp"
#include "written_in.hpp"

#include <thread>

/// The thread that writes lines of a journal, and disks that are full or hang.

using namespace muster;
using namespace muster::test;
using namespace std::chrono_literals;
using net::JournalOptions;
using net::JournalWriter;
namespace fs = std::filesystem;

namespace {

struct Written {
  TemporaryDirectory directory;
  fs::path file = directory.path() / "journal.jsonl";
  std::vector<std::string> told;
  [[nodiscard]] std::unique_ptr<JournalWriter> writer(Duration patience,
                                                      std::uint64_t limit = 1000) {
    return std::make_unique<JournalWriter>(
        JournalOptions{file, limit, 10'000}, patience,
        [this](const std::string& sentence) { told.push_back(sentence); });
  }
  static void step(JournalWriter& journal, const std::string& line) {
    journal.begin_step();
    journal.put({line, 1, 1, false});
    journal.await();
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(journal_writer, Written)

BOOST_AUTO_TEST_CASE(what_is_waited_for_is_written) {
  const auto journal = writer(20s);
  for (const char* line : {"one\n", "two\n"}) {
    step(*journal, line);
    BOOST_TEST(written_in(file).ends_with(line));
  }
  BOOST_TEST(!journal->has_lost());
  BOOST_TEST(journal->dropped() == 0u);
  BOOST_TEST(told.empty());
}

BOOST_AUTO_TEST_CASE(what_was_put_is_written_before_it_ends) {
  writer(20s)->put({"one\n", 1, 1, false});
  BOOST_TEST(written_in(file) == "one\n");
}

BOOST_AUTO_TEST_CASE(a_segment_that_is_full_is_known_when_its_lines_are_written) {
  const auto journal = writer(20s, 4);
  BOOST_TEST(!journal->is_full());
  journal->put({"one\n", 1, 1, false});
  journal->await();
  BOOST_TEST(journal->is_full());
  journal->put({"two\n", 1, 1, true});
  journal->await();
  BOOST_TEST(written_in(file) == "one\n");
  BOOST_TEST(written_in(file.string() + ".1") == "two\n");
}

BOOST_AUTO_TEST_CASE(nothing_is_written_after_a_loss_until_it_restarts) {
  file = directory.path() / "later" / "journal.jsonl";
  const auto journal = writer(20s);
  step(*journal, "one\n");
  BOOST_TEST(journal->has_lost());
  fs::create_directory(file.parent_path());
  step(*journal, "two\n");
  BOOST_TEST(!fs::exists(file));
  BOOST_TEST(journal->dropped() == 2u);
  BOOST_TEST_REQUIRE(told.size() == 1u);
  BOOST_TEST(told[0].find(file.string() + " cannot be opened: No such file or directory; ") !=
             std::string::npos);
  BOOST_TEST(journal->may_try_again());
  BOOST_TEST(!journal->may_try_again());  // the writer does not try again at once
  BOOST_TEST(journal->restart() == 2u);
  step(*journal, "three\n");
  BOOST_TEST(written_in(file) == "three\n");
  journal->begin_step();
  BOOST_TEST_REQUIRE(told.size() == 2u);
  BOOST_TEST(told[1] == "the journal " + file.string() + " is written again; 2 lines are missing");
}

// The writer waits for a hanging disk once, for a bounded time. If it waited again for each line,
// this test would take for ever.
BOOST_AUTO_TEST_CASE(a_disk_that_hangs_is_waited_for_once) {
  HangingDisk disk(file);
  const auto journal = writer(1ms);
  const std::string line = std::string(1000, 'y') + '\n';
  for (int steps = 0; steps < 10'000; ++steps) step(*journal, line);
  BOOST_TEST(journal->has_lost());  // the waiting lines are bounded
  BOOST_TEST(journal->dropped() > 8'000u);
  BOOST_TEST(!journal->may_try_again());
  BOOST_TEST_REQUIRE(told.size() >= 1u);
  BOOST_TEST(told.size() <= 2u);
  disk.answer();
  while (!journal->may_try_again()) std::this_thread::yield();
  BOOST_TEST(journal->restart() == journal->dropped());
}

BOOST_AUTO_TEST_CASE(a_disk_that_hangs_keeps_nobody_from_ending) {
  const HangingDisk disk(file);
  writer(1ms)->put({"one\n", 1, 1, false});
}

BOOST_AUTO_TEST_SUITE_END()
