#include "apps/command.hpp"

#include <signal.h>

// What a command of the lab says when Ctrl-C ends it.

namespace muster::apps {
namespace {

struct Interrupted : TestDirectory {
  /// Ctrl-C as soon as the command has said that; without it, as soon as it heeds the signal.
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
    BOOST_TEST(says(ran, "as far as depth "), ran.output);
    BOOST_TEST(!says(ran, " hold "), ran.output);
  }
}

// The first violation is told at once: the campaign would take hours.
BOOST_AUTO_TEST_CASE(a_campaign_has_told_what_was_violated) {
  const Ran ran = interrupt({"simulate", "--nodes", "5", "--faults", "partition", "--assertion",
                             "works-apart", "--seeds", "1..10000000"},
                            "  again: ");
  says_why(ran, 130, ": violated by seed ");
  says_all(ran, {"works-apart DOES NOT HOLD", "as far as ",
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
