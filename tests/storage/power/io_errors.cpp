#include "storage/power_trial.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>

// One I/O of a store fails, or all I/Os from that one on. The store then refuses everything.
// Whatever the cache and the disk contain, the next life of the store starts with all acknowledged
// data.

namespace muster::test {
namespace {

using Failing = SimulatedDisk::Failing;

constexpr int commits = 6;

void fail_each(Failing failing) {
  Tally tally;
  for (const WhichLife life : {WhichLife::first, WhichLife::later}) {
    bool reached = true;
    for (failing.number = 1; reached; ++failing.number)
      tally.add(fail_io(failing, life, commits, reached));
  }
  BOOST_TEST_MESSAGE(tally.failures << " failures, " << tally.cuts << " cuts, "
                                    << tally.acknowledged << " commits acknowledged");
  BOOST_TEST(tally.failures > 0U);
  for (const std::string& loss : tally.losses) BOOST_ERROR(loss);
  BOOST_TEST(tally.lost == 0U);
}

std::function<bool(Io)> any_of(std::initializer_list<Io> kinds) {
  return [wanted = std::vector<Io>(kinds)](Io kind) {
    return std::find(wanted.begin(), wanted.end(), kind) != wanted.end();
  };
}

const auto syncs = any_of({Io::sync, Io::sync_directory});
const auto writes = any_of({Io::write, Io::truncate});
const auto names = any_of({Io::create, Io::remove, Io::rename});
const auto reads = any_of({Io::open, Io::read});

using Error = SimulatedDisk::Error;

BOOST_AUTO_TEST_SUITE(a_failing_io_stops_the_store_and_loses_nothing)

BOOST_AUTO_TEST_CASE(sync_once) {
  fail_each({1, syncs, Error::io, false, false, true});
}
BOOST_AUTO_TEST_CASE(sync_once_and_the_cache_is_kept) {
  fail_each({1, syncs, Error::io, false, false, false});
}
BOOST_AUTO_TEST_CASE(sync_for_ever) {
  fail_each({1, syncs, Error::io, true, false, true});
}
BOOST_AUTO_TEST_CASE(write_once) {
  fail_each({1, writes, Error::io, false, false, true});
}
BOOST_AUTO_TEST_CASE(write_for_ever) {
  fail_each({1, writes, Error::io, true, false, true});
}
BOOST_AUTO_TEST_CASE(short_write_once) {
  fail_each({1, writes, Error::io, false, true, true});
}
BOOST_AUTO_TEST_CASE(disk_full_once) {
  fail_each({1, writes, Error::full, false, true, true});
}
BOOST_AUTO_TEST_CASE(disk_full_for_ever) {
  fail_each({1, writes, Error::full, true, true, true});
}
BOOST_AUTO_TEST_CASE(name_once) {
  fail_each({1, names, Error::io, false, false, true});
}
BOOST_AUTO_TEST_CASE(name_for_ever) {
  fail_each({1, names, Error::full, true, false, true});
}
BOOST_AUTO_TEST_CASE(read_once) {
  fail_each({1, reads, Error::io, false, false, true});
}
BOOST_AUTO_TEST_CASE(read_for_ever) {
  fail_each({1, reads, Error::io, true, false, true});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::test
