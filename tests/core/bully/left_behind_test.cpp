#include "alone.hpp"

/// A coordinator that left its group, and a member that does not hear its Halt
/// (docs/decisions/left-behind.md).

namespace muster::test {

namespace {

struct Member : BullyAlone {
  explicit Member(std::uint32_t self = 1, std::uint32_t nodes = 3, Repairs repairs = {})
      : BullyAlone(self, nodes, repairs) {
    normal_member_of(2);
  }
  /// The node's coordinator is silent, and the higher node 3 answers in phase A. So this node
  /// leaves the election to node 3.
  void leaves_election_to_higher() {
    election_begins();
    unanswered(2);
    answered(3, Here{});
  }
  [[nodiscard]] bool has_recovered() const {
    return state().s == Status::Down && !state().h && !state().c && !state().g &&
           state().application == Activity::Stopping;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(left_behind)

// --- The question that a member asks its coordinator

BOOST_AUTO_TEST_CASE(a_member_asks_its_coordinator_about_their_group) {
  Member member;
  const Actions& actions = member.expire(Timer::coordinator);
  const auto* send = first<Send>(actions);
  BOOST_TEST_REQUIRE(send);
  BOOST_TEST(send->letter.message == Message(in_group::AreYouThere{member.group()}));
}

BOOST_AUTO_TEST_CASE(without_the_repair_it_asks_as_the_paper_has_it) {
  Member member(1, 3, without(&Repairs::left_behind));
  BOOST_TEST(sent<AreYouThere>(member.expire(Timer::coordinator)) == Nodes({2}));
}

BOOST_AUTO_TEST_CASE(yes_is_said_in_that_very_group_alone) {
  for (const bool normal : {false, true}) {
    BullyAlone node(2, 3);
    if (normal)
      node.normal_member_of(3);
    else
      node.reorganization_of(3);
    const GroupNumber own = node.group();
    BOOST_TEST(answer<Here>(node.called(1, in_group::AreYouThere{own})));
    for (const GroupNumber& other :
         {GroupNumber{own.counter - 1, own.coordinator}, GroupNumber{own.counter, id(2)}}) {
      const auto* no = answer<Elsewhere>(node.called(1, in_group::AreYouThere{other}));
      BOOST_TEST_REQUIRE(no);
      BOOST_TEST(no->group == own);
    }
  }
}

BOOST_AUTO_TEST_CASE(no_is_said_in_down_and_election_with_no_group) {
  BullyAlone down(2, 3);
  down.answered(3, Here{});
  BullyAlone halted(2, 3);
  halted.halt_by(3);
  for (BullyAlone* node : {&down, &halted}) {
    const auto* no = answer<Elsewhere>(node->called(1, in_group::AreYouThere{{7, id(2)}}));
    BOOST_TEST_REQUIRE(no);
    BOOST_TEST(!no->group.has_value());
  }
}

// --- The answer No

BOOST_AUTO_TEST_CASE(a_member_that_is_told_no_recovers_in_the_same_life) {
  for (const std::optional<GroupNumber> group :
       {std::optional<GroupNumber>{}, std::optional(GroupNumber{500, id(3)})}) {
    Member member;
    member.expire(Timer::coordinator);
    const Actions& actions = member.answered(2, Elsewhere{group});
    BOOST_TEST(first<Stop>(actions));
    BOOST_TEST(sent<AreYouThere>(actions) == Nodes({2}));  // Election(i)
    BOOST_TEST(member.has_recovered());
    member.answered(2, Here{});
    BOOST_TEST(member.has_recovered());  // the node stays Recovered until another node halts it
  }
}

BOOST_AUTO_TEST_CASE(yes_changes_nothing) {
  Member member;
  member.expire(Timer::coordinator);
  member.answered(2, Here{});
  BOOST_TEST(member.state().s == Status::Normal);
  BOOST_TEST(member.procedure<bully::Idle>());
}

// A Halt ends the question. An answer that comes later is about a group that is over.
BOOST_AUTO_TEST_CASE(a_late_no_changes_nothing) {
  Member member;
  member.expire(Timer::coordinator);
  const CallNumber call = member.procedure<bully::Probing>()->call;
  member.normal_member_of(3);
  member.give(Received{{id(2), {1}, id(1), call, Answer{Elsewhere{}}}});
  BOOST_TEST(member.state().s == Status::Normal);
}

// --- A second election in a row

BOOST_AUTO_TEST_CASE(a_second_election_in_a_row_that_is_left_to_a_higher_node_recovers) {
  Member member;
  member.leaves_election_to_higher();
  BOOST_TEST(member.state().s == Status::Normal);
  member.leaves_election_to_higher();
  BOOST_TEST(member.has_recovered());
}

BOOST_AUTO_TEST_CASE(without_the_repair_it_works_on_for_ever) {
  Member member(1, 3, without(&Repairs::left_behind));
  for (int i = 0; i < 5; ++i) member.leaves_election_to_higher();
  BOOST_TEST(member.state().s == Status::Normal);
}

BOOST_AUTO_TEST_CASE(a_word_of_the_coordinator_between_them_is_enough) {
  const auto words = {+[](Member& member) { member.called(2, AreYouThere{}); },
                      +[](Member& member) { member.called(2, AreYouNormal{member.group()}); },
                      +[](Member& member) {
                        member.expire(Timer::coordinator);
                        member.answered(2, Here{});
                      }};
  for (const auto& says : words) {
    Member member;
    member.leaves_election_to_higher();
    says(member);
    member.leaves_election_to_higher();
    BOOST_TEST(member.state().s == Status::Normal);
  }
}

BOOST_AUTO_TEST_CASE(a_halt_between_them_is_enough) {
  Member member;
  member.leaves_election_to_higher();
  member.normal_member_of(2);
  member.leaves_election_to_higher();
  BOOST_TEST(member.state().s == Status::Normal);
}

BOOST_AUTO_TEST_CASE(a_coordinator_recovers_likewise_unless_a_check_was_quiet_between) {
  for (const bool quiet : {false, true}) {
    BullyAlone node(2, 3);
    node.normal_coordinator_of({id(1)});
    const auto finds_an_unknown_peer = [&] {
      node.expire(Timer::check);
      node.answered(1, Normality{true});
      node.answered(3, Normality{false});
      node.answered(3, Here{});
    };
    const auto finds_nothing = [&] {
      node.expire(Timer::check);
      node.answered(1, Normality{true});
      node.unanswered(3);
    };
    finds_an_unknown_peer();
    BOOST_TEST(node.state().s == Status::Normal);
    if (quiet) {
      finds_nothing();
      finds_nothing();
    }
    finds_an_unknown_peer();
    BOOST_TEST(node.state().s == (quiet ? Status::Normal : Status::Down));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::test
