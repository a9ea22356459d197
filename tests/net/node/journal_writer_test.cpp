#include <disk_trust.hpp>
#include <journal_writer.hpp>
#include <life_journal.hpp>

#include "hanging_disk.hpp"
#include "storage/temporary_directory.hpp"
#include "written_in.hpp"

#include <boost/test/unit_test.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <iterator>

/// Lines handed to a thread, and disks that are full or hang.

using namespace muster;
using namespace std::chrono_literals;
using net::JournalOptions;
using net::JournalWriter;
using test::written_in;
namespace fs = std::filesystem;

namespace {

struct Written {
  test::TemporaryDirectory directory;
  fs::path file = directory.path() / "journal.jsonl";
  std::vector<std::string> told;
  [[nodiscard]] std::shared_ptr<JournalWriter> writer(Duration patience,
                                                      std::uint64_t limit = 1000) {
    return std::make_shared<JournalWriter>(
        JournalOptions{file, limit, 10'000}, patience,
        [this](const std::string& sentence) { told.push_back(sentence); });
  }
};

/// How often the threads of this process but the caller's have waited for something.
std::uint64_t waits_of_other_threads() {
  std::uint64_t all = 0;
  for (const auto& task : fs::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == std::to_string(::gettid())) continue;
    std::ifstream status(task.path() / "status");
    for (std::string word; status >> word;) {
      std::uint64_t count = 0;
      if (word == "voluntary_ctxt_switches:" && status >> count) all += count;
    }
  }
  return all;
}

/// True where one of twenty times that it is done none of them has: the first ones may find the
/// thread still at work.
bool wakes_nobody(const std::function<void()>& done) {
  for (int times = 0; times < 20; ++times) {
    const std::uint64_t before = waits_of_other_threads();
    done();
    if (waits_of_other_threads() == before) return true;
  }
  return false;
}

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

BOOST_AUTO_TEST_CASE(what_may_be_is_written_at_once_where_the_disk_answers) {
  const auto journal = writer(20s, 1 << 20);
  std::string all;
  const auto write_some = [&](bool at_once) {
    for (int line = 0; line < 50; ++line) {
      journal->begin_step();
      journal->put({"line\n", 1, 1, false, at_once});
      journal->await();
      all += "line\n";
    }
  };
  write_some(false);
  BOOST_TEST(!wakes_nobody([&] { write_some(false); }));
  BOOST_TEST(wakes_nobody([&] { write_some(true); }));
  BOOST_TEST(written_in(file) == all);
}

// Whoever writes would get a signal for it.
BOOST_AUTO_TEST_CASE(a_file_that_may_grow_no_more_ends_nobody) {
  const auto journal = writer(20s, 1 << 20);
  rlimit before{};
  BOOST_REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit limit{1000, before.rlim_max};
  const int was_set = ::setrlimit(RLIMIT_FSIZE, &limit);
  for (int line = 0; line < 300 && !journal->has_lost(); ++line) {
    journal->begin_step();
    journal->put({"line\n", 1, 1, false, line > 0});
    journal->await();
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  BOOST_TEST(was_set == 0);
  BOOST_TEST(journal->has_lost());
  BOOST_TEST(fs::file_size(file) == 1000u);
}

// Else this would take for ever.
BOOST_AUTO_TEST_CASE(a_pipe_is_never_written_to_at_once) {
  test::HangingDisk disk(file);
  disk.read_all();
  const auto journal = writer(1s);
  journal->put({"one\n", 1, 1, false, true});
  journal->await();
  const std::string line = std::string(1 << 16, 'y') + '\n';
  for (int more = 0; more < 3; ++more) journal->put({line, 1, 1, false, true});
  while (!journal->may_try_again()) disk.read_all();
  BOOST_TEST(!journal->has_lost());
}

// Once its patience is over it waits no more: else this would take for ever.
BOOST_AUTO_TEST_CASE(a_disk_that_hangs_is_waited_for_once) {
  test::HangingDisk disk(file);
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
  const test::HangingDisk disk(file);
  writer(1ms)->put({"one\n", 1, 1, false});
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(disk_trust)

namespace {

constexpr net::DiskTrust::Time at(Duration t) {
  return net::DiskTrust::Time(1h + t);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_disk_that_was_never_written_to_is_not_trusted) {
  const net::DiskTrust trust(10ms);
  BOOST_TEST(!trust.allows(at(0ms)));
}

BOOST_AUTO_TEST_CASE(a_disk_that_answers_in_time_is_trusted_for_eight_patiences) {
  net::DiskTrust trust(10ms);
  trust.wrote(at(0ms), at(10ms), true);
  BOOST_TEST(trust.allows(at(10ms)));
  BOOST_TEST(trust.allows(at(89ms)));
  BOOST_TEST(!trust.allows(at(90ms)));
}

// So somebody who may wait for it writes now and then.
BOOST_AUTO_TEST_CASE(what_is_written_on_trust_prolongs_none) {
  net::DiskTrust trust(10ms);
  trust.wrote(at(0ms), at(1ms), true);
  trust.wrote(at(80ms), at(80ms), false);
  BOOST_TEST(!trust.allows(at(81ms)));
}

BOOST_AUTO_TEST_CASE(a_disk_that_was_slow_is_not_trusted_for_a_minute) {
  net::DiskTrust trust(10ms);
  trust.wrote(at(0ms), at(11ms), false);
  trust.wrote(at(12ms), at(13ms), true);
  BOOST_TEST(!trust.allows(at(14ms)));
  trust.wrote(at(60s), at(60s), true);
  BOOST_TEST(!trust.allows(at(60s)));
  BOOST_TEST(trust.allows(at(60s + 11ms)));
}

BOOST_AUTO_TEST_CASE(a_disk_that_could_not_be_written_is_not_trusted) {
  net::DiskTrust trust(10ms);
  trust.wrote(at(0ms), at(1ms), true);
  trust.failed();
  BOOST_TEST(!trust.allows(at(2ms)));
}

BOOST_AUTO_TEST_SUITE_END()

// No line may keep the strand from stopping what works.
BOOST_FIXTURE_TEST_CASE(lines_are_written_at_once_while_no_application_works, Written) {
  std::uint64_t number = 0;
  net::LifeJournal journal(writer(20s, 1 << 20), journal::Detail::all, {}, [&](Duration t) {
    return journal::Stamp{t, NodeId{1}, {}, ++number};
  });
  journal.begin();
  const auto write_some = [&] {
    for (int line = 0; line < 50; ++line)
      journal.line(1ms, [](std::string& out, const journal::Stamp& stamp) {
        journal::performed_line(out, stamp);
      });
  };
  write_some();
  BOOST_TEST(!wakes_nobody(write_some));  // there was no stop yet
  journal.works(false);
  BOOST_TEST(wakes_nobody(write_some));
  journal.works(true);
  BOOST_TEST(!wakes_nobody(write_some));
}
