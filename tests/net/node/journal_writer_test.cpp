#include <journal_writer.hpp>

#include "storage/temporary_directory.hpp"

#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

/// Lines handed to a thread, and disks that are full or hang.

using namespace muster;
using namespace std::chrono_literals;
using net::JournalOptions;
using net::JournalWriter;
namespace fs = std::filesystem;

namespace {

std::string written_in(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Written {
  test::TemporaryDirectory directory;
  fs::path file = directory.path() / "journal.jsonl";
  std::vector<std::string> told;
  [[nodiscard]] std::unique_ptr<JournalWriter> writer(Duration patience,
                                                      std::uint64_t limit = 1000) {
    return std::make_unique<JournalWriter>(
        JournalOptions{file, limit, 10'000}, patience,
        [this](const std::string& sentence) { told.push_back(sentence); });
  }
};

/// A disk that does not answer: a pipe that is full and nobody reads, until somebody does.
class Hanging {
 public:
  explicit Hanging(const fs::path& file) {
    BOOST_REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
    pipe_ = ::open(file.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    BOOST_REQUIRE(pipe_ >= 0);
    const std::string much(1 << 16, 'x');
    while (::write(pipe_, much.data(), much.size()) > 0) continue;
  }
  ~Hanging() { ::close(pipe_); }
  Hanging(const Hanging&) = delete;
  Hanging& operator=(const Hanging&) = delete;

  void read_all() {
    char some[4096];
    while (::read(pipe_, some, sizeof some) > 0) continue;
  }

 private:
  int pipe_ = -1;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(journal_writer, Written)

BOOST_AUTO_TEST_CASE(what_is_waited_for_is_written) {
  const auto journal = writer(20s);
  for (const char* line : {"one\n", "two\n"}) {
    journal->begin_step();
    journal->put({line, 1, 1, false});
    journal->await();
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

BOOST_AUTO_TEST_CASE(nothing_is_written_after_what_was_lost_until_it_begins_anew) {
  fs::create_symlink("/dev/full", file);
  const auto journal = writer(20s);
  const auto step = [&](const char* line) {
    journal->begin_step();
    journal->put({line, 1, 1, false});
    journal->await();
  };
  step("one\n");
  BOOST_TEST(journal->has_lost());
  fs::remove(file);
  step("two\n");
  BOOST_TEST(!fs::exists(file));
  BOOST_TEST(journal->dropped() == 2u);
  BOOST_TEST_REQUIRE(told.size() == 1u);
  BOOST_TEST(told[0].find(file.string() + " cannot be written: No space left on device; ") !=
             std::string::npos);
  BOOST_TEST(journal->may_try_again());
  BOOST_TEST(!journal->may_try_again());  // not at once again
  BOOST_TEST(journal->begin_anew() == 2u);
  step("three\n");
  BOOST_TEST(written_in(file) == "three\n");
  journal->begin_step();
  BOOST_TEST_REQUIRE(told.size() == 2u);
  BOOST_TEST(told[1] == "the journal " + file.string() + " is written again; 2 lines are missing");
}

// Once its patience is over it waits no more: else this would take for ever.
BOOST_AUTO_TEST_CASE(a_disk_that_hangs_is_waited_for_once) {
  Hanging disk(file);
  const auto journal = writer(1ms);
  const std::string line = std::string(1000, 'y') + '\n';
  for (int step = 0; step < 10'000; ++step) {
    journal->begin_step();
    journal->put({line, 1, 1, false});
    journal->await();
  }
  BOOST_TEST(journal->has_lost());  // what waits is bounded
  BOOST_TEST(journal->dropped() > 8'000u);
  BOOST_TEST(!journal->may_try_again());
  BOOST_TEST_REQUIRE(told.size() >= 1u);
  BOOST_TEST(told.size() <= 2u);
  while (!journal->may_try_again()) disk.read_all();
  BOOST_TEST(journal->begin_anew() == journal->dropped());
  disk.read_all();
}

BOOST_AUTO_TEST_CASE(a_disk_that_hangs_keeps_nobody_from_ending) {
  const Hanging disk(file);
  writer(1ms)->put({"one\n", 1, 1, false});
}

BOOST_AUTO_TEST_SUITE_END()
