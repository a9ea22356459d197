#include "apps/command.hpp"

#include <boost/test/data/test_case.hpp>

#include <cstdlib>

// Tests `muster simulate --app` with applications that bring down its process. Each time the
// command prints the seed and the command line that repeats it, and ends with exit code 1.

namespace muster::apps {
namespace {

struct How {
  const char* name;
  const char* said;  ///< the sentence about the seed
};

std::ostream& operator<<(std::ostream& out, const How& how) {
  return out << how.name;
}

Ran simulate(const char* how, const std::string& words) {
  ::setenv("MISBEHAVES", how, 1);
  const TestDirectory directory;
  return directory.muster("simulate --app " MUSTER_MISBEHAVING_LIBRARY " --faults none " + words);
}

/// Checks that the output contains the reason, the seed, and the command line that repeats this
/// seed.
void names_the_seed(const Ran& ran, const std::string& said) {
  BOOST_TEST(ran.code == 1, ran.output);
  says_all(ran, {"seed 7", said, "  again: muster simulate ", " --seeds 7..7 --out "});
}

constexpr How deadly[] = {
    {"aborts", "it aborted (SIGABRT)"},
    {"aborts-on-a-thread", "it aborted (SIGABRT)"},
    {"terminates", "it aborted (SIGABRT)"},
    {"uses-null", "(SIGSEGV)"},
    {"recurses", "its stack overflowed (SIGSEGV)"},
    {"divides", "(SIGFPE)"},
    {"traps", "SIG"},
    {"exits", "called exit()"},
};

BOOST_DATA_TEST_CASE(what_brings_the_process_down_is_told_with_its_seed,
                     boost::unit_test::data::make(deadly), how) {
  names_the_seed(simulate(how.name, "--seeds 7..7"), how.said);
  const Ran two = simulate(how.name, "--seeds 7..40 --threads 2");
  BOOST_TEST(two.code == 1, two.output);
  says_all(two, {how.said, "  again: muster simulate "});
}

constexpr How endless[] = {{"loops", ""}, {"posts-for-ever", ""}};

BOOST_DATA_TEST_CASE(a_seed_that_does_not_end_is_told, boost::unit_test::data::make(endless), how) {
  names_the_seed(simulate(how.name, "--seeds 7..7 --seed-limit 1"), "seed 7 has run for 1 s");
}

constexpr How told[] = {
    {"throws", "hooks DOES NOT HOLD: node "},
    {"is-not-made", "make_application gave no application"},
    {"says-broken", "application DOES NOT HOLD: node "},
    {"is-found", "application DOES NOT HOLD: the check is not content"},
};

BOOST_DATA_TEST_CASE(what_is_wrong_without_bringing_it_down_is_told_too,
                     boost::unit_test::data::make(told), how) {
  names_the_seed(simulate(how.name, "--seeds 7..7"), how.said);
}

BOOST_AUTO_TEST_CASE(the_planted_bug_of_the_document_is_found) {
  const TestDirectory directory;
  const Ran ran = directory.muster("simulate --app " MUSTER_INVOICES_LIBRARY
                                   " --faults crash,power-cut --seeds 1..100");
  BOOST_TEST(ran.code == 1, ran.output);
  says_all(ran, {"application DOES NOT HOLD: node ", ": invoice ", " twice (at ", "  again: "});
}

BOOST_AUTO_TEST_CASE(one_that_behaves_holds_and_its_check_is_counted) {
  const Ran ran = simulate("", "--seeds 1..20");
  ends_well(ran, {"application   holds; 20 checks", "hooks         holds; "});
}

BOOST_AUTO_TEST_CASE(failures_of_hooks_are_counted_and_the_first_is_told) {
  const Ran ran = simulate("throws", "--seeds 1..3");
  BOOST_TEST(ran.code == 1, ran.output);
  says_all(ran, {"hooks that failed without an injected fault: ", ", first in seed 1: node "});
}

}  // namespace
}  // namespace muster::apps
