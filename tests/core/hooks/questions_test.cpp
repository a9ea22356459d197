#include "host.hpp"
#include "words.hpp"

// The questions that a coordinator may ask its members while it reorganizes, and the members'
// answers. The tests use the HookRunner alone, without a node or a world.

namespace muster {
namespace {

using namespace test;

const std::string over = "the time to ask is over: it was halted, or has ended";

struct Reorganizing : StoppedHost {
  Reorganizing() { runner.perform(Reorganize{Ticket{2}, g7, {member(1), member(2), member(3)}}); }
  void ask(std::uint32_t id, std::string question) {
    played.reorganized->ask(NodeId{id}, {std::move(question)}, [this](Outcome answer) {
      answers.push_back(answer ? answer->data : answer.error());
    });
  }
  using Host::ask;
  Words answers;
};

BOOST_FIXTURE_TEST_CASE(a_question_is_taken_to_the_member_and_its_answer_told, Reorganizing) {
  ask(3, "what?");
  BOOST_TEST(asked.at(NodeId{3}).first == "what?");
  answer(3, Bytes{"that"});
  BOOST_TEST(answers == Words{"that"});
}

BOOST_FIXTURE_TEST_CASE(one_question_at_a_time_is_on_its_way_to_each_member, Reorganizing) {
  ask(3, "a");
  ask(3, "b");
  ask(1, "c");
  BOOST_TEST(asked.at(NodeId{3}).first == "a");
  BOOST_TEST(asked.at(NodeId{1}).first == "c");
  answer(3, Bytes{"A"});
  BOOST_TEST(asked.at(NodeId{3}).first == "b");
}

BOOST_AUTO_TEST_CASE(a_coordinator_that_asks_itself_is_answered_by_its_own_application) {
  Reorganizing host;
  host.ask(2, "mine?");
  BOOST_TEST(host.asked.empty());
  BOOST_REQUIRE(host.played.question.has_value());
  BOOST_TEST(host.played.question->bytes.data == "mine?");
  BOOST_TEST(host.played.question->from == NodeId{2});
  BOOST_TEST(host.played.question->group == g7);
  host.ask(2, "more?");
  host.end_answer({"yes"});
  BOOST_TEST(host.played.question->bytes.data == "more?");
  BOOST_TEST(host.answers == Words{"yes"});
}

BOOST_FIXTURE_TEST_CASE(what_cannot_be_asked_fails_and_says_why, Reorganizing) {
  ask(4, "?");
  ask(3, "1234567");
  for (int i = 0; i < 65; ++i) ask(1, "?");
  BOOST_TEST(answers == (Words{"node 4 is no member of the group",
                               "the question of 7 bytes is larger than the limit of 6",
                               "64 questions to node 1 are not answered yet"}));
}

BOOST_AUTO_TEST_CASE(who_asks_when_the_life_is_gone_touches_nothing_of_it) {
  auto host = std::make_unique<Reorganizing>();
  const Reorganization kept = *host->played.reorganized;
  host.reset();
  kept.ask(NodeId{3}, {"?"}, [](const HookHost::Outcome&) { BOOST_ERROR("it was answered"); });
}

BOOST_FIXTURE_TEST_CASE(questions_end_with_the_reorganize_that_asked, Reorganizing) {
  ask(1, "a");
  ask(1, "b");
  const auto late = asked.at(NodeId{1}).second;
  end({"all"});
  BOOST_TEST(answers == (Words{over, over}));
  BOOST_TEST(asked.empty());
  late(HookHost::Outcome(Bytes{"late"}));
  ask(1, "c");
  BOOST_TEST(answers.size() == 3u);
  BOOST_TEST(answers.back() == over);
}

BOOST_FIXTURE_TEST_CASE(questions_end_when_the_reorganize_overruns, Reorganizing) {
  ask(1, "a");
  ask(2, "b");
  overrun_();
  BOOST_TEST(answers == (Words{over, over}));
  BOOST_TEST(played.question->stop_requested());
}

BOOST_FIXTURE_TEST_CASE(questions_end_with_a_reorganize_that_is_halted, Reorganizing) {
  ask(1, "a");
  runner.perform(Stop{Ticket{3}, {StopReason::halted, NodeId{3}}, false});
  played.bytes->fail("cancelled");
  look();
  BOOST_TEST(answers == Words{over});
  BOOST_TEST(last<Stopped>());
}

struct Asked : StoppedHost {
  void ask(const std::string& question) { ask(question, false); }
  void ask(const std::string& question, bool working) {
    last_number = runner.asked({NodeId{3}, g7, working, {question}}, [this](Outcome answer) {
      answers.push_back(answer ? answer->data : answer.error());
    });
  }
  void start() { runner.perform(Start{Ticket{2}, task_of({NodeId{2}}, "all"), g7}); }
  using Host::ask;
  Words answers;
  std::uint64_t last_number = 0;
};

BOOST_FIXTURE_TEST_CASE(a_member_answers_one_question_after_the_other, Asked) {
  ask("a");
  ask("b");
  BOOST_TEST(played.question->bytes.data == "a");
  end_answer({"A"});
  BOOST_TEST(played.question->bytes.data == "b");
  fail_answer("torn");
  BOOST_TEST(answers == (Words{"A", "torn"}));
}

BOOST_FIXTURE_TEST_CASE(an_answer_that_is_too_large_is_none, Asked) {
  ask("a");
  end_answer({"1234567"});
  BOOST_TEST(answers.at(0) == "its answer of 7 bytes is larger than the limit of 6");
}

BOOST_FIXTURE_TEST_CASE(no_hook_begins_before_an_answer_has_ended, Asked) {
  ask("a");
  ask("b");
  start();
  BOOST_TEST(played.question->stop_requested());
  BOOST_TEST(!played.started.has_value());
  BOOST_TEST(!granted.has_value());  // no permit is given either
  BOOST_TEST(answers.size() == 1u);  // the second question does not reach the application
  fail_answer("cancelled");
  BOOST_TEST(played.started.has_value());
  BOOST_TEST(granted == g7);
}

BOOST_AUTO_TEST_CASE(a_start_that_waited_for_an_answer_and_is_halted_has_begun_and_is_cancelled) {
  Asked host;
  host.ask("a");
  host.start();
  host.played.stopped.reset();
  host.runner.perform(Stop{Ticket{3}, {StopReason::halted, NodeId{3}}, true});
  host.fail_answer("cancelled");
  BOOST_TEST(!host.granted.has_value());
  BOOST_REQUIRE(host.played.started.has_value());
  BOOST_TEST(host.played.started->stop_requested());
  BOOST_TEST(!host.played.stopped.has_value());
  host.end_start();
  BOOST_TEST(host.played.stopped.has_value());
}

BOOST_FIXTURE_TEST_CASE(a_halt_waits_for_the_answer_that_is_being_made, Asked) {
  ask("a");
  runner.perform(Stop{Ticket{3}, {StopReason::halted, NodeId{3}}, false});
  BOOST_TEST(!last<Stopped>());
  fail_answer("cancelled");
  BOOST_TEST(last<Stopped>());
}

BOOST_FIXTURE_TEST_CASE(an_answer_that_does_not_end_ends_the_process, Asked) {
  ask("a");
  runner.perform(Stop{Ticket{3}, {StopReason::halted, NodeId{3}}, false});
  overrun_();
  BOOST_TEST(died == "a cancelled answer overran stop_deadline = 2 s");
}

BOOST_FIXTURE_TEST_CASE(a_question_that_is_given_up_is_cancelled_or_never_put, Asked) {
  ask("a");
  const auto first = last_number;
  ask("b");
  runner.not_wanted(last_number);
  runner.not_wanted(first);
  BOOST_TEST(played.question->stop_requested());
  end_answer({"A"});
  BOOST_TEST(played.question->bytes.data == "a");
}

BOOST_FIXTURE_TEST_CASE(what_is_asked_of_those_who_work_waits_for_the_start, Asked) {
  ask("a", true);
  start();
  BOOST_TEST(!played.question.has_value());
  end_start();
  BOOST_REQUIRE(played.question.has_value());
  BOOST_TEST(played.question->bytes.data == "a");
  BOOST_TEST(played.question->working);
}

BOOST_FIXTURE_TEST_CASE(what_waits_for_a_start_that_does_not_come_fails, Asked) {
  ask("a", true);
  runner.perform(Stop{Ticket{3}, {StopReason::halted, NodeId{3}}, false});
  BOOST_TEST(answers.at(0) == "it was halted, or assigned something, meanwhile");
}

BOOST_FIXTURE_TEST_CASE(a_stop_does_not_begin_before_an_answer_of_one_who_works_has_ended, Asked) {
  start();
  end_start();
  ask("a", true);
  played.stopped.reset();
  runner.perform(Stop{Ticket{3}, {StopReason::halted, NodeId{3}}, true});
  BOOST_TEST(played.question->stop_requested());
  BOOST_TEST(!played.stopped.has_value());
  end_answer({"A"});
  BOOST_TEST(played.stopped.has_value());
  BOOST_TEST(answers.at(0) == "A");
}

BOOST_FIXTURE_TEST_CASE(a_coordinator_asks_from_its_start_until_it_is_to_stop, StoppedHost) {
  const GroupNumber mine{8, NodeId{2}};
  runner.perform(Start{Ticket{2}, task_of({NodeId{1}, NodeId{2}}, "all"), mine});
  Words answers;
  const Assignment work = *played.started;
  const auto ask = [&] {
    work.ask(NodeId{1}, {"?"}, [&](const HookHost::Outcome& answer) {
      answers.push_back(answer ? answer->data : answer.error());
    });
  };
  ask();
  answer(1, Bytes{"!"});
  BOOST_TEST(answers.at(0) == "!");
  end_start();
  ask();
  runner.perform(Stop{Ticket{3}, {StopReason::halted, NodeId{3}}, true});
  BOOST_TEST(answers.at(1) == over);
  ask();
  BOOST_TEST(answers.at(2) == over);
}

BOOST_FIXTURE_TEST_CASE(a_member_that_is_no_coordinator_asks_nobody, Asked) {
  start();
  bool answered = false;
  played.started->ask(NodeId{2}, {"?"}, [&](const auto& answer) {
    answered = true;
    BOOST_TEST(!answer.has_value());
  });
  BOOST_TEST(answered);
}

}  // namespace
}  // namespace muster
