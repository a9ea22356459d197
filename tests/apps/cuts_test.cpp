#include "apps/command.hpp"

// Worlds in which links stay cut: `muster check --cut`, `muster simulate --world`, and `muster
// verify` on the journals of such worlds.

namespace muster::apps {
namespace {

const std::string at_peace = "check --failures 0 --start normal --queue 3 --cut 1-3 ";

}  // namespace

BOOST_FIXTURE_TEST_SUITE(cuts, TestDirectory)

BOOST_AUTO_TEST_CASE(what_was_given_up_is_looked_at_only_when_asked_for) {
  ends_well(muster(at_peace), {"hook-grammar holds in all worlds",
                               "not claimed in this world: hook-grammar (P4: --cut, against"});
  const std::string journal = (path / "story.jsonl").string();
  const Ran asked = muster(at_peace + "--assertion works-apart -o " + journal);
  says_why(asked, 1, "assertion works-apart does not hold in this world");
  says_all(asked, {"not claimed in this world: works-apart (--cut, against assumption 8)"});
  BOOST_TEST(holds(journal, R"("fault":"cut","node":1,"from":[3])"));
  ends_well(muster("replay " + journal));
}

BOOST_AUTO_TEST_CASE(what_is_no_link_is_refused) {
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"--cut 1", "--cut: expected two of the nodes 1 to 3, such as 1-2, not '1'"},
      {"--cut 1-4", "not '1-4'"},
      {"--cut 2-2", "not '2-2'"},
      {"--cut 0-1", "not '0-1'"},
      {"--cut 1-2-3", "not '1-2-3'"},
      {"--cut 1-x", "not '1-x'"},
      {"--protocol invitation --liveness --cut 1-3",
       "--liveness asks for Assertion 4, which needs parts in which all nodes hear each other"}};
  for (const auto& [words, why] : refused) {
    const Ran ran = muster("check " + words);
    BOOST_TEST(ran.code == 2, ran.output);
    says_all(ran, {why});
  }
}

BOOST_AUTO_TEST_CASE(a_world_is_given_to_every_seed) {
  const std::string world = "simulate --nodes 3 --seeds 1..2 --world ";
  ends_well(muster(world + "'3s kill 3, 4s cut 1-3, 5s start 3, 9s heal, 15s end'"),
            {"2 seeds of 3 nodes", "30.0 s simulated"});
  const Ran again = muster(
      "simulate --nodes 3 --seeds 1..1 --world '3s cut 2-3, 5s end' "
      "-o " +
      path.string());
  ends_well(again);
  const Ran verified = muster("verify --assertion left-behind " + (path / "seed-1.jsonl").string());
  says_all(verified, {"left-behind", "nodes 2 and 3 do not hear each other"});
}

BOOST_AUTO_TEST_CASE(what_is_no_world_is_refused) {
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"--nodes 3 --world '2 cut 1-3'", "expected a time and a fault"},
      {"--nodes 3 --world '2s sever 1-3'", "expected a time and a fault"},
      {"--nodes 3 --world '2s kill'", "'2s kill' names no node"},
      {"--nodes 3 --world '2s kill 4'", "expected one of the nodes 1 to 3, not '4'"},
      {"--nodes 3 --world '2s cut'", "names no link, such as 1-3"},
      {"--nodes 3 --world '2s cut 1'", "expected two of the nodes 1 to 3, such as 1-2, not '1'"},
      {"--nodes 3 --world '2s heal 1-3'", "heal takes no node or link"},
      {"--nodes 3 --world '2s kill 1, 1s start 1'",
       "'1s start 1' is earlier than the entry before it"},
      {"--nodes 3 --world '2s end, 3s start 1'", "'3s start 1' comes after the end"},
      {"--nodes 3 --world ','", "expected a time"},
      {"--nodes 3..5 --world '2s kill 1'", "give --nodes one number, not a range"},
      {"--nodes 3 --faults crash --world '2s kill 1'", "crash is drawn"}};
  for (const auto& [words, why] : refused) {
    const Ran ran = muster("simulate " + words);
    BOOST_TEST(ran.code == 2, ran.output);
    says_all(ran, {why});
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::apps
