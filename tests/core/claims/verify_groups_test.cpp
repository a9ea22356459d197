#include "judgement.hpp"

/// The verifier on journals of protocols other than the Bully. For each protocol the verifier
/// judges only the assertions that this protocol claims.

using namespace muster;
using namespace muster::test;

namespace {

std::vector<std::string> judged(const Judgement& judgement) {
  std::vector<std::string> names;
  for (const verify::Verdict& verdict : judgement.outcome.verdicts)
    names.push_back(std::visit([](const auto& kind) { return kind.assertion; }, verdict));
  return names;
}

/// Three nodes of the Invitation algorithm. Node 3 is cut off, and each side forms a group.
JournalBuilder cut_apart() {
  JournalBuilder story = recovered(3, ProtocolName::invitation);
  story.form({1, 2, 3});
  story.fault(FaultKind::cut, 3);
  for (std::uint32_t id : {1U, 2U, 3U}) story.is_halted(id);
  story.form({3});
  story.form({1, 2});
  return story;
}

struct CutApart {
  JournalBuilder story = cut_apart();
};

}  // namespace

BOOST_AUTO_TEST_SUITE(groups)

BOOST_AUTO_TEST_CASE(side_by_side_are_what_the_invitation_is_for) {
  const Judgement judgement = judge(cut_apart());
  const std::vector<std::string> claimed{"3a", "3b", "4", "group-grows", "durable", "hook-grammar"};
  BOOST_TEST(judged(judgement) == claimed, boost::test_tools::per_element());
  BOOST_TEST(judgement.violated() == "");
  BOOST_TEST(judgement.holds("3a"));
  BOOST_TEST(judgement.holds("3b"));
  BOOST_TEST_REQUIRE(judgement.not_claimed.size() == 1u);
  BOOST_TEST(judgement.not_claimed.front().cause == "P4, assumption 8: cut");
}

BOOST_FIXTURE_TEST_CASE(of_one_number_have_one_coordinator_and_one_definition, CutApart) {
  const GroupNumber group = *story[2].view.group;
  story.is_halted(3);
  story.joins(3, 3, group);
  BOOST_TEST(judge(story).violated() == "3a");
  story[3].view.coordinator = NodeId{2};
  story.starts(3, "another task");
  BOOST_TEST(judge(story).why("3b").find("in group 3.2") != std::string::npos);
}

// The coordinator keeps the number of its group in safe storage (assumption 4).
BOOST_AUTO_TEST_CASE(of_a_node_that_was_wiped_may_have_an_old_number) {
  for (const bool wiped : {true, false}) {
    JournalBuilder story = cut_apart();
    const GroupNumber group = *story[2].view.group;
    story.fault(FaultKind::power_cut, 2);
    if (wiped) story.fault(FaultKind::wiped, 2);
    if (wiped) story[2].safe = {};
    story.recovers(2);
    story.joins(2, 2, group);
    story.starts(2, "another task");
    const Judgement judgement = judge(story, wiped ? "" : "3b group-grows");
    BOOST_TEST(judgement.not_claimed.size() == (wiped ? 3u : 1u));
  }
}

BOOST_AUTO_TEST_CASE(that_no_longer_grow_are_no_fault_of_the_paper_s_text) {
  JournalBuilder story(1, ProtocolName::invitation);
  for (const bool literal : {false, true}) {
    JournalBuilder one = story;
    one.recovers(1);
    one.joins(1, 1, {2, NodeId{1}});
    one.enter_election(1);
    one.joins(1, 1, {1, NodeId{1}});
    for (journal::Line& line : one.lines)
      if (auto* header = std::get_if<journal::Header>(&line))
        if (literal) header->config.invitation_repairs = invitation::Repairs::none();
    BOOST_TEST(judge(one).violated() == (literal ? "" : "group-grows"));
  }
}

