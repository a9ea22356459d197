#include "apps/command.hpp"

#include <signal.h>

// The output of a lab command that is ended by Ctrl-C.

namespace muster::apps {
namespace {

struct Interrupted : TestDirectory {
  /// Runs the command and sends it SIGINT as soon as it has printed `when`. If `when` is empty,
  /// sends SIGINT as soon as the command has a handler for it.
  [[nodiscard]] Ran interrupt(const std::vector<std::string>& words,
                              const std::string& when = "") const {
    const auto output = path / "output";
    auto process = Process::launch(muster_with(words, output));
    BOOST_REQUIRE(process.has_value());
    wait_until_catches(*process, SIGINT);
    if (!when.empty()) wait_until_says(*process, output, when);
    process->signal(SIGINT);
    const int status = process->wait();
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_all(output)};
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(interrupted, Interrupted)

BOOST_AUTO_TEST_CASE(a_search_says_how_far_it_came) {
  const std::vector<std::vector<std::string>> searches = {{"check", "--nodes", "5"},
                                                          {"check", "--nodes", "5", "--liveness"},
                                                          {"check", "--sessions", "--calls", "3"}};
  for (const auto& words : searches) {
    const Ran ran = interrupt(words);
    says_why(ran, 130, "interrupted after ");
    BOOST_TEST(says(ran, "up to depth "), ran.output);
    BOOST_TEST(!says(ran, " hold "), ran.output);
  }
}

// The first violation is printed at once, although the campaign would take hours.
BOOST_AUTO_TEST_CASE(a_campaign_has_told_what_was_violated) {
  const Ran ran = interrupt({"simulate", "--nodes", "5", "--faults", "partition", "--assertion",
                             "works-apart", "--seeds", "1..10000000"},
                            "  again: ");
  says_why(ran, 130, ": violated by seed ");
  says_all(ran, {"works-apart DOES NOT HOLD", "after ",
                 " of 10000000 seeds:", "group-grows   not violated", "faults: partition "});
}

BOOST_AUTO_TEST_CASE(a_campaign_without_a_violation_says_so) {
  const Ran ran = interrupt({"simulate", "--nodes", "3", "--seeds", "1..10000000", "--json"});
  says_why(ran, 130, "none of them violated an assertion");
  says_all(ran, {"\"interrupted\":true"});
  BOOST_TEST(!says(ran, "\"holds\":true"), ran.output);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::apps