// A member may leave before the reorganization and form a group of its own: no node has to stay in
// a group.
BOOST_AUTO_TEST_CASE(may_be_left_by_a_member_before_they_are_reorganized) {
  for (const auto protocol : {ProtocolName::invitation, ProtocolName::bully}) {
    JournalBuilder story = recovered(2, protocol);
    story.joins(1, 2, {1, NodeId{2}});
    story.enter_election(1);
    story.joins(1, 1, {2, NodeId{1}});
    story.reorganizes(1, {1});
    story.starts(1);
    story.joins(2, 2, {1, NodeId{2}});
    story.reorganizes(2, {1, 2});
    const std::string violated = judge(story).violated();
    if (protocol == ProtocolName::invitation)
      BOOST_TEST(violated == "");
    else
      BOOST_TEST(violated == "1a hook-grammar");
  }
}

// A life may end while a Save of a smaller group number is under way. If the protocol lets group
// numbers shrink, the next life may begin with either number.
BOOST_AUTO_TEST_CASE(of_a_smaller_number_may_have_been_being_saved) {
  for (const bool saving : {true, false}) {
    JournalBuilder story(1, ProtocolName::textbook);
    story.recovers(1);
    story.joins(1, 1, {5, NodeId{1}});
    story.starts(1);
    story[1].safe.assigned = Assigned{{"another task"}, {2, NodeId{1}}};
    if (saving) story.step(1, Expired{Timer::check}, {Save{story[1].safe}});
    story.fault(FaultKind::killed, 1);
    story.recovers(1);
    BOOST_TEST(judge(story).violated() == (saving ? "" : "durable"));
  }
}

BOOST_AUTO_TEST_CASE(of_two_protocols_are_not_judged_together) {
  JournalBuilder story(2);
  story.recovers(1);
  story.begins(2);
  std::get<journal::Header>(story.lines.back()).config.protocol = ProtocolName::invitation;
  BOOST_TEST(failure(story) == "node 2 runs the protocol invitation, others run bully");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(assertion_4_after_a_calm)

BOOST_FIXTURE_TEST_CASE(holds_for_each_side_of_a_cut, CutApart) {
  story.wait(bound(story));
  story.fault(FaultKind::healed, 3);
  const Judgement judgement = judge(story, "");
  BOOST_TEST(judgement.checked("4") == 2u);
}

BOOST_FIXTURE_TEST_CASE(is_violated_by_two_groups_that_could_merge, CutApart) {
  story.fault(FaultKind::healed, 3);
  story.wait(bound(story));
  story.fault(FaultKind::terminated, 1);
  BOOST_TEST(judge(story).violated() == "4");
}

BOOST_FIXTURE_TEST_CASE(is_not_claimed_where_links_make_no_parts, CutApart) {
  story.fault(FaultKind::healed, 3);
  story.fault(FaultKind::cut, 3, NodeSet{NodeId{1}});  // node 2 reaches both
  story.wait(bound(story));
  story.fault(FaultKind::terminated, 1);
  const Judgement judgement = judge(story, "");
  BOOST_TEST_REQUIRE(judgement.not_claimed.size() == 2u);
  BOOST_TEST(judgement.not_claimed.front().assertion == "4");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(textbook_claims)

BOOST_AUTO_TEST_CASE(are_agreement_after_a_calm_unless_somebody_was_wrongly_suspected) {
  for (const bool cut : {false, true}) {
    JournalBuilder story = recovered(2, ProtocolName::textbook);
    if (cut) {
      story.fault(FaultKind::cut, 2);
      story.fault(FaultKind::healed, 2);
    }
    for (std::uint32_t id : {1U, 2U}) story.form({id});
    story.wait(bound(story));
    story.fault(FaultKind::terminated, 1);
    const Judgement judgement = judge(story, cut ? "" : "2");
    BOOST_TEST(judgement.not_claimed.size() == (cut ? 2u : 0u));
  }
}

BOOST_AUTO_TEST_SUITE_END()
